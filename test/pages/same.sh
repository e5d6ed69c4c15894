#!/usr/bin/env bash
# Two builds of one tree must be the same, byte for byte: the golden pages' site, which holds
# every case, and the same from a copy of the tree at another path, with files of another
# age, in another time zone, language and home, so that a page that depends on any of these
# shows it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
hugo=$PWD/.tools/bin/hugo
how=(--panicOnWarning --noBuildLock --config "config.toml,test/site/config.toml")

(cd test/site/fixture && ../../../.tools/bin/lab derive >/dev/null)
mkdir -p "$out/elsewhere/a copy" "$out/home"
# -m: the copied files get the time of the copying. The journal's own data is not in it.
tar --exclude=./.git --exclude=./.tools --exclude=./node_modules --exclude=./public --exclude=./resources --exclude=./data --exclude=./derived \
  --exclude=./test/site/golden -cf - . | tar -xmf - -C "$out/elsewhere/a copy"
"$hugo" "${how[@]}" --destination "$out/here" >/dev/null
env -C "$out/elsewhere/a copy" TZ=Pacific/Auckland LC_ALL=de_DE.UTF-8 HOME="$out/home" "$hugo" "${how[@]}" --ignoreCache --destination "$out/there" >/dev/null
diff -r "$out/here" "$out/there" && echo "two builds of $(find "$out/there" -type f | wc -l) files are the same"
