#!/usr/bin/env bash
# RFS: a flow's packets go to the core that last read from it. One table for the machine,
# with a share for every receive queue. It works without RPS too: packets of a flow that
# the table does not know then stay on the core that the queue interrupted.
#
#   lab/scripts/tune-rfs.sh --dev eth0                           (what would be written)
#   sudo lab/scripts/tune-rfs.sh apply --dev eth0 --entries 65536
#   sudo lab/scripts/tune-rfs.sh restore
#
# The table is only in the initial network namespace. For an interface in another
# namespace, run the script with --table-only outside and with --queues-only inside.
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" rfs "$@"
