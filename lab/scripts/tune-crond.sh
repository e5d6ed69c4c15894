#!/usr/bin/env bash
# Stops crond (cron on Debian), whose jobs could run during a trial, and starts it again.
#
#   lab/scripts/tune-crond.sh                                    (whether it runs)
#   sudo lab/scripts/tune-crond.sh apply
#   sudo lab/scripts/tune-crond.sh restore                       (starts it if it ran)
set -euo pipefail
exec "$(dirname "${BASH_SOURCE[0]}")/tune.sh" crond "$@"
