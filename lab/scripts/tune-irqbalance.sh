#!/usr/bin/env bash
# Stops irqbalance, which moves interrupts between cores, and starts it again.
#
#   lab/scripts/tune-irqbalance.sh                               (whether it runs)
#   sudo lab/scripts/tune-irqbalance.sh apply
#   sudo lab/scripts/tune-irqbalance.sh restore                  (starts it if it ran)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-irqbalance.sh [plan|show|apply|verify|restore|hold] [--state DIR]
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-irqbalance.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune irqbalance "$@"
