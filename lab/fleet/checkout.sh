#!/usr/bin/env bash
# Brings a host's checkout to one commit, out of a repository that the controller sent, or
# a pack of the objects that the checkout lacks.
# Runs that the host holds are kept: a file that the commit has with another content is
# never overwritten.
#
#   lab/fleet/checkout.sh CHECKOUT REPOSITORY|PACK COMMIT
set -euo pipefail
dir=${1/#\~\//$HOME/} from=${2/#\~\//$HOME/} commit=$3

mkdir -p "$dir"
cd "$dir"
if [ ! -e .git ]; then
  git init --quiet .
  # Only a checkout that was made here may be changed and removed from here.
  git config line-rate.prepared yes
fi
if [ -f "$from" ]; then
  git index-pack --stdin <"$from" >/dev/null
  # As after a fetch of this depth: the commits before it are not here.
  grep -qx "$commit" .git/shallow 2>/dev/null || echo "$commit" >>.git/shallow
else
  git fetch --quiet --depth 1 "$from" HEAD
fi
git cat-file -e "$commit^{commit}" 2>/dev/null || { echo "checkout.sh: the controller sent another commit than $commit" >&2; exit 1; }
# Files of earlier runs are not tracked here yet, and git would not write over them.
git ls-files --others -z -- data | while IFS= read -r -d '' path; do
  theirs=$(git rev-parse --verify --quiet "$commit:$path") || continue
  if [ "$(git hash-object "$path")" = "$theirs" ]; then rm "$path"; continue; fi
  # What is derived from runs is derived again; runs and what they rest on are not.
  case $path in
    data/results/* | data/hosts/* | data/designs/* | data/profiles/*)
      echo "checkout.sh: $path here is not as in commit $commit, which would overwrite it; move it away" >&2
      exit 1 ;;
  esac
done
git checkout --quiet --force --detach "$commit"
