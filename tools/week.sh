#!/usr/bin/env bash
# Adds the files of a week to the branch trend, pushes it, and opens a pull request for it
# unless one is open. The workflow weekly.yml calls it, with a token in GH_TOKEN.
#
#   tools/week.sh DIRECTORY     with the files that lab trend wrote
set -euo pipefail
week=$(cd "${1:?usage: tools/week.sh DIRECTORY}" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
branch=trend

git config user.name 'github-actions[bot]'
git config user.email '41898282+github-actions[bot]@users.noreply.github.com'
gh auth setup-git
# Weeks that nobody has merged stay in the branch. It is brought up to main, or begun there
# if it is gone. Both may have derived files anew; these are made again below.
git checkout --quiet --detach
if git fetch --quiet origin "+refs/heads/$branch:refs/remotes/origin/$branch"; then
  git merge --quiet --no-edit -X ours "origin/$branch"
fi
mkdir -p data/trend
# A week that is there already is never replaced.
for file in "$week"/*.json; do
  [ -e "data/trend/${file##*/}" ] || cp "$file" data/trend/
done
make --no-print-directory .tools/bin/lab
.tools/bin/lab verdicts
.tools/bin/lab check
git add -- data
if git diff --cached --quiet; then
  echo "nothing new"
  exit
fi
git commit --quiet --message "Add a week of the trend"
git push --quiet origin "HEAD:refs/heads/$branch"
if [ "$(gh pr list --head "$branch" --base main --state open --json number --jq length)" = 0 ]; then
  gh pr create --head "$branch" --base main --title "Weeks of the trend" \
    --body "Figures that weekly.yml measured on a runner. They decide no claim. Merge when it suits: later weeks join this branch."
fi
gh workflow run ci.yml --ref "$branch"
