#!/usr/bin/env bash
# The lab's server, pinned to cores and with a given number of workers.
#
#   lab/scripts/server.sh --workers 4 --cpus 0-1 -- --addr 127.0.0.1:8083
#
# Options after "--" go to the server; its own --help lists them. The null server has one
# thread, whatever the number of workers. The producer of events is one process; sink.sh
# starts and stops its runs.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOF'
usage: server.sh [--server NAME] [--workers N] [--cpus LIST] [--check] [-- SERVER OPTIONS]
  --server NAME fiber, null: canned answers, or producer: events, sent in
                batches                                   (default fiber)
  --workers N   prefork workers: GOMAXPROCS of the master, or of the producer
                                                          (default: one a core)
  --cpus LIST   cores to run on, as taskset takes them    (default: any)
  --check       only see that the server can be started
EOF
}

server=fiber workers='' cpus='' check=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --) shift; break ;;
    --check) check=yes; shift ;;
    --server | --workers | --cpus)
      [ $# -ge 2 ] || { echo "server.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"; shift 2 ;;
    *) echo "server.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
done

case $server in
  fiber) server=$here/../../.tools/bin/fiber_server ;;
  null) server=$here/../../.tools/bin/null_server ;;
  producer) server=$here/../../.tools/bin/event_producer ;;
  *) echo "server.sh: --server is fiber, null or producer, not '$server'" >&2; exit 2 ;;
esac
[ -x "$server" ] || { echo "server.sh: the server is not built; run 'make build'" >&2; exit 3; }
[ -z "$workers" ] || export GOMAXPROCS="$workers"
set -- "$server" "$@"
[ -z "$check" ] || set -- "$server" --help
if [ -n "$cpus" ]; then
  command -v taskset >/dev/null || { echo "server.sh: taskset is not installed; install util-linux" >&2; exit 3; }
  set -- taskset --cpu-list "$cpus" "$@"
fi
[ -z "$check" ] || exec >/dev/null
exec "$@"
