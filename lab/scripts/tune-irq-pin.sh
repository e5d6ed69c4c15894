#!/usr/bin/env bash
# Each queue's interrupt on one core, in turn. irqbalance would move them again,
# so it has to be stopped first: tune-irqbalance.sh apply.
#
#   lab/scripts/tune-irq-pin.sh --dev enp95s0 --cpus 112-127     (what would be written)
#   sudo lab/scripts/tune-irq-pin.sh apply --dev enp95s0 --cpus 112-127
#   sudo lab/scripts/tune-irq-pin.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-irq-pin.sh [plan|show|apply|verify|restore|hold] --dev NAME --cpus LIST [--state DIR]
  --dev NAME   the interface
  --cpus LIST  cores that take the interrupts
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-irq-pin.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune irq-pin "$@"
