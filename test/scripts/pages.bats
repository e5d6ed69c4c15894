#!/usr/bin/env bats
# What entries, "What we learned" and "What to do" tell a reader to type, run as it stands there, with less time. What needs
# root, perf, a network card or another host is left out. compare.bats has whole comparisons; of `lab run`, which is tested
# elsewhere, only the experiments are looked up.

bats_require_minimum_version 1.5.0
load helper

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$root" || return
  mkdir "$BATS_TEST_TMPDIR/bin"
  ln -s "$root/.tools/bin/fiber_server" "$BATS_TEST_TMPDIR/bin/server"
  # What go install would put there. A comparison may stop after its look and its warm-up, where a test has no time for blocks.
  cat >"$BATS_TEST_TMPDIR/bin/linerate" <<END
#!/bin/sh
[ "\$1" != compare ] || set -- "\$@" --at-most 2s
"$root/.tools/bin/linerate" "\$@" 2>"$BATS_TEST_TMPDIR/errors"; status=\$?
cat "$BATS_TEST_TMPDIR/errors"
[ \$status -lt 3 ] || grep -q 'are the least that tell' "$BATS_TEST_TMPDIR/errors"
END
  chmod +x "$BATS_TEST_TMPDIR/bin/linerate"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH
}

teardown() { stop_server; }

# block prints a page's first block of commands that has a word in it.
block() {
  awk -v word="$2" '/^```/ { if (inside && index(text, word)) { printf "%s", text; exit } inside = !inside; text = ""; next }
    inside { text = text $0 "\n" }' "content/$1.md"
}

# type_in runs commands as a reader would: a line that starts a server gives it time, and what still runs at the end is ended.
type_in() {
  local commands
  commands=$(sed -e '/^go install/d' -e 's,\.tools/bin/fiber_server,server,g; s,\.tools/bin/,,' \
    -e 's/-d [35]s/-d 1s/; s/-d 5 /-d 1 /' -e 's/^.*[^&]& *\(#.*\)\?$/&\nsleep 0.5/')
  run bash -euo pipefail -c "trap 'kill \$(jobs -p) 2>/dev/null || true' EXIT
    $commands"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "entries 01, 09 and 12 compare servers" {
  for page in 01-three-servers 09-profiling 12-compression; do
    type_in < <(block "journal/$page" "linerate compare")
    [[ $output =~ 'warming up'.*'are the least that tell' ]]
  done
}

@test "entry 02 overloads autocannon" {
  type_in < <(block journal/02-offered-rates autocannon)
  [[ $output =~ 'requests in 1' ]]
}

@test "entry 04 judges a row" {
  type_in < <(block journal/04-client-ceiling "linerate judge")
  [[ $output =~ 'line 2 cannot be: rate × what the quantiles leave at least for the mean, 3,010,000,' ]]
}

@test "entry 10 counts workers" {
  type_in < <(block journal/10-gomaxprocs "ps --ppid")
  [ "$(grep -cE '^ *[0-9]+ +[0-9]+$' <<<"$output")" -eq 4 ]
}

@test "entry 11 loads without and with pipelining" {
  type_in < <(block journal/11-three-flat-levers "linerate load")
  [ "$(grep -c '^requests' <<<"$output")" -eq 2 ]
}

@test "entry 13 prints eight zeros" {
  block journal/13-fan-out "package main" >"$BATS_TEST_TMPDIR/zeros.go"
  run go run "$BATS_TEST_TMPDIR/zeros.go"
  [ "$output" = "$(yes 0 | head -8)" ]
}

@test "the study of boards judges its row" {
  block journal/boards "framework,test" >"$BATS_TEST_TMPDIR/results.csv"
  run linerate judge "$BATS_TEST_TMPDIR/results.csv"
  [[ $output =~ 'line 2, django'.*'cannot be'|'line 2, django'.*'not supported' ]]
}

@test "what we learned and what to do name commands that run" {
  local typed page commands
  "$root/.tools/bin/fiber_server" --prefork=false --addr 127.0.0.1:8083 3>&- &
  server=$!
  for page in learned advice; do
    mapfile -t commands < <(grep -oE '`(linerate load |GOMAXPROCS)[^`]+`' "content/$page.md" | tr -d '`')
    for typed in "${commands[@]}"; do
      [ "$typed" != "linerate load -R 1000" ] || continue # half a command
      echo "# $typed"
      [[ $typed != *load* || $typed == *" -d "* ]] || typed+=" -d 1s"
      type_in <<<"$typed"
    done
  done
}

@test "each experiment that a page runs is there" {
  local name
  for name in $(grep -ohE 'lab run (--scratch )?[0-9a-z]+-[0-9a-z-]+' content/*.md content/journal/*.md | awk '{ print $NF }' | sort -u); do
    echo "$name"
    [ -f "lab/experiments/$name.toml" ]
  done
}
