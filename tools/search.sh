#!/usr/bin/env bash
# The search index of a built site, beside its pages. Without the indexer (no
# npm, or a platform it is not made for) the site is whole but for the search
# page, which then says that there is no index.
#
#   tools/search.sh DIRECTORY
set -euo pipefail
site=${1:?usage: tools/search.sh DIRECTORY}
pagefind=$(dirname "${BASH_SOURCE[0]}")/../node_modules/pagefind/lib/runner/bin.cjs
if [ ! -e "$pagefind" ] || ! node "$pagefind" --version >/dev/null 2>&1; then
  echo "no search index: pagefind is not installed, or not made for this platform"
  exit 0
fi
# Tables of every trial and lists of commands would drown the words.
node "$pagefind" --site "$site" --quiet --exclude-selectors 'nav, details.provenance, .copy'
# The journal has a page of its own for searching; of the pages that come with
# the indexer it needs none.
rm -f "$site"/pagefind/pagefind-{ui,modular-ui,component-ui}.{js,css} "$site"/pagefind/pagefind-highlight.js
