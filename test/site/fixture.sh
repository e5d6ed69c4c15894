#!/usr/bin/env bash
# The made-up data of the golden pages must stay what the lab makes of it: the verdicts
# that it derives from the results now must be the ones that are committed.
#
#   test/site/fixture.sh [--update]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp -R test/site/fixture/{content,data,lab} "$copy/"
lab=$PWD/.tools/bin/lab
(cd "$copy" && "$lab" verdicts)
if [ "${1-}" = --update ]; then
  rm -rf test/site/fixture/data
  cp -R "$copy/data" test/site/fixture/data
  exit
fi
diff -r test/site/fixture/data "$copy/data" || { echo "the fixture's verdicts have moved: test/site/fixture.sh --update, then test/site/golden.sh"; exit 1; }
