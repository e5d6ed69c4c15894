#!/usr/bin/env bash
# Ends the programs of one checkout of the lab that still run, and prints their names and
# process ids. A program is known by its file, not by its name.
#
#   lab/fleet/end.sh CHECKOUT
set -euo pipefail
dir=$(cd "${1/#\~\//$HOME/}" 2>/dev/null && pwd -P) || exit 0

running() {
  local exe
  for exe in /proc/[0-9]*/exe; do
    # The kernel adds a word to the path of a file that was replaced meanwhile.
    case $(readlink "$exe") in
      "$dir"/.tools/bin/*) exe=${exe%/exe}; echo "${exe#/proc/}" ;;
    esac
  done 2>/dev/null
}

for pid in $(running); do
  echo "$(readlink "/proc/$pid/exe") $pid"
  kill -TERM "$pid" 2>/dev/null || true
done
for _ in $(seq 50); do
  [ -n "$(running)" ] || exit 0
  sleep 0.1
done
for pid in $(running); do kill -KILL "$pid" 2>/dev/null || true; done
