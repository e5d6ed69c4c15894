#!/usr/bin/env bash
# The common part of the tuning scripts: each names its knob, and lab does the rest.
#
#   tune.sh KNOB [plan|show|apply|restore|hold] [ARGUMENT…]
set -euo pipefail
knob=$1 action=plan here=$(dirname "${BASH_SOURCE[0]}")
shift
case ${1-} in
  -h | --help) sed -n '2,/^set /s/^# \{0,1\}//p' "$here/tune-$knob.sh" && exit ;;
  [!-]*) action=$1 && shift ;;
esac
lab=$here/../../.tools/bin/lab
[ -x "$lab" ] || { echo "tune-$knob.sh: lab is not built; run 'make build'" >&2; exit 3; }
exec "$lab" tune "$action" "$knob" "$@"
