#!/usr/bin/env bash
# Two builds of one tree are the same, byte for byte.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=$(mktemp -d .tools/scratch/same-XXXXXX)
trap 'rm -rf "$out"' EXIT
for n in 1 2; do
  .tools/bin/hugo --quiet --panicOnWarning --noBuildLock --ignoreCache --destination "$PWD/$out/$n"
  sleep 1.1 # so that a time of the build, in seconds, would show
done
diff -r "$out/1" "$out/2" && echo "two builds are the same"
