#!/usr/bin/env bash
# The lab's server, pinned to cores and with a given number of workers.
#
#   lab/scripts/server.sh --workers 4 --cpus 0-1 -- --addr 127.0.0.1:8083
#
# Options after "--" go to the server; its own --help lists them. The null server has one
# thread, whatever the number of workers. The producer of events is one process; sink.sh
# starts and stops its runs. With --command the words after "--" are those of any other
# program:
#
#   lab/scripts/server.sh --cpus 0-1 --command -- python3 -m http.server 8083
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOF'
usage: server.sh [--server NAME] [--workers N] [--cpus LIST] [-- SERVER OPTIONS]
  --server NAME fiber, null: canned answers, or producer: events, sent in
                batches                                   (default fiber)
  --workers N   prefork workers: GOMAXPROCS of the master, or of the producer
                                                          (default: one a core)
  --cpus LIST   cores to run on, as taskset takes them    (default: any)
  --env NAME=VALUE  set a variable for the server; may be repeated
  --command     what follows after -- is the server's whole command
EOF
}

server=fiber workers='' cpus='' command=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    --command) command=yes; shift ;;
    --env)
      [[ ${2-} =~ ^[A-Za-z_][A-Za-z0-9_]*= ]] || { echo "server.sh: --env takes NAME=VALUE" >&2; exit 2; }
      export "${2?}"; shift 2 ;;
    --server | --workers | --cpus)
      [ $# -ge 2 ] || { echo "server.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"; shift 2 ;;
    *) echo "server.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
done

if [ -n "$command" ]; then
  [ $# -gt 0 ] || { echo "server.sh: --command takes a command after --" >&2; exit 2; }
  command -v "$1" >/dev/null || { echo "server.sh: $1 is not there, or cannot be run" >&2; exit 3; }
else
  case $server in
    fiber) server=$here/../../.tools/bin/fiber_server ;;
    null) server=$here/../../.tools/bin/null_server ;;
    producer) server=$here/../../.tools/bin/event_producer ;;
    *) echo "server.sh: --server is fiber, null or producer, not '$server'" >&2; exit 2 ;;
  esac
  [ -x "$server" ] || { echo "server.sh: the server is not built; run 'make build'" >&2; exit 3; }
  set -- "$server" "$@"
fi
[ -z "$workers" ] || export GOMAXPROCS="$workers"
if [ -n "$cpus" ]; then
  command -v taskset >/dev/null || { echo "server.sh: taskset is not installed; install util-linux" >&2; exit 3; }
  set -- taskset --cpu-list "$cpus" "$@"
fi
exec "$@"
