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

go_format() {
  local unformatted
  unformatted=$(gofmt -l lab tools)
  [ -z "$unformatted" ] || { printf 'not gofmt-ed:\n%s\n' "$unformatted"; return 1; }
  # A line break inside of an action, or next to {{- or -}}, does not reach the page.
  unformatted=$(find layouts -type f -exec awk 'length($0) > 120 { print FILENAME ":" FNR }' {} +)
  [ -z "$unformatted" ] || { printf 'lines of more than 120 bytes:\n%s\n' "$unformatted"; return 1; }
}
# The lab's module and those beside it; ./... does not enter other modules. Those of the
# peers have a step of their own.
modules=(lab lab/batch lab/fanout lab/fiber lab/floor lab/null lab/study)
peers=(lab/peers/http)

# The same flags as make build uses, so that nothing is compiled twice.
go_vet() {
  local module
  for module in "${modules[@]}"; do (cd "$module" && go vet -trimpath ./...) || return; done
}
go_modules() {
  local module
  for module in "${modules[@]}" "${peers[@]}"; do
    (cd "$module" && go mod verify && go mod tidy -diff) || return
  done
  if grep -n require lab/batch/go.mod; then
    echo "lab/batch/go.mod requires another module: whoever imports the library would import that as well"
    return 1
  fi
}
# In packages that start no goroutine the race detector can find nothing: what their tests
# start stands for a server or a client, and shares no memory with them. It would compile
# and link everything once more and make the simulations up to ten times slower. go_vet
# runs vet.
calm=(internal/{answer,archive,audit,certify,derive,doctor,draw,experiment,gate,generator,host,journal,judge,law,madeup,metric,pages,plot,profiles,receive,results,session,setting,shaper,stats,strict,topology,verdict,words}
  cmd/madeup cmd/stamp compare confseq)
