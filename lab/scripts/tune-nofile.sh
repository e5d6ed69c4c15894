#!/usr/bin/env bash
# The limit of open files of a running process; what it starts later inherits it.
#
#   lab/scripts/tune-nofile.sh                                   (what would be written)
#   sudo lab/scripts/tune-nofile.sh apply --pid $$
#   sudo lab/scripts/tune-nofile.sh restore --pid $$
#
# Under sudo the caller is sudo itself: name the process with --pid.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-nofile.sh [plan|show|apply|verify|restore|hold] [--pid PID] [--limit N] [--state DIR]
  --pid PID    the process                   (default: the shell that calls this)
  --limit N    open files                                  (default 1048576)
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-nofile.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune nofile "$@"
