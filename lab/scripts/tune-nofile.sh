#!/usr/bin/env bash
# Sets the limit of open files of a running process; processes that it starts later
# inherit it.
#
#   lab/scripts/tune-nofile.sh                                   (what would be written)
#   sudo lab/scripts/tune-nofile.sh apply --pid $$
#   sudo lab/scripts/tune-nofile.sh restore --pid $$
#
# Under sudo the caller is sudo itself: name the process with --pid.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" nofile '[--pid PID] [--limit N]' '  --pid PID    the process                   (default: the shell that calls this)
  --limit N    open files                                  (default 1048576)' "$@"
