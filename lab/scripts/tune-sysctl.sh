#!/usr/bin/env bash
# Sysctls: those of entry 02, or others by name.
#
#   lab/scripts/tune-sysctl.sh                                   (what would be written)
#   sudo lab/scripts/tune-sysctl.sh apply
#   sudo lab/scripts/tune-sysctl.sh apply net.core.somaxconn=4096 'net.ipv4.ip_local_port_range=1024 65535'
#   sudo lab/scripts/tune-sysctl.sh restore
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-sysctl.sh [plan|show|apply|verify|restore|hold] [NAME=VALUE…] [--state DIR]
  NAME=VALUE   what to set                                 (default: as entry 02)
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-sysctl.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune sysctl "$@"
