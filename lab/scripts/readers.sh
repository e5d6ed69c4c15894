#!/usr/bin/env bash
# One trial of a server of event streams, as JSON on standard output: readers watch its posts
# while writers give likes to them.
#
#   lab/scripts/server.sh --command -- .tools/bin/fanout_server      (in one terminal)
#   lab/scripts/readers.sh --server 127.0.0.1:8084 --likes 500
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

usage() {
  cat <<'EOT'
usage: readers.sh --server HOST:PORT [options]
  --server HOST:PORT  the server, as 127.0.0.1:8084
  --connections N     readers, spread over the posts     (default 1000)
  --likes N           likes a second; 0: each writer waits for its answer
                                                         (default 1000)
  --writers N         connections that give likes        (default 16)
  --duration SECONDS  length of the measured part        (default 10)
  --warmup SECONDS    length of the warm-up, from 0.2    (default 1)
  --cpus LIST         cores to run on, as taskset takes them (default: any)
EOT
}

server='' connections=1000 likes=1000 writers=16 duration=10 warmup=1 cpus=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --server | --connections | --likes | --writers | --duration | --warmup | --cpus)
      [ $# -ge 2 ] || { echo "readers.sh: $1 needs a value" >&2; exit 2; }
      printf -v "${1#--}" %s "$2"; shift 2 ;;
    *) echo "readers.sh: unknown option $1; see --help" >&2; exit 2 ;;
  esac
done
[ -n "$server" ] || { echo "readers.sh: --server is missing; see --help" >&2; exit 2; }
reader=$here/../../.tools/bin/event_reader
[ -x "$reader" ] || { echo "readers.sh: event_reader is not built; run 'make build'" >&2; exit 3; }

set -- "$reader" --server "$server" --connections "$connections" --rate "$likes" --writers "$writers" \
  --duration "$duration" --warmup "$warmup"
if [ -n "$cpus" ]; then
  command -v taskset >/dev/null || { echo "readers.sh: taskset is not installed; install util-linux" >&2; exit 3; }
  set -- taskset --cpu-list "$cpus" "$@"
fi
exec "$@"
