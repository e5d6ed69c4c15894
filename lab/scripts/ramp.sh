#!/usr/bin/env bash
# The connection ramp: one trial for each number of connections, JSON each.
#
#   lab/scripts/ramp.sh --url http://127.0.0.1:8083/read --duration 20 -- 100 500 1000
#
# Options before "--" go to trial.sh as they are; what follows it are the
# numbers of connections. Without any, those of entries 09 and 10.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/steps.sh" --connections "100 500 1000 2000 5000 10000" "$@"
