#!/usr/bin/env bash
# XPS: which cores send through which transmit queue; the cores are assigned in turn.
#
#   lab/scripts/tune-xps.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-xps.sh apply --dev eth0
#   sudo lab/scripts/tune-xps.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" xps '--dev NAME [--cpus LIST]' '  --dev NAME   the interface; it has to have several transmit queues
  --cpus LIST  cores to share out                          (default: all online)' "$@"
