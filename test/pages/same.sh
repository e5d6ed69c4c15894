#!/usr/bin/env bash
# Two builds of one tree must be the same, byte for byte. The second is built from a copy
# at another path, with files of another age, in another time zone, language and home, so
# that a page that depends on any of these shows it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$(mktemp -d .tools/scratch/same-XXXXXX)
trap 'rm -rf "$out"' EXIT
hugo=$PWD/.tools/bin/hugo
build=("$hugo" --panicOnWarning --noBuildLock --ignoreCache --destination)

"${build[@]}" "$PWD/$out/1" >/dev/null
sleep 1.1 # so that a time of the build, in seconds, would differ
mkdir -p "$out/elsewhere/a copy" "$out/home"
# -m: the copied files get the time of the copying.
tar --exclude=./.git --exclude=./.tools --exclude=./node_modules --exclude=./public --exclude=./resources -cf - . | tar -xmf - -C "$out/elsewhere/a copy"
env -C "$out/elsewhere/a copy" TZ=Pacific/Auckland LC_ALL=de_DE.UTF-8 HOME="$PWD/$out/home" "${build[@]}" "$PWD/$out/2" >/dev/null
diff -r "$out/1" "$out/2" && echo "two builds of $(find "$out/1" -type f | wc -l) files are the same"
