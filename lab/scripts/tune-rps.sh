#!/usr/bin/env bash
# RPS: every receive queue of an interface hands its packets on to some cores.
#
#   lab/scripts/tune-rps.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-rps.sh apply --dev eth0 --cpus 0-111
#   sudo lab/scripts/tune-rps.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-rps.sh [plan|show|apply|verify|restore|hold] --dev NAME [--cpus LIST] [--state DIR]
  --dev NAME   the interface
  --cpus LIST  cores that take the packets                 (default: all online)
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-rps.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune rps "$@"
