#!/usr/bin/env bash
# Stops irqbalance, which moves interrupts between cores, and starts it again.
#
#   lab/scripts/tune-irqbalance.sh                               (whether it runs)
#   sudo lab/scripts/tune-irqbalance.sh apply
#   sudo lab/scripts/tune-irqbalance.sh restore                  (starts it if it ran)
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" irqbalance "$@"
