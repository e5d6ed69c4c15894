#!/usr/bin/env bash
# Pins each queue's interrupt to one core, in turn. irqbalance would move them again, so
# stop it first: tune-irqbalance.sh apply.
#
#   lab/scripts/tune-irq-pin.sh --dev enp95s0 --cpus 112-127     (what would be written)
#   sudo lab/scripts/tune-irq-pin.sh apply --dev enp95s0 --cpus 112-127
#   sudo lab/scripts/tune-irq-pin.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" irq-pin "$@"
