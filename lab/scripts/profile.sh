#!/usr/bin/env bash
# Profiles of a server under load: CPU, mutex, block, heap, goroutine and
# allocs, all over the same window.
#
#   lab/scripts/server.sh -- --pprof                          (in one terminal)
#   lab/scripts/profile.sh --from http://127.0.0.1:6060 --seconds 60 --out profiles
#
# On another machine too, pprof listens only on that machine's loopback. --ssh opens a
# tunnel to it that lasts as long as the window.
#
#   lab/scripts/profile.sh --ssh me@server --seconds 60 --out profiles
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOF'
usage: profile.sh --from SOURCE [--from SOURCE…] --out DIR [--seconds N]
       profile.sh --ssh USER@HOST [--remote-port N] [--local-port N] --out DIR [--seconds N]
  --from SOURCE    http://127.0.0.1:PORT of a server with --pprof, or the
                   directory that its --pprof-sockets names
  --ssh USER@HOST  a server on another machine, by a tunnel; the key must need
                   no passphrase, or be with an agent
  --remote-port N  port of its --pprof-addr              (default 6060)
  --local-port N   this side's end of the tunnel         (default 16060)
  --seconds N      length of the window                  (default 30)
  --out DIR        where to; it must not exist, or be empty
EOF
}

die() { echo "profile.sh: $1" >&2; exit "${2:-2}"; }

froms=() host='' remote_port='' local_port='' seconds=30 out=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --from | --ssh | --remote-port | --local-port | --seconds | --out) [ $# -ge 2 ] || die "$1 needs a value" ;;
    *) die "unknown option $1; see --help" ;;
  esac
  case $1 in
    --from) froms+=(--from "$2") ;;
    --ssh) host=$2 ;;
    --remote-port) remote_port=$2 ;;
    --local-port) local_port=$2 ;;
    --seconds) seconds=$2 ;;
    --out) out=$2 ;;
  esac
  shift 2
done
[ -n "$out" ] || die "--out is missing; see --help"
[ -n "$host" ] || [ ${#froms[@]} -gt 0 ] || die "--from or --ssh is missing; see --help"
[ -z "$host" ] || [ ${#froms[@]} -eq 0 ] || die "--from and --ssh are two ways to a server; give one"
case $host in -*) die "--ssh: '$host' is not USER@HOST" ;; esac
[ -n "$host" ] || [ -z "$remote_port$local_port" ] || die "--remote-port and --local-port are for a tunnel; give --ssh too"
for port in "${remote_port:=6060}" "${local_port:=16060}"; do
  case $port in '' | *[!0-9]* | ??????*) die "'$port' is not a port" ;; esac
done
lab=${LAB:-$here/../../.tools/bin/lab}
[ -x "$lab" ] || die "lab is not built; run 'make build'" 3

if [ -z "$host" ]; then
  exec "$lab" profile "${froms[@]}" --seconds "$seconds" --out "$out"
fi

command -v ssh >/dev/null || die "ssh is not installed (Debian and Ubuntu: apt-get install openssh-client)" 3
if (: <"/dev/tcp/127.0.0.1/$local_port") 2>/dev/null; then
  # Otherwise its answers would be taken for those of the other machine.
  die "127.0.0.1:$local_port is in use; choose another with --local-port"
fi

# Collects what ssh prints, for one line of ours. The file is unlinked at once.
said=$(mktemp)
exec {to}>"$said"
exec {said_by}<"$said"
rm "$said"

tunnel='' profiling=''
# shellcheck disable=SC2329 # the trap calls it
finish() {
  # The lab first undoes what it has begun; only then is its tunnel closed.
  [ -z "$profiling" ] || { kill "$profiling" 2>/dev/null && wait "$profiling"; } || true
  [ -z "$tunnel" ] || { kill "$tunnel" 2>/dev/null; wait "$tunnel" 2>/dev/null; } || true
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# If setpriv is installed, the tunnel ends with this script even after kill -9.
last=()
if command -v setpriv >/dev/null; then last=(setpriv --pdeathsig KILL); fi
# A shared ssh connection would keep our forwarding after we end, so we open our own.
"${last[@]}" ssh -N -L "127.0.0.1:$local_port:127.0.0.1:$remote_port" \
  -o ExitOnForwardFailure=yes -o BatchMode=yes -o ControlMaster=no -o ControlPath=none -o ControlPersist=no \
  -o ConnectTimeout=10 -o ServerAliveInterval=5 -- "$host" </dev/null >&"$to" 2>&1 &
tunnel=$!

# answers makes a small request to pprof through the tunnel. It fails with 1 while there
# is no tunnel, and with 2 if nothing answers at its other end.
answers() {
  local status
  status=$(
    exec 2>/dev/null 9<>"/dev/tcp/127.0.0.1/$local_port" || exit
    printf 'GET /debug/pprof/cmdline HTTP/1.0\r\nHost: localhost\r\n\r\n' >&9
    read -r -t 5 -u 9 line
    echo "answer: $line"
  ) || true
  case $status in
    'answer: HTTP/1.'?' 200'*) return 0 ;;
    '') return 1 ;;
    *) return 2 ;;
  esac
}

# Logging in may take some time; a server with profiles answers at once.
until_answers() {
  local by=$((SECONDS + 20)) open='' code
  while [ "$SECONDS" -lt "$by" ] && kill -0 "$tunnel" 2>/dev/null; do
    code=0
    answers || code=$?
    [ "$code" -ne 0 ] || return 0
    if [ "$code" -eq 2 ] && [ -z "$open" ]; then open=yes by=$((SECONDS + 3)); fi
    sleep 0.2
  done
  return 1
}
if ! until_answers; then
  why=$(tail -n 1 <&"$said_by" | tr -d '\r')
  kill -0 "$tunnel" 2>/dev/null || die "no tunnel to $host: ${why:-ssh ended without a word}" 4
  die "ssh to $host runs, but no pprof answers at the end of its tunnel, 127.0.0.1:$remote_port${why:+ ($why)}; start the server there with --pprof, or give its port with --remote-port" 4
fi

"$lab" profile --from "http://127.0.0.1:$local_port" --seconds "$seconds" --out "$out" &
profiling=$!
status=0
wait "$profiling" || status=$?
profiling=''
exit "$status"
