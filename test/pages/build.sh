#!/usr/bin/env bash
# The site as the page checks want it: under a path of its own, as it is
# published, but with addresses on loopback. Not --quiet, which hides errors too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.tools/bin/hugo --panicOnWarning --cleanDestinationDir --noBuildLock \
  --baseURL http://127.0.0.1/line-rate/ --destination "$PWD/.tools/pages" >/dev/null
tools/search.sh .tools/pages
