#!/usr/bin/env bash
# The common part of the tuning scripts: each names its knob, the arguments that it takes,
# and what they mean; lab does the rest.
#
#   tune.sh KNOB "ARGUMENTS" "WHAT THEY MEAN" [ACTION] [ARGUMENT…]
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ $# -ge 3 ] || { echo "tune.sh: use tune-rps.sh and its like" >&2; exit 2; }
knob=$1 takes=$2 means=$3
shift 3
case ${1-} in
  -h | --help)
    cat <<EOF
usage: tune-$knob.sh [plan|show|apply|verify|restore|hold]${takes:+ $takes} [--state DIR]${means:+
$means}
  --state DIR  where originals are kept
  plan (the default) prints every write and changes nothing; apply saves the
  originals first, restore brings them back. See lab tune -h.
EOF
    exit 0 ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-$knob.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune "$knob" "$@"
