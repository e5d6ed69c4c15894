#!/usr/bin/env bash
# The number of an interface's queues, as ethtool -L sets it.
#
#   lab/scripts/tune-queues.sh --dev eth0 --count 4              (what would be written)
#   sudo lab/scripts/tune-queues.sh apply --dev eth0 --count 4
#   sudo lab/scripts/tune-queues.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-queues.sh [plan|show|apply|verify|restore|hold] --dev NAME --count N [--state DIR]
  --dev NAME   the interface
  --count N    queues to have, receive and transmit alike
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-queues.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune queues "$@"
