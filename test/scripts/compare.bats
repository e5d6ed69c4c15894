#!/usr/bin/env bats
# The commands of the page on linerate compare, as they stand there, in a fresh clone.

bats_require_minimum_version 1.5.0
load helper

# commands prints the page's first block of commands.
commands() { awk '/^```/ { if (inside) exit; inside = 1; next } inside' "$root/content/compare.md"; }

# source_at makes a repository of one commit that has the files of this checkout as they
# are now, with what is not committed. It shares this one's objects.
source_at() {
  local tree commit
  tree=$(git -C "$root" stash create)
  git init --quiet --bare "$1"
  git -C "$root" rev-parse --path-format=absolute --git-path objects >"$1/objects/info/alternates"
  commit=$(git -C "$1" commit-tree "${tree:-$(git -C "$root" rev-parse HEAD)}^{tree}" -m 'as it is now')
  git -C "$1" update-ref refs/heads/main "$commit"
  git -C "$1" symbolic-ref HEAD refs/heads/main
}

# server_in builds the two servers of the page, of which the second spends more on a request.
server_in() {
  cat >"$1/main.go" <<'GO'
package main

import (
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func main() {
	http.HandleFunc("/path", func(w http.ResponseWriter, _ *http.Request) {
		for began := time.Now(); filepath.Base(os.Args[0]) == "server-new" && time.Since(began) < 200*time.Microsecond; {
		}
		w.Write([]byte("an answer"))
	})
	panic(http.ListenAndServe("127.0.0.1:"+os.Args[2], nil))
}
GO
  (cd "$1" && go build -o server-old main.go && cp server-old server-new)
}

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR # a comparison excludes runs of other tests
  export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
}

@test "the first commands of the page on linerate compare work in a fresh clone, without what the site needs" {
  work=$BATS_TEST_TMPDIR/work
  mkdir "$work"
  server_in "$work"
  source_at "$BATS_TEST_TMPDIR/source.git"
  block=$(commands)
  [[ $block == *"git clone https://github.com/line-rate/line-rate"*"linerate compare "* ]]
  # Setting up Python or Node.js would fail: there are none.
  mkdir "$work/none"
  for tool in python3 node npm pip; do
    printf '#!/bin/sh\necho "%s was called" >&2\nexit 1\n' "$tool" >"$work/none/$tool"
    chmod +x "$work/none/$tool"
  done
  # Once a block is measured there is no more to see: what else runs on this machine decides
  # how long the answer takes. A shell of its own group, so that Ctrl-C reaches what it runs.
  set -m
  env -C "$work" PATH="$work/none:$PATH" MAKEFLAGS= GIT_CONFIG_COUNT=1 \
    GIT_CONFIG_KEY_0="url.$BATS_TEST_TMPDIR/source.git.insteadOf" GIT_CONFIG_VALUE_0=https://github.com/line-rate/line-rate \
    bash -c "set -e
$block" >"$work/log" 2>&1 3>&- &
  made=$!
  for _ in $(seq 1200); do
    ! grep -q 'block 1' "$work/log" && kill -0 "$made" 2>/dev/null || break
    sleep 0.25
  done
  kill -INT -- "-$made" 2>/dev/null || true
  wait "$made" || true
  cat "$work/log"
  grep -q '^blocks of about' "$work/log"
  grep -q 'block 1' "$work/log"
}
