#!/usr/bin/env bash
# Prints as Markdown which rows of ledger.csv differ from those of a git revision, each
# made by the lab of its own sources.
#
#   tools/moved.sh REVISION
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
before=$(mktemp -d)
trap 'git worktree remove --force "$before"' EXIT
git worktree add --quiet --detach "$before" "$1"
for tree in . "$before"; do
  make -C "$tree" --silent .tools/bin/lab >&2
  (cd "$tree" && .tools/bin/lab site --check >&2 || true)
done
# Whoever wrote a claim cannot end the block of code around it.
printf '## Verdicts that differ from %s\n\n```diff\n' "$1"
diff -U 0 "$before/derived/data/ledger.csv" derived/data/ledger.csv | grep '^[-+][^-+]' | tr '`' "'" | head -n 200 || true
printf '```\n'
