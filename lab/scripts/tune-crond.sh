#!/usr/bin/env bash
# Stops crond (cron on Debian), whose jobs would run beside a trial, and starts
# it again.
#
#   lab/scripts/tune-crond.sh                                    (whether it runs)
#   sudo lab/scripts/tune-crond.sh apply
#   sudo lab/scripts/tune-crond.sh restore                       (starts it if it ran)
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

case ${1-} in
  -h | --help)
    cat <<'EOF'
usage: tune-crond.sh [plan|show|apply|verify|restore|hold] [--state DIR]
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-crond.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune crond "$@"
