#!/usr/bin/env bash
# RFS: a flow's packets go to the core that last read from it. One table for the
# machine, a share of it for every receive queue; RPS has to be on for it to act.
#
#   lab/scripts/tune-rfs.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-rfs.sh apply --dev eth0 --entries 65536
#   sudo lab/scripts/tune-rfs.sh restore
#
# The table is only in the initial network namespace. For an interface in
# another one, --table-only goes outside and --queues-only inside.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-rfs.sh [plan|show|apply|verify|restore|hold] --dev NAME [--entries N] [--table-only|--queues-only] [--state DIR]
  --dev NAME     the interface
  --entries N    size of the table, a power of two         (default 32768)
  --table-only   only the table; needs no --dev
  --queues-only  only the queues' shares
  --state DIR    where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-rfs.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune rfs "$@"
