#!/usr/bin/env bash
# If a data file is missing, the build fails with a line that names the entry and the
# file. The runs that entries name, the machines of texts and the texts' audits are
# removed, those of one kind at a time. A page stops at the first file that it lacks, so
# files that such a build does not name are removed again without those that it named,
# and at last one by one. Of profiles, designs and what all machines say of claims the
# golden pages' files are removed.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
.tools/bin/lab derive >/dev/null
(cd test/site/fixture && ../../../.tools/bin/lab derive >/dev/null)
cp -R content layouts assets data derived "$copy/"
# Files that the site only passes on make no difference, and each build would copy them.
mkdir -p "$copy/lab" "$copy/aside" "$copy/test/site"
cp -R lab/experiments lab/servers.toml "$copy/lab/"
cp -R test/site/fixture "$copy/test/site/"
for f in config.toml test/site/config.toml; do
  awk '/^\[\[module.mounts\]\]/ { getline source; getline target; if (target ~ /"static/) next; $0 = $0 "\n" source "\n" target } 1' "$f" >"$copy/$f"
done
# The entries' own pages have to fail; without the site's other pages a build costs half.
cat >"$copy/entries.toml" <<EOF
[[segments.entries.includes]]
path = '/journal/**'
EOF
what=(--config 'config.toml,entries.toml' --renderSegments entries)

# without FILE… builds the site without these files, and leaves the output in $said.
without() {
  local gone
  for gone; do mkdir -p "$copy/aside/${gone%/*}" && mv "$copy/$gone" "$copy/aside/$gone"; done
  if said=$(.tools/bin/hugo --panicOnWarning --noBuildLock --source "$copy" "${what[@]}" --destination "$copy/public" 2>&1); then
    echo "the site builds without $*"
    exit 1
  fi
  for gone; do mv "$copy/aside/$gone" "$copy/$gone"; done
}

# One line must hold the entry's number and the file's path; the rest is free. The golden
# pages' files are mounted in the usual place.
named() { grep -E '(entry|journal)' <<<"$said" | grep -qF "${1#test/site/fixture/}"; }

# each FILE… checks that each of these files is named when it is missing.
checked=0
each() {
  local gone unnamed left=("$@")
  while [ ${#left[@]} -gt 0 ]; do
    without "${left[@]}"
    unnamed=()
    for gone in "${left[@]}"; do named "$gone" || unnamed+=("$gone"); done
    [ ${#unnamed[@]} -lt ${#left[@]} ] || break
    left=(${unnamed[@]+"${unnamed[@]}"})
  done
  for gone in ${unnamed[@]+"${unnamed[@]}"}; do
    without "$gone"
    named "$gone" || { printf 'without %s no line names the entry and the file:\n%s\n' "$gone" "$said"; exit 1; }
  done
  checked=$((checked + $#))
}

# The lab's own experiments are on the method page, which is no entry.
runs=$(grep -rhoE --exclude='aa-*' '"record": "[^"]+' derived/data/claims | cut -d'"' -f4 | sort -u)
for kind in derived/data/verdicts data/results derived/data/results derived/pages/runs; do
  mapfile -t files < <(find "$kind" -type f | grep -F "$runs" | sort)
  each "${files[@]}"
done
mapfile -t files < <(ls data/hosts/c*.json)
each "${files[@]}"
mapfile -t files < <(ls derived/data/audits/{01,02,03,04,05,06,06b,08,09,10,11,batch}.json)
each "${files[@]}"
# What all machines say of a claim stands on the claim's own page.
what=(--config 'config.toml,test/site/config.toml')
mapfile -t files < <(find test/site/fixture/{derived/data/flames,data/profiles,data/designs,derived/data/claims/94-turns.json} -type f | sort)
each "${files[@]}"
[ "$checked" -ge 6 ] || { echo "only $checked files were tried"; exit 1; }
echo "each of $checked missing files fails the build by name"
