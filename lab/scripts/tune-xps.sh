#!/usr/bin/env bash
# XPS: which cores send by which transmit queue; the cores are dealt out in turn.
#
#   lab/scripts/tune-xps.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-xps.sh apply --dev eth0
#   sudo lab/scripts/tune-xps.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-xps.sh [plan|show|apply|verify|restore|hold] --dev NAME [--cpus LIST] [--state DIR]
  --dev NAME   the interface; it has to have several transmit queues
  --cpus LIST  cores to share out                          (default: all online)
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-xps.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune xps "$@"
