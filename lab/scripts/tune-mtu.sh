#!/usr/bin/env bash
# The largest packet of an interface.
#
#   lab/scripts/tune-mtu.sh --dev eth0 --mtu 9001                (what would be written)
#   sudo lab/scripts/tune-mtu.sh apply --dev eth0 --mtu 9001
#   sudo lab/scripts/tune-mtu.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-mtu.sh [plan|show|apply|verify|restore|hold] --dev NAME --mtu BYTES [--state DIR]
  --dev NAME   the interface
  --mtu BYTES  the largest packet, 1280 to 65535
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-mtu.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune mtu "$@"
