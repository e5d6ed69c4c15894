#!/usr/bin/env bash
# One trial of a load generator, as JSON on standard output.
#
#   lab/scripts/trial.sh --url http://127.0.0.1:8083/read --connections 100
#
# The published runs used autocannon. http_load is the lab's own, which costs
# the client next to nothing. It prints a line for each slot, beginning with the warm-up's, and a
# summary.
#
# With --rate the loop is open: http_load counts latency from when a request was due.
# autocannon's own correction for that is wrong (it takes seconds for milliseconds) and is
# turned off: its latencies then count from the sending. It does not hold the rate either:
# at 100 a second it made 400 requests in three seconds.
#
# With --warmup autocannon first runs for that long without counting, in the same process,
# so that its code is already compiled when the measured part begins. It then prints two
# lines of JSON; the last one is the trial.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOF'
usage: trial.sh --url URL [options]
  --url URL            what to request
  --connections N      open connections             (default 100)
  --pipelining N       requests in flight on each   (default 1)
  --duration SECONDS   length of the measured part  (default 20)
  --warmup SECONDS     length of the warm-up        (default 0: none)
  --workers N          client threads (default 0: autocannon one event loop,
                       http_load one for each core it may use)
  --generator NAME     autocannon or http_load      (default autocannon)
  --rate N             requests a second to ask for (default 0: a closed loop)
  --plan FILE          instead of all of the above: turns of several servers, as
                       JSON; - is standard input       (http_load only)
  --cpus LIST          cores to run on, as taskset takes them (default: any)
EOF
}

url='' connections=100 pipelining=1 duration=20 warmup=0 workers=0 cpus='' generator=autocannon rate=0 plan='' input=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --url | --connections | --pipelining | --duration | --warmup | --workers | --cpus | --generator | --rate | --plan)
      [ $# -ge 2 ] || { echo "trial.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"; shift 2 ;;
    *) echo "trial.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
done
[ -n "$url$plan" ] || { echo "trial.sh: --url is missing; see --help" >&2; exit 2; }
[ -z "$plan" ] || [ "$generator" = http_load ] || { echo "trial.sh: only http_load carries out a plan; add --generator http_load" >&2; exit 2; }

case $generator in
  autocannon)
    autocannon=$here/../../node_modules/autocannon/autocannon.js
    [ -f "$autocannon" ] || { echo "trial.sh: autocannon is not installed; run 'make setup'" >&2; exit 3; }
    command -v node >/dev/null || { echo "trial.sh: node is not installed; install Node.js 20 or newer" >&2; exit 3; }
    # Samples come every tenth of a second, so that a trial ends when its time is up. With
    # the default of a second it would run on to the next full one.
    set -- node "$autocannon" --json --no-progress --sampleInt 100 \
      --connections "$connections" --pipelining "$pipelining" --duration "$duration"
    [ "$workers" = 0 ] || set -- "$@" --workers "$workers"
    [ "$rate" = 0 ] || set -- "$@" --overallRate "$rate" --ignoreCoordinatedOmission
    [ "$warmup" = 0 ] || set -- "$@" --warmup [ --connections "$connections" --duration "$warmup" ]
    set -- "$@" "$url" ;;
  http_load)
    http_load=$here/../../.tools/bin/http_load
    [ -x "$http_load" ] || { echo "trial.sh: http_load is not built; run 'make .tools/bin/http_load'" >&2; exit 3; }
    if [ -n "$plan" ]; then
      input=$(cat "$plan")
    else
      warm=''
      [ "$warmup" = 0 ] || warm="{\"seconds\": $warmup},"
      input="{\"threads\": $workers, \"targets\": [{\"name\": \"$url\", \"url\": \"$url\", \"connections\": $connections,
        \"pipelining\": $pipelining, \"rate\": $rate}],
        \"slots\": [$warm {\"seconds\": $duration, \"counts\": true}]}"
    fi
    set -- "$http_load" client ;;
  *) echo "trial.sh: --generator is autocannon or http_load, not '$generator'" >&2; exit 2 ;;
esac
if [ -n "$cpus" ]; then
  command -v taskset >/dev/null || { echo "trial.sh: taskset is not installed; install util-linux" >&2; exit 3; }
  set -- taskset --cpu-list "$cpus" "$@"
fi
# All scripts here end in exec: so the caller can end the program itself, and no shell is
# left in between.
[ -z "$input" ] || exec <<<"$input"
exec "$@"
