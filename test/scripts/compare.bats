#!/usr/bin/env bats
# The commands of the page on linerate compare, as they stand there; and linerate alone, where
# there is nothing else.

bats_require_minimum_version 1.5.0
load helper

# tree names the files of this checkout as they are now, with what is not committed.
tree() {
  local made
  made=$(git -C "$root" stash create)
  git -C "$root" rev-parse "${made:-HEAD}^{tree}"
}

# source_at makes a repository of one commit that has them. It shares this one's objects.
source_at() {
  local commit
  git init --quiet --bare "$1"
  git -C "$root" rev-parse --path-format=absolute --git-path objects >"$1/objects/info/alternates"
  commit=$(git -C "$1" commit-tree "$(tree)" -m 'as it is now')
  git -C "$1" update-ref refs/heads/main "$commit"
  git -C "$1" symbolic-ref HEAD refs/heads/main
}

# proxy_at makes a module proxy that has the lab's module as it is now, as Go's own has it: without
# the modules below it.
proxy_at() {
  local at=$1/github.com/line-rate/line-rate/lab/@v version=v0.0.1 beside
  mapfile -t beside < <(cd "$root/lab" && find . -mindepth 2 -name go.mod -printf ':!%h\n')
  mkdir -p "$at"
  git -C "$root" archive --format=zip --prefix="github.com/line-rate/line-rate/lab@$version/" -o "$at/$version.zip" \
    "$(tree):lab" -- . "${beside[@]}"
  cp "$root/lab/go.mod" "$at/$version.mod"
  echo "{\"Version\":\"$version\",\"Time\":\"2000-01-01T00:00:00Z\"}" >"$at/$version.info"
  echo "$version" >"$at/list"
}

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  work=$BATS_TEST_TMPDIR/work
  mkdir "$work"
  export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR # a comparison excludes runs of other tests
  export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
}

# measures runs a block of commands until it has measured something: what else runs on this machine
# decides how long an answer takes. It fails where the block ends before that, but for the one thing that
# a busy machine can do to it: no server gets steady then, and the budget is too short for its warm-up.
measures() {
  set -m # a group of its own, so that Ctrl-C reaches what it runs
  env -C "$work" "${@:2}" bash -c "set -e
$1" >"$work/log" 2>&1 3>&- &
  local made=$! _
  for _ in $(seq 1200); do
    if grep -q '^blocks of about' "$work/log" || ! kill -0 "$made" 2>/dev/null; then break; fi
    sleep 0.25
  done
  kill -INT -- "-$made" 2>/dev/null || true
  wait "$made" || true
  cat "$work/log"
  if ! grep -q '^linerate: a block takes about' "$work/log"; then
    grep -q '^blocks of about' "$work/log"
  fi
}

@test "the page's commands work in a fresh clone, without what the site needs" {
  source_at "$BATS_TEST_TMPDIR/source.git"
  block=$(block compare 'git clone')
  [[ $block == *"git clone https://github.com/line-rate/line-rate"*".tools/bin/linerate"* ]]
  # Setting up Python or Node.js would fail: there are none.
  mkdir "$work/none"
  for tool in python3 node npm pip; do
    printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' "$tool" >"$work/none/$tool"
    chmod +x "$work/none/$tool"
  done
  # The two lines that get it; the next test measures with what it got.
  env -C "$work" PATH="$work/none:$PATH" MAKEFLAGS= GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0="url.$BATS_TEST_TMPDIR/source.git.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/line-rate/line-rate \
    bash -ec "$(head -n 2 <<<"$block")"
  "$work/line-rate/.tools/bin/linerate" version | grep '^linerate'
}

@test "the page's first commands work with Go and no clone" {
  servers_in "$work"
  proxy_at "$BATS_TEST_TMPDIR/proxy"
  block=$(block compare 'go install')
  [[ $block == *"go install github.com/line-rate/line-rate/lab/cmd/linerate@latest"*"linerate compare "* ]]
  # What else it is made of comes from Go's own cache, and nothing from outside.
  measures "$block" GOBIN="$work" PATH="$work:$PATH" GOMODCACHE="$BATS_TEST_TMPDIR/modules" GOSUMDB=off \
    GOFLAGS="$(cat "$root/tools/goflags") -trimpath -modcacherw" \
    GOPROXY="file://$BATS_TEST_TMPDIR/proxy,file://$(go env GOMODCACHE)/cache/download"
  "$work/linerate" version | grep '^linerate v0.0.1, built from module '
  # It took nothing along from the clone that it was made in.
  run ! grep -q "$root" "$work/linerate"
}

@test "linerate alone, in an empty directory with nothing in PATH, compares two servers of others" {
  servers_in "$work"
  cp "$root/.tools/bin/linerate" "$work/"
  run --separate-stderr env -i -C "$work" PATH="$work/nothing" XDG_RUNTIME_DIR="$XDG_RUNTIME_DIR" \
    ./linerate compare --url /path --budget 10s --warmup 100ms 'old=./server-old --port {port}' 'new=./server-new --port {port}'
  # On a busy machine a server is never steady, and a warm-up until it is would leave no budget.
  # shellcheck disable=SC2154 # bats sets it
  printf '%s\n' "$stderr" "$output"
  # What else runs here may spoil trials, but never makes the costlier one the cheaper.
  [[ $status == [012] && $output != *"costs less"* ]]
  [ "$status" -ne 0 ] || [[ ${lines[0]} == new\ costs\ *CPU\ a\ request* ]]
  # Nothing is left: no process, and no file beside those that were there.
  [ "$(ls -A "$work")" = "$(printf '%s\n' linerate server-new server-old)" ]
  run ! pgrep -f "^$work/"
}
