#!/usr/bin/env bash
# Runs every test of the project, all of them even if one fails. `make test` installs what
# they need.
#
#   tools/test.sh [STEP…]     run only the named steps, one after the other
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.." || exit
export PATH="$PWD/.tools/venv/bin:$PATH"
export GOFLAGS=${GOFLAGS-$(cat tools/goflags)}

# Each step is a function. A first line of output that begins with "skip:" says why the
# step could not run here.

format() {
  local found
  found=$(gofmt -l lab)
  [ -z "$found" ] || { printf 'not gofmt-ed:\n%s\n' "$found"; return 1; }
  # A line break inside of an action, or next to {{- or -}}, does not reach the page.
  found=$(find layouts -type f -exec awk 'length($0) > 120 { print FILENAME ":" FNR }' {} +)
  [ -z "$found" ] || { printf 'lines of more than 120 bytes:\n%s\n' "$found"; return 1; }
  ! grep -nr 'TODO:' lab/experiments content/journal || { echo 'still to be written: what lab new wrote'; return 1; }
}
# Texts keep the rules in tools/vale. PROSE is what reads them, as in make vale.
words() {
  local prose
  read -ra prose <<<"${PROSE:-node tools/words.mjs}"
  git ls-files -z -- '*.md' 'lab/*.go' 'lab/cmd/*/help/*.txt' ':!*testdata*' ':!lab/cmd/lab/new/*.md' |
    xargs -0 "${prose[@]}"
}
# The modules beside the lab's; ./... does not enter them.
modules=(batch batch/study servers/fanout servers/floor)
# Where goroutines share memory. These packages are tested with the race detector where it
# can be built, which takes a C compiler, and otherwise without it.
racy='/lab/(load(/.*)?|batch|servers/fanout(/.*)?|internal/(run|bench|machine|proc|session))$'
# The tests of these packages start the programs themselves; they have steps of their own.
apart='/lab/cmd/(lab|linerate)$'
# lab check, which the step data runs, reads the whole journal as this test does, and more.
journal_read='^TestTheRepositoryIsInOrder$'
detector() { [ "$(go env CGO_ENABLED)" = 1 ] && command -v "$(go env CC)" >/dev/null; }
# packages prints the packages of a module: with -v those without shared memory.
packages() { (cd "lab/$1" && go list ./... | grep -vE "$apart" | { grep -E "${@:2}" "$racy" || true; }); }
test_module() { packages "$1" -v | (cd "lab/$1" && GOGC=400 xargs -r go test -trimpath -vet=off -skip "^TestAlone|$journal_read"); }
plain() { test_module .; }
beside() {
  local module status=0
  for module in "${modules[@]}"; do test_module "$module" || status=$?; done
  return "$status"
}
# A race is reported when it is seen, so no test has to wait a second at its end.
race() {
  local module flags=(-trimpath) status=0
  if detector; then flags=(-race); else echo "without the race detector: it needs a C compiler"; fi
  for module in . batch servers/fanout; do
    packages "$module" -e | (cd "lab/$module" && GORACE=atexit_sleep_ms=0 xargs -r go test "${flags[@]}" -vet=off -parallel 4 -p 2 -skip '^TestAlone') || status=$?
  done
  return "$status"
}
# Comparisons, one after the other: they wait for most of their time.
linerate() { (cd lab && go test -trimpath -vet=off ./cmd/linerate); }
# The lab's own processes, broken in each way. These tests work under any load.
breaks() { (cd lab && go test -trimpath -vet=off -parallel 4 -skip '^TestAlone' ./cmd/lab); }
# The lab's own runs. Tests beside them would make their trials invalid, so they come last.
runs() { (cd lab && go test -trimpath -vet=off -p 1 -run "^TestAlone" ./cmd/lab); }
scripts() { node_modules/bats/bin/bats test/scripts; }
data() { GOGC=400 .tools/bin/lab check && .tools/bin/lab site --check; }
shell() {
  command -v shellcheck >/dev/null || { echo "skip: no shellcheck for this platform"; return 0; }
  git ls-files '*.sh' .ci/run | xargs shellcheck --external-sources && shellcheck --shell=bash test/scripts/helper.bash
}
workflows() {
  awk '/^```yaml$/ { on = 1; next } /^```$/ { on = 0 } on' content/compare.md >"$dir/compare.yml" # that readers copy
  (cd tools && go run -trimpath github.com/rhysd/actionlint/cmd/actionlint -color ../.github/workflows/*.yml "$dir/compare.yml") || return
  command -v zizmor >/dev/null || { echo "skip: no zizmor for this platform"; return 0; }
  zizmor --offline --quiet .github "$dir/compare.yml"
}
# Builds the pages, and reads them without a browser.
site() {
  node test/pages/prose.mjs content && GOGC=400 test/pages/build.sh || return
  local check status=0
  for check in validate links weight machines names; do node "test/pages/$check.mjs" .tools/pages || status=$?; done
  python3 test/site/recompute.py .tools/pages || status=$?
  return "$status"
}
browser() { node test/pages/browse.mjs .tools/pages && node test/pages/scripts.mjs .tools/pages && node test/pages/streams.mjs .tools/bin; }

# Two lanes take one step after the other, the longest first: with more of them servers under test starve. What
# has to be alone comes after both.
steps=(linerate plain race site scripts browser beside breaks workflows data shell words format)
alone=(runs)
needs() { case $1 in browser) echo site ;; esac; }
[ $# -eq 0 ] || { steps=("$@"); alone=(); }

# The tests make and delete tens of thousands of files, which some disks are slow at. So
# temporary files go to memory, if there is room for them and programs may run there. The
# path is short, since the path of a socket has to be.
in_memory() {
  local at=/dev/shm made
  [ -d "$at" ] && [ -w "$at" ] || return
  [ "$(df -Pk "$at" | awk 'END { print $4 }')" -ge 4000000 ] && awk '$1 == "MemAvailable:" && $2 >= 6000000 { room = 1 } END { exit !room }' /proc/meminfo || return
  made=$(mktemp -d "$at/lr-XXXXXX") || return
  if printf '#!/bin/sh\n' >"$made/try" && chmod +x "$made/try" && "$made/try"; then rm "$made/try" && echo "$made"; else rm -rf "$made"; return 1; fi
} 2>/dev/null
dir=$({ [ -z "${TMPDIR-}" ] && in_memory; } || mktemp -d)
export TMPDIR=$dir
trap 'rm -rf "$dir"' EXIT
# A lane is a process group, so that everything it has started ends with it.
stop() {
  for group in $(jobs -p); do kill -- "-$group" 2>/dev/null; done
  exit 130
}
trap stop INT TERM

# run runs one step. Its output is printed as a whole when it ends, so that the lanes'
# outputs do not mix, with the seconds that it took and those of CPU time; its result is
# left in a file.
run() {
  local step=$1 started=$SECONDS word=ok TIMEFORMAT='%U %S' used
  # Runs of the lab and comparisons of other steps, or outside, do not exclude those of this one.
  local -x XDG_RUNTIME_DIR=$dir/$step
  mkdir -p "$XDG_RUNTIME_DIR"
  { time "$step" >"$dir/$step.out" 2>&1; } 2>"$dir/$step.used" || word=FAILED
  used=$(awk 'END { printf "%.0f", $1 + $2 }' "$dir/$step.used")
  if [ "$word" = ok ] && grep -m1 '^skip:' "$dir/$step.out" >"$dir/$step.why"; then word=skipped; fi
  echo "$word" >"$dir/$step.went"
  until mkdir "$dir/printing" 2>/dev/null; do sleep 0.1; done
  echo "== $step: $word, $((SECONDS - started)) s, $used s of CPU ($(find "$dir" -maxdepth 1 -name '*.went' | wc -l) of $((${#steps[@]} + ${#alone[@]})))"
  cat "$dir/$step.out"
  rmdir "$dir/printing"
}
# lane runs each of the steps that no other lane has taken.
lane() {
  local step other
  for step in "${steps[@]}"; do
    mkdir "$dir/$step.taken" 2>/dev/null || continue
    for other in $(needs "$step"); do until [ -e "$dir/$other.went" ]; do sleep 0.2; done; done
    run "$step"
  done
}

if [ $# -gt 0 ]; then
  for step in "${steps[@]}"; do run "$step"; done
else
  set -m
  lane & lane &
  set +m
  wait
  for step in "${alone[@]}"; do run "$step"; done
fi

passed=0 failed=0 skipped=0
for step in "${steps[@]}" "${alone[@]}"; do
  case $(cat "$dir/$step.went") in
    ok) passed=$((passed + 1)) ;;
    skipped) skipped=$((skipped + 1)); echo "skipped: $step $(sed 's/^skip: //' "$dir/$step.why")" ;;
    *) failed=$((failed + 1)); echo "failed: $step" ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped, $SECONDS s"
[ "$failed" -eq 0 ]
