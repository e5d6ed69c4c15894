#!/usr/bin/env bash
# The common part of ramp.sh and sweep.sh: runs trial.sh once for each level of one of its
# options, with a pause between, and prints one line of JSON per step.
#
#   steps.sh OPTION "DEFAULT LEVELS" [TRIAL OPTIONS] [-- LEVEL…]
#
# A step that fails ends the sequence: later steps would find a server in an unknown
# state. For comparisons, prefer `lab run`, which draws a new order in each block. In a
# sequence with a fixed order, anything that changes with time looks like an effect of the
# levels.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

[ $# -ge 2 ] || { echo "steps.sh: use ramp.sh or sweep.sh" >&2; exit 2; }
option=$1 levels=$2
shift 2
options=()
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) sed -n '2,/^set/{/^#/s/^# \{0,1\}//p}' "$(dirname "$0")/$([ "$option" = --pipelining ] && echo sweep || echo ramp).sh"; exit 0 ;;
    --) shift; [ $# -eq 0 ] || levels="$*"; break ;;
    *) options+=("$1"); shift ;;
  esac
done
pause=${PAUSE:-3}
first=yes
for level in $levels; do
  case $level in '' | *[!0-9]*) echo "${option#--}: '$level' is not a whole number" >&2; exit 2 ;; esac
  [ "$first" = yes ] || sleep "$pause"
  first=no
  echo "$option $level" >&2
  # The last line is the trial; a line before it is the warm-up.
  "$here/trial.sh" "${options[@]}" "$option" "$level" | tail -n 1
done
