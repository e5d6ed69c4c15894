#!/usr/bin/env bash
# The pipelining sweep: one trial for each depth, JSON each.
#
#   lab/scripts/sweep.sh --url http://127.0.0.1:8083/read --connections 1000 -- 1 10 50
#
# Options before "--" go to trial.sh as they are; what follows it are the
# depths. Without any, those of entry 11.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "$here/steps.sh" --pipelining "1 10 20 50" "$@"
