#!/usr/bin/env bash
# Sysctls: those of entry 02, or others by name.
#
#   lab/scripts/tune-sysctl.sh                                   (what would be written)
#   sudo lab/scripts/tune-sysctl.sh apply
#   sudo lab/scripts/tune-sysctl.sh apply net.core.somaxconn=4096 'net.ipv4.ip_local_port_range=1024 65535'
#   sudo lab/scripts/tune-sysctl.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" sysctl '[NAME=VALUE…]' '  NAME=VALUE   what to set                                 (default: as entry 02)' "$@"
