#!/usr/bin/env bash
# Builds pages from made-up data that holds every case, and compares them with the pages
# that somebody last looked at. On a phone's screen, all of their drawings must fit.
#
#   test/site/golden.sh            compare
#   test/site/golden.sh --update   take the pages as they are now; then look at them
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
(cd test/site/fixture && ../../../.tools/bin/lab derive >/dev/null)
.tools/bin/hugo --panicOnWarning --noBuildLock --config config.toml,test/site/config.toml --destination "$out/site" >/dev/null
node test/pages/names.mjs "$out/site"
mkdir "$out/pages"
(
  cd "$out/site"
  find . -name '*.html' -o -name '*.xml' -o -name '*.bib' -o -name '*.csv' | sort | while read -r f; do
    mkdir -p "$out/pages/$(dirname "$f")"
    # File names of style sheet and scripts hold digests; a new colour is not a new page.
    sed -E 's/(\.min)\.[0-9a-f]{64}/\1/g; s/sha256-([A-Za-z0-9/=+]|&#43;)+/sha256-DIGEST/g' "$f" >"$out/pages/$f"
  done
)
# What is compressed is compared as text.
(cd "$out/site" && find . -name '*.csv.gz' | while read -r f; do
  mkdir -p "$out/pages/$(dirname "$f")" && gzip -dc "$f" >"$out/pages/${f%.gz}"
done)
node test/site/feed.mjs "$out/pages"
if [ "${1-}" = --update ]; then
  rm -rf test/site/golden
  cp -R "$out/pages" test/site/golden
  exit
fi
if diff -r -U1 test/site/golden "$out/pages"; then
  echo "$(find test/site/golden -type f | wc -l) golden pages are as they were"
  node test/pages/fits.mjs "$out/site"
else
  echo "pages differ from the golden ones; if that is meant: test/site/golden.sh --update, and look at them"
  exit 1
fi
