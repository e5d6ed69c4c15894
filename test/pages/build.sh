#!/usr/bin/env bash
# Builds the site as the page checks need it: under a path, as it is published, but with
# addresses on loopback. Not with --quiet, which hides errors too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
.tools/bin/lab site -- --noBuildLock --baseURL http://127.0.0.1/line-rate/ --destination "$PWD/.tools/pages" >/dev/null
