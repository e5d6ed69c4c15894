#!/usr/bin/env bash
# Sets the MTU, the largest packet of an interface.
#
#   lab/scripts/tune-mtu.sh --dev eth0 --mtu 9001                (what would be written)
#   sudo lab/scripts/tune-mtu.sh apply --dev eth0 --mtu 9001
#   sudo lab/scripts/tune-mtu.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" mtu '--dev NAME --mtu BYTES' '  --dev NAME   the interface
  --mtu BYTES  the largest packet, 1280 to 65535' "$@"
