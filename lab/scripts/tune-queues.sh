#!/usr/bin/env bash
# Sets the number of an interface's queues, as ethtool -L does.
#
#   lab/scripts/tune-queues.sh --dev eth0 --count 4              (what would be written)
#   sudo lab/scripts/tune-queues.sh apply --dev eth0 --count 4
#   sudo lab/scripts/tune-queues.sh restore
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" queues '--dev NAME --count N' '  --dev NAME   the interface
  --count N    queues to have, receive and transmit alike' "$@"
