#!/usr/bin/env bash
# A data file that is gone fails the build, with a line that names the entry
# and the file. Each of the published runs and hosts is taken away in turn.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d .tools/scratch/missing-XXXXXX)
trap 'rm -rf "$copy"' EXIT
cp -R config.toml content layouts assets static data "$copy/"
mkdir "$copy/lab"
cp -R lab/experiments "$copy/lab/"
checked=0
while read -r gone; do
  mv "$copy/$gone" "$copy/aside"
  if said=$(.tools/bin/hugo --panicOnWarning --noBuildLock --source "$copy" --destination "$PWD/$copy/public" 2>&1); then
    echo "the site builds without $gone"
    exit 1
  fi
  # Only the entry's number and the file's name are asked for, on one line.
  name=$(basename "$gone" .json)
  if ! grep -E '(entry|journal)' <<<"$said" | grep -qF "$name"; then
    printf 'without %s no line names the entry and the file:\n%s\n' "$gone" "$said"
    exit 1
  fi
  mv "$copy/aside" "$copy/$gone"
  checked=$((checked + 1))
done < <(find data/verdicts data/results data/hosts data/audits/{03,04,05,06,06b,08,09,10,11,batch}.json -path 'data/audits/*' -o -name '*published*.json' -o -path 'data/hosts/c*.json' | sort)
[ "$checked" -ge 6 ] || { echo "only $checked files were tried"; exit 1; }
echo "each of $checked missing files fails the build by name"
