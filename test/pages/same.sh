#!/usr/bin/env bash
# Two builds of one tree must be the same, byte for byte: the pages that build.sh has
# built, and others from a copy of the tree at another path, with files of another age, in
# another time zone, language and home, so that a page that depends on any of these shows
# it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
[ -e .tools/pages/index.html ] || { echo "no pages; build them first: tools/test.sh html"; exit 1; }
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hugo=$PWD/.tools/bin/hugo

mkdir -p "$out/elsewhere/a copy" "$out/home"
# -m: the copied files get the time of the copying.
tar --exclude=./.git --exclude=./.tools --exclude=./node_modules --exclude=./public --exclude=./resources -cf - . | tar -xmf - -C "$out/elsewhere/a copy"
env -C "$out/elsewhere/a copy" TZ=Pacific/Auckland LC_ALL=de_DE.UTF-8 HOME="$out/home" "$hugo" --panicOnWarning --noBuildLock --ignoreCache \
  --baseURL http://127.0.0.1/line-rate/ --destination "$out/pages" >/dev/null
# The search index is made after the build.
diff -r --exclude=pagefind .tools/pages "$out/pages" && echo "two builds of $(find "$out/pages" -type f | wc -l) files are the same"
