#!/usr/bin/env bash
# Every test of the project, one step after the other, all of them even if one
# fails. `make test` installs what this needs.
#
#   tools/test.sh [STEP…]     run only the named steps
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export PATH="$PWD/.tools/venv/bin:$PATH"

# Each step is a function; its first line of output that starts with "skip:"
# says why it could not run here.

go_format() {
  local unformatted
  unformatted=$(gofmt -l lab)
  [ -z "$unformatted" ] || { printf 'not gofmt-ed:\n%s\n' "$unformatted"; return 1; }
}
go_vet() { (cd lab && go vet ./...); }
go_modules() { (cd lab && go mod verify && go mod tidy -diff); }
# The lab's own runs come by themselves: beside other tests their trials would
# be invalid, and rightly so.
go_tests() { (cd lab && go list ./... | grep -v '/cmd/lab$' | xargs go test -race); }
go_runs() { (cd lab && go test -race ./cmd/lab); }
data() { .tools/bin/lab check && test/site/fixture.sh; }
shell() {
  command -v shellcheck >/dev/null || { echo "skip: no shellcheck for this platform"; return 0; }
  shellcheck --external-sources lab/scripts/*.sh tools/*.sh .ci/run && shellcheck --shell=bash test/scripts/helper.bash
}
scripts() { node_modules/bats/bin/bats test/scripts; }
workflows() {
  (cd tools && go tool actionlint -color ../.github/workflows/*.yml) || return 1
  command -v zizmor >/dev/null || { echo "skip: no zizmor for this platform"; return 0; }
  zizmor --offline --quiet .github/workflows
}
prose() { node test/pages/prose.mjs content; }
golden() { test/site/golden.sh; }
missing() { test/site/missing.sh; }
html() { test/pages/build.sh && node_modules/.bin/html-validate --config test/pages/htmlvalidate.json '.tools/pages/**/*.html'; }
same() { test/pages/same.sh; }
machines() { node test/pages/machines.mjs .tools/pages; }
scripted() { node test/pages/scripts.mjs .tools/pages; }
pages() { node test/pages/browse.mjs .tools/pages; }

steps=(go_format go_vet go_modules data shell workflows scripts go_tests go_runs prose golden missing html same machines scripted pages)
[ $# -eq 0 ] || steps=("$@")
mkdir -p .tools/scratch
log=$(mktemp .tools/scratch/test-XXXXXX)
trap 'rm -f "$log"' EXIT
passed=0 failed=() skipped=()
for step in "${steps[@]}"; do
  echo "== $step ($((passed + ${#failed[@]} + ${#skipped[@]} + 1)) of ${#steps[@]})"
  started=$SECONDS
  if "$step" 2>&1 | tee "$log"; then
    if why=$(grep -m1 '^skip:' "$log"); then skipped+=("$step ${why#skip: }"); else passed=$((passed + 1)); fi
    echo "   $step: ok, $((SECONDS - started)) s"
  else
    failed+=("$step")
    echo "   $step: FAILED, $((SECONDS - started)) s"
  fi
done
for s in "${skipped[@]}"; do echo "skipped: $s"; done
for s in "${failed[@]}"; do echo "failed: $s"; done
echo "$passed passed, ${#failed[@]} failed, ${#skipped[@]} skipped"
[ ${#failed[@]} -eq 0 ]
