#!/usr/bin/env bash
# The search index of a built site, beside its pages. Without the indexer (no
# npm, or a platform it is not made for) the site is whole but for the search
# page, which then says that there is no index.
#
#   tools/search.sh DIRECTORY
set -euo pipefail
site=${1:?usage: tools/search.sh DIRECTORY}
# The binary itself: npm ci cannot install the package around it, since some of
# the platforms that one names are in no registry everywhere.
arch=$(uname -m)
case $arch in x86_64) arch=x64 ;; aarch64) arch=arm64 ;; esac
pagefind=$(dirname "${BASH_SOURCE[0]}")/../node_modules/@pagefind/linux-$arch/bin/pagefind_extended
if ! "$pagefind" --version >/dev/null 2>&1; then
  echo "no search index: pagefind is not installed, or not made for this platform"
  exit 0
fi
# Tables of every trial and lists of commands would drown the words.
"$pagefind" --site "$site" --quiet --exclude-selectors 'nav, details.provenance, .copy'
# The journal has a page of its own for searching; of the pages that come with
# the indexer it needs none.
rm -f "$site"/pagefind/pagefind-{ui,modular-ui,component-ui}.{js,css} "$site"/pagefind/pagefind-highlight.js
