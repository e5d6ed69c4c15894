#!/usr/bin/env bash
# RPS: every receive queue of an interface passes its packets on to some cores.
#
#   lab/scripts/tune-rps.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-rps.sh apply --dev eth0 --cpus 0-111
#   sudo lab/scripts/tune-rps.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" rps "$@"
