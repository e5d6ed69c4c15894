#!/usr/bin/env bash
# Every test of the project, all of them even if one fails. `make test` installs
# what this needs.
#
#   tools/test.sh [STEP…]     run only the named steps, one after the other
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
# ./... ends where another module begins, and lab/batch is one.
library=github.com/line-rate/line-rate/lab/batch/...

# By the flags that make build compiles with, so that nothing is compiled twice.
go_vet() { (cd lab && go vet -trimpath ./... "$library"); }
go_modules() {
  local module
  for module in lab lab/batch lab/peers; do
    (cd "$module" && go mod verify && go mod tidy -diff) || return
  done
  if grep -n require lab/batch/go.mod; then
    echo "lab/batch/go.mod requires another module: whoever imports the library would import that as well"
    return 1
  fi
}
# Where no goroutine is started the race detector has nothing to find, has all
# compiled once more, and makes the simulations up to ten times slower. What vet looks at is go_vet's.
calm=(internal/{archive,audit,bound,cores,cpuclock,derive,doctor,experiment,flame,gate,generator,host,journal,metric,order,provenance,results,setting,shaper,stamp,stats,strict,verdict})
# Of results only this file's tests start any, and are made once more with the detector.
writers=internal/results/file_test.go
go_tests() {
  (
    cd lab || exit
    if grep -rnE '(^|[^[:alnum:]_"])go (func|[a-z][[:alnum:]_.]*\()|\.(Go|Parallel|AfterFunc)\(' "${calm[@]}" | grep -v "^$writers:"; then
      echo "goroutines in packages that tools/test.sh tests without the race detector"
      exit 1
    fi
    go test -trimpath -vet=off "${calm[@]/#/./}"
  )
}
# The tests of runs and of servers mostly wait, and so come first, beside what is
# compiled for the others, and not last, beside nothing; two at a time, since two other
# lanes want the cores as well, and many of these tests break where nobody gets a turn.
# The race detector's reports need no DWARF, and compiling and linking are cheaper without.
# Nor need they its second of sleep at the end of a process: it waits for them anyway.
go_races() {
  (
    cd lab || exit
    export GORACE=atexit_sleep_ms=0
    race=(-race -vet=off -gcflags=all=-dwarf=false -ldflags=-w)
    status=0
    go list ./internal/run ./server ./producer ./load ./... "$library" | grep -vE "/cmd/lab$|/internal/states$|/($(IFS='|' && echo "${calm[*]}"))$" | xargs go test "${race[@]}" -p 2 || status=$?
    go test "${race[@]}" -run "^($(sed -nE 's/^func (Test[^(]*).*/\1/p' "$writers" | paste -sd '|'))$" "./${writers%/*}" || status=$?
    exit "$status"
  )
}
# Every state that a run can end in has its pages. Not by the cache: what Hugo
# reads is no concern of Go's.
states() { (cd lab && go test -trimpath -vet=off -count=1 ./internal/states); }
# What lab/batch is compared with is a module of its own as well.
go_peers() { (cd lab/peers && go vet -trimpath ./... && go test -trimpath -vet=off ./...); }
# The lab's own runs. What runs is a process, built without the race detector as
# it measures. Those that truly measure come by themselves: beside other tests
# their trials would be invalid, and rightly so. The others break runs, and find
# the same beside whatever load.
go_runs() { (cd lab && go test -trimpath -vet=off -run '^TestAlone' ./cmd/lab); }
go_breaks() { (cd lab && go test -trimpath -vet=off -parallel 4 -skip '^TestAlone' ./cmd/lab); }
data() { .tools/bin/lab check && test/site/fixture.sh; }
shell() {
  command -v shellcheck >/dev/null || { echo "skip: no shellcheck for this platform"; return 0; }
  shellcheck --external-sources lab/scripts/*.sh tools/*.sh test/*/*.sh .ci/run && shellcheck --shell=bash test/scripts/helper.bash
}
scripts() { node_modules/bats/bin/bats test/scripts; }
workflows() {
  (cd tools && go tool actionlint -color ../.github/workflows/*.yml) || return 1
  command -v zizmor >/dev/null || { echo "skip: no zizmor for this platform"; return 0; }
  zizmor --offline --quiet .github/workflows
}
# Hugo spends a third less CPU time where it collects garbage less often; this site is small.
prose() { node test/pages/prose.mjs content; }
golden() { GOGC=400 test/site/golden.sh; }
escape() { node test/site/escape.mjs; }
missing() { GOGC=400 test/site/missing.sh; }
written() { GOGC=400 test/site/written.sh; }
# What the steps below it look at.
html() { GOGC=400 test/pages/build.sh && node_modules/.bin/html-validate --config test/pages/htmlvalidate.json '.tools/pages/**/*.html'; }
vnu() { node test/pages/vnu.mjs .tools/pages; }
links() { node test/pages/links.mjs .tools/pages; }
weight() { node test/pages/weight.mjs .tools/pages; }
machines() { node test/pages/machines.mjs .tools/pages; }
scripted() { node test/pages/scripts.mjs .tools/pages; }
pages() { node test/pages/browse.mjs .tools/pages; }
same() { GOGC=400 test/pages/same.sh; }

# Three lanes run side by side: what mostly waits for servers, what looks at pages
# and scripts, and what else takes a core. What truly measures comes after all of
# them: beside others the trials of the lab would be invalid, and rightly so.
races=(go_races)
site=(prose data golden escape html links machines weight vnu pages scripted scripts)
code=(go_format go_vet go_modules go_tests go_breaks missing states go_peers workflows written same shell)
alone=(go_runs)
steps=("${code[@]}" "${site[@]}" "${races[@]}" "${alone[@]}")
[ $# -eq 0 ] || steps=("$@")

mkdir -p .tools/scratch
dir=$(mktemp -d .tools/scratch/test-XXXXXX)
trap 'rm -rf "$dir"' EXIT
# A lane is a process group, so that whatever it has started ends with it.
stop() {
  for group in $(jobs -p); do kill -- "-$group" 2>/dev/null; done
  exit 130
}
trap stop INT TERM

# run makes one step. Its output is kept and printed whole when it ends, so that
# the lanes do not talk into each other; how it went is left in a file.
run() {
  local step=$1 started=$SECONDS word=ok
  "$step" >"$dir/$step.out" 2>&1 || word=FAILED
  if [ "$word" = ok ] && grep -m1 '^skip:' "$dir/$step.out" >"$dir/$step.why"; then word=skipped; fi
  echo "$word" >"$dir/$step.went"
  until mkdir "$dir/printing" 2>/dev/null; do sleep 0.1; done
  echo "== $step: $word, $((SECONDS - started)) s ($(find "$dir" -name '*.went' | wc -l) of ${#steps[@]})"
  cat "$dir/$step.out"
  rmdir "$dir/printing"
}
lane() { for step in "$@"; do run "$step"; done; }

if [ $# -gt 0 ]; then
  lane "$@"
else
  echo "${#steps[@]} steps; each is printed when it ends"
  set -m
  lane "${races[@]}" &
  lane "${site[@]}" &
  lane "${code[@]}" &
  set +m
  wait
  lane "${alone[@]}"
fi

passed=0 failed=0 skipped=0
for step in "${steps[@]}"; do
  case $(cat "$dir/$step.went") in
    ok) passed=$((passed + 1)) ;;
    skipped) skipped=$((skipped + 1)); echo "skipped: $step $(sed 's/^skip: //' "$dir/$step.why")" ;;
    *) failed=$((failed + 1)); echo "failed: $step" ;;
  esac
done
echo "$passed passed, $failed failed, $skipped skipped, $SECONDS s"
[ "$failed" -eq 0 ]