# Such packages of the modules beside the lab's.
calm_beside=(batch/batchexpvar floor/request null study/event)
# Two have a file that does, with tests of its own, which run again with the detector.
threads=(internal/results/all.go internal/session/turns.go)
threaded=(internal/results/file_test.go internal/session/turns_test.go)
# Every state in which a run can end has its pages. That is a step of its own.
every_state=internal/derive/states_test.go
# lab check, which the step data runs, reads the whole journal as this test does, and more.
journal_read=TestTheRepositoryIsInOrder
# names gives the tests of a file as a pattern; a file without any is an error.
names() { grep -oE '^func Test[^(]+' "$1" | cut -c6- | paste -sd '|' | sed 's/.*/^(&)$/'; }
go_tests() {
  (
    cd lab || exit
    elsewhere=$(names "$every_state") || exit
    if grep -rnE --include='*.go' --exclude='*_test.go' '(^|[^[:alnum:]_"])go (func|[a-z][[:alnum:]_.]*\()|\.(Go|AfterFunc)\(' "${calm[@]}" "${calm_beside[@]}" | grep -vE "^($(IFS='|' && echo "${threads[*]}")):"; then
      echo "goroutines in packages that tools/test.sh tests without the race detector"
      exit 1
    fi
    GOGC=400 go test -trimpath -vet=off -skip "$elsewhere|^$journal_read\$" "${calm[@]/#/./}" || exit
    for package in "${calm_beside[@]}"; do (cd "$package" && GOGC=400 go test -trimpath -vet=off .) || exit; done
  )
}
# The tests of runs mostly wait, so four of them run at a time; beside them one other
# package: two other lanes need the cores as well, and many of these tests fail if their
# processes get no CPU time.
# A race is reported when it is seen, so no test has to wait a second at its end.
export GORACE=atexit_sleep_ms=0
race=(-race -vet=off)
elsewhere="/cmd/lab$|/fleet/endtoend$|/internal/run$|/lab/($(IFS='|' && echo "${calm[*]}|${calm_beside[*]}"))$"
go_races() {
  (
    cd lab || exit
    status=0
    go test "${race[@]}" -parallel 4 ./internal/run &
    go list ./... | grep -vE "$elsewhere" | xargs go test "${race[@]}" -skip '^TestAlone' -p 1 || status=$?
    for file in "${threaded[@]}"; do these=$(names "$file") && go test "${race[@]}" -run "$these" "./${file%/*}" || status=$?; done
    wait $! || status=$?
    exit "$status"
  )
}
# The same in the modules beside the lab's.
go_beside() {
  local module status=0
  for module in "${modules[@]:1}"; do
    (cd "$module" && go list ./... | { grep -vE "$elsewhere" || true; } | xargs -r go test "${race[@]}" -p 2) || status=$?
  done
  return "$status"
}
# Without the test cache: Go does not know which files Hugo reads.
states() { (cd lab && these=$(names "$every_state") && GOGC=400 go test -trimpath -vet=off -count=1 -run "$these" "./${every_state%/*}"); }
# The other implementations that lab/batch and the servers are compared with are modules of
# their own. Of the other servers, those are tested that make peers has built; without the
# test cache, which does not look at these programs.
go_peers() {
  local module
  for module in "${peers[@]}"; do
    (cd "$module" && go vet -trimpath ./... && go test -trimpath -vet=off -count=1 ./...) || return
  done
}
# The lab's own runs. They run processes that are built without the race detector, as for
# measuring. The tests that need valid trials run alone: other tests beside them would
# make their trials invalid. The other tests break runs, and work under any load.
go_runs() { (cd lab && go test -trimpath -vet=off -p 1 -run '^TestAlone' ./cmd/lab ./cmd/linerate); }
go_breaks() { (cd lab && go test -trimpath -vet=off -parallel 4 -skip '^TestAlone' ./cmd/lab); }
# The lab on a fleet of namespaces. make test leaves the longer tests of it out. Without the
# test cache, which does not look at the programs that they start.
fleet_tests() {
  local dir why status=0
  dir=$(mktemp -d)
  why=$(lab/scripts/fleet.sh up --clients 1 --dir "$dir" 2>&1 </dev/null) || status=$?
  rm -rf "$dir"
  # Statuses 3 and 4 say that a tool or a right is missing.
  case $status in 3 | 4) echo "skip: ${why#fleet.sh: }"; return 0 ;; esac
  (cd lab && go test -trimpath -vet=off -count=1 "$@" ./fleet/endtoend)
}
fleet() { fleet_tests -short -parallel 6; }
fleet_whole() { fleet_tests -parallel 4 -v; }
playbooks() { node_modules/bats/bin/bats test/fleet/playbooks.bats; }
data() { GOGC=400 .tools/bin/lab check && .tools/bin/lab derive --check; }
shell() {
  command -v shellcheck >/dev/null || { echo "skip: no shellcheck for this platform"; return 0; }
  shellcheck --external-sources .github/actions/*.sh lab/scripts/*.sh lab/fleet/*.sh tools/*.sh test/*/*.sh test/workflows/{bin,made}/* .ci/run && shellcheck --shell=bash test/scripts/helper.bash
}
scripts() { node_modules/bats/bin/bats test/scripts; }
# What actionlint and zizmor do not know, tools/workflows tests; without
# the test cache, which does not look at files outside of their module. `make
# test-workflows` runs the workflows themselves.
workflows() {
  (cd tools && go vet -trimpath ./... && go test -trimpath -vet=off -count=1 ./...) || return
  (cd tools && go run -trimpath github.com/rhysd/actionlint/cmd/actionlint -color ../.github/workflows/*.yml ../static/examples/*.yml) || return 1
  command -v zizmor >/dev/null || { echo "skip: no zizmor for this platform"; return 0; }
  zizmor --offline --quiet .github static/examples
}
# With less frequent garbage collection Hugo uses a third less CPU time, since this site
# is small, and the lab and the tests without goroutines use up to a quarter less.
prose() { node test/pages/prose.mjs content; }
golden() { GOGC=400 test/site/golden.sh; }
escape() { GOGC=400 node test/site/escape.mjs; }
missing() { GOGC=400 test/site/missing.sh; }
written() { GOGC=400 test/site/written.sh; }
# A thousand machines. make test leaves it out, and CI runs it: the golden pages have two
# machines of one name, and only the bounds on large pages are more.
hosts() { GOGC=400 node test/site/hosts.mjs; }
# Builds the pages that the steps below check.
html() { GOGC=400 test/pages/build.sh && node test/pages/validate.mjs .tools/pages; }
vnu() { node test/pages/vnu.mjs .tools/pages; }
same() { GOGC=400 test/pages/same.sh; }
links() { node test/pages/links.mjs .tools/pages; }
weight() { node test/pages/weight.mjs .tools/pages; }
machines() {
  node test/pages/machines.mjs .tools/pages && node test/pages/names.mjs .tools/pages && python3 test/site/recompute.py .tools/pages
}
scripted() { node test/pages/scripts.mjs .tools/pages && node test/pages/streams.mjs .tools/bin; }
pages() { node test/pages/told.mjs lab/internal/tell/testdata/page.html && node test/pages/browse.mjs .tools/pages; }

# Three lanes run side by side: tests that mostly wait for servers, checks of pages and
# scripts, and everything else that needs a core. A lane that has done its own steps takes
# those that the others have not begun, so that no core waits for the longest lane; short
# steps come last. Tests that need valid trials come after all lanes: other tests beside
# them would make their trials invalid.
races=(go_races)
site=(golden html pages vnu data same scripted scripts escape links weight machines prose)
code=(go_vet go_tests go_beside go_breaks missing workflows go_peers states go_modules written shell go_format)
alone=(go_runs fleet)
# What a step needs of another: pages that html builds, or the browser, which golden unpacks.
needs() {
  case $1 in
    links | machines | weight | vnu) echo html ;;
    pages | scripted) echo golden html ;;
  esac
}
steps=("${code[@]}" "${site[@]}" "${races[@]}" "${alone[@]}")
[ $# -eq 0 ] || steps=("$@")

# The tests make and delete tens of thousands of files. In memory that takes a fraction of
# the system time that it takes on some disks: ext4 without a journal passes over every
# file that was deleted in the last minute before it makes a new one. So temporary files
# go to memory, if there is room for them and programs may run there. The path is short,
# since the path of a socket has to be.
in_memory() {
  local at=/dev/shm made
  [ -d "$at" ] && [ -w "$at" ] || return
  [ "$(df -Pk "$at" | awk 'END { print $4 }')" -ge 4000000 ] && awk '$1 == "MemAvailable:" && $2 >= 6000000 { room = 1 } END { exit !room }' /proc/meminfo || return
  made=$(mktemp -d "$at/lr-XXXXXX") || return
  if printf '#!/bin/sh\n' >"$made/runs" && chmod +x "$made/runs" && "$made/runs"; then echo "$made"; else rm -rf "$made"; return 1; fi
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
  echo "== $step: $word, $((SECONDS - started)) s, $used s of CPU ($(find "$dir" -maxdepth 1 -name '*.went' | wc -l) of ${#steps[@]})"
  cat "$dir/$step.out"
  rmdir "$dir/printing"
}
# lane runs each of the steps that no lane has taken yet. Who takes a step that needs
# another waits for that one, which a lane has taken before it.
lane() {
  local step other
  for step in "$@"; do
    mkdir "$dir/$step.taken" 2>/dev/null || continue
    for other in $(needs "$step"); do until [ -e "$dir/$other.went" ]; do sleep 0.2; done; done
    run "$step"
  done
}

if [ $# -gt 0 ]; then
  for step in "$@"; do run "$step"; done
else
  echo "${#steps[@]} steps; each is printed when it ends"
  set -m
  lane "${races[@]}" "${code[@]}" "${site[@]}" &
  lane "${site[@]}" "${code[@]}" &
  lane "${code[@]}" "${site[@]}" &
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
