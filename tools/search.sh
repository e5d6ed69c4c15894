#!/usr/bin/env bash
# Makes the search index of a built site, beside its pages. Without the indexer (no npm,
# or an unsupported platform) the site works except for the search page, which then says
# that there is no index.
#
#   tools/search.sh DIRECTORY
set -euo pipefail
site=${1:?usage: tools/search.sh DIRECTORY}
pagefind=$(dirname "${BASH_SOURCE[0]}")/../node_modules/pagefind/lib/runner/bin.cjs
if [ ! -e "$pagefind" ] || ! node "$pagefind" --version >/dev/null 2>&1; then
  echo "no search index: pagefind is not installed, or not made for this platform"
  exit 0
fi
# Tables of every trial and lists of commands would hide the words. Without a language the
# index keeps words as they are written; in English, "pipelined" would also find
# "pipelining".
node "$pagefind" --site "$site" --quiet --force-language unknown --exclude-selectors 'nav, .side, .here'
# The search page has the indexer's default interface and needs no other.
cat "$(dirname "$pagefind")"/../../LICENSE/* >"$site/pagefind/LICENSE.txt"
rm -f "$site"/pagefind/pagefind-{modular-ui,component-ui}.{js,css} "$site"/pagefind/pagefind-highlight.js
