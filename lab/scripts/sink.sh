#!/usr/bin/env bash
# One trial of a batch processor, as JSON on standard output: a sink starts a producer's
# run, receives its events, and stops it.
#
#   lab/scripts/server.sh --server producer -- --variant pool-10     (in one terminal)
#   lab/scripts/sink.sh --producer 127.0.0.1:8083 --latency-ms 300
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOT'
usage: sink.sh --producer HOST:PORT [options]
  --producer HOST:PORT where the producer listens, as 127.0.0.1:8083
  --duration SECONDS   length of the measured part  (default 20)
  --warmup SECONDS     length of the warm-up        (default 0: none)
  --latency-ms N       after which a batch is answered           (default 0)
  --errors-permille N  of a thousand batches, how many are refused (default 0)
  --find-limit         search for the highest rate that arrives in time
  --cpus LIST          cores to run on, as taskset takes them (default: any)
EOT
}

producer='' duration=20 warmup=0 latency_ms=0 errors_permille=0 find_limit='' cpus=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --find-limit) find_limit=yes; shift ;;
    --producer | --duration | --warmup | --latency-ms | --errors-permille | --cpus)
      [ $# -ge 2 ] || { echo "sink.sh: $1 needs a value" >&2; exit 2; }
      name=${1#--}
      printf -v "${name//-/_}" %s "$2"; shift 2 ;;
    *) echo "sink.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
done
[ -n "$producer" ] || { echo "sink.sh: --producer is missing; see --help" >&2; exit 2; }
sink=$here/../../.tools/bin/event_sink
[ -x "$sink" ] || { echo "sink.sh: event_sink is not built; run 'make build'" >&2; exit 3; }

set -- "$sink" --producer "$producer" --duration "$duration" --warmup "$warmup" --latency-ms "$latency_ms" \
  --errors-permille "$errors_permille"
[ -z "$find_limit" ] || set -- "$@" --find-limit
if [ -n "$cpus" ]; then
  command -v taskset >/dev/null || { echo "sink.sh: taskset is not installed; install util-linux" >&2; exit 3; }
  set -- taskset --cpu-list "$cpus" "$@"
fi
exec "$@"
