#!/usr/bin/env bats
# What pages tell a reader to type, run as it stands there, with less time. compare.bats has the first commands of the page on
# comparisons, tune.bats the kernel settings, and load.bats the scripts. test/commands has what takes longer: downloads, a
# contribution and runs of the lab, whose words alone are read here.

bats_require_minimum_version 1.5.0
load helper

setup() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$root" || return
  export XDG_RUNTIME_DIR=$BATS_TEST_TMPDIR # a comparison excludes runs of other tests
  bin=$BATS_TEST_TMPDIR/bin
  mkdir "$bin"
  ln -s "$root/.tools/bin/fiber_server" "$bin/server"
  ln -s "$root/.tools/bin/lab" "$bin/lab"
  # What go install would put there. A comparison may stop after its look and its warm-up, where a test has no time for blocks.
  cat >"$bin/linerate" <<END
#!/bin/sh
[ "\$1" != compare ] || { shift; set -- compare --at-most 2s \$QUICK "\$@"; }
"$root/.tools/bin/linerate" "\$@" 2>"$BATS_TEST_TMPDIR/errors"; status=\$?
cat "$BATS_TEST_TMPDIR/errors"
[ \$status -lt 3 ] || grep -q 'are the least that tell' "$BATS_TEST_TMPDIR/errors"
END
  chmod +x "$bin/linerate"
  plain_sudo "$bin"
  PATH=$bin:$PATH
  started=()
  mapfile -t pages < <(pages)
}

teardown() {
  stop_server
  [ "${#started[@]}" -eq 0 ] || kill "${started[@]}" 2>/dev/null || true
}

# type_in runs commands as a reader would, by the words that it has as arguments: a line that starts a server gives it time,
# and what still runs at the end is ended.
type_in() {
  local commands
  commands=$(sed -e '/^go install/d' -e 's,\.tools/bin/fiber_server,server,g; s,\.tools/bin/,,' \
    -e 's/-d \(3\|5\|10\)s/-d 1s/; s/-d 5 /-d 1 /' -e 's/^.*[^&]& *\(#.*\)\?$/&\nsleep 0.5/')
  run "$@" bash -euo pipefail -c "trap 'kill \$(jobs -p) 2>/dev/null || true' EXIT
    $commands"
  echo "$output"
  [ "$status" -eq 0 ]
}

@test "entries 01, 09 and 12 compare servers" {
  export QUICK='--warmup 50ms'
  for page in 01-three-servers 09-profiling 12-compression; do
    type_in < <(block "journal/$page" "linerate compare")
    [[ $output == *'are the least that tell'* || $output == *'CPU a request'* ]]
  done
}

@test "entry 01 shows two writes and one, and three pages count calls" {
  strace -o "$BATS_TEST_TMPDIR/none" true || skip "there is no strace, or it may not trace here"
  local typed calling words url tracer calls=$BATS_TEST_TMPDIR/calls
  url=127.0.0.1:$(free_port)
  while read -ra words; do
    echo "# ${words[*]}"
    "${words[@]}" --addr "$url" 2>"$calls" 3>&- &
    tracer=$!
    started+=("$tracer")
    until_true linerate load -n 20 -c 1 "http://$url/read"
    kill "$(pgrep -P "$tracer")"
    wait "$tracer" || true
    grep -E 'write\([0-9]+, "HTTP/1.1 200 OK' "$calls"
    if [ "${words[-1]}" = 8192 ]; then run ! grep ' = 4096$' "$calls"; else grep ', 4096) = 4096$' "$calls"; fi
  done < <(block journal/01-three-servers strace | sed -n 's/^\$ //p')
  server --prefork=false --addr "$url" 3>&- &
  server=$!
  mapfile -t typed < <(grep -ohE '`strace [^`]*-p PID`' "${pages[@]}" | tr -d '`' | sort -u)
  [ "${#typed[@]}" -ge 3 ]
  for calling in "${typed[@]}"; do
    echo "# $calling"
    read -ra words <<<"${calling/PID/$server}"
    "${words[@]}" 2>"$calls" 3>&- &
    tracer=$!
    started+=("$tracer")
    until_true grep -q attached "$calls"
    until_true linerate load -n 50 -c 1 "http://$url/read"
    kill "$tracer"
    wait "$tracer" || true
    grep -E ' write$' "$calls"
  done
}

@test "entry 02 overloads autocannon" {
  type_in < <(block journal/02-offered-rates autocannon)
  [[ $output =~ 'requests in 1' ]]
}

@test "entry 03 turns RPS on, on a loopback of its own" {
  [ "$(id -u)" = 0 ] || skip "RPS needs root"
  [ "$(nproc)" -ge 2 ] || skip "RPS needs a second core to hand packets to"
  perf stat -e task-clock true || skip "there is no perf, or it may not count here"
  grep -q CAL: /proc/interrupts || skip "this processor does not count calls from core to core"
  local alone=(unshare --mount --net --pid --fork --mount-proc) loopback='mount -t sysfs none /sys; ip link set lo up'
  "${alone[@]}" sh -ec "$loopback; test -w /sys/class/net/lo/queues/rx-0/rps_cpus" || skip "there are no namespaces here"
  type_in "${alone[@]}" < <(echo "$loopback"; block journal/03-rps-rfs rps_cpus)
  [ "$(grep -c 'task-clock' <<<"$output")" -eq 2 ]
  [ "$(grep -c '^requests' <<<"$output")" -eq 2 ]
  [[ $output == *CAL:*"Function call"* ]]
}

@test "entry 04 judges a row" {
  type_in < <(block journal/04-client-ceiling "linerate judge")
  [[ $output =~ 'line 2 cannot be: rate × what the quantiles leave at least for the mean, 3,010,000,' ]]
}

@test "entry 06 reads the states of all cores, and interrupts" {
  command -v mpstat >/dev/null || skip "there is no mpstat"
  grep -q eth0 /proc/interrupts && [ -r /proc/irq/24/smp_affinity_list ] || skip "there is no network card with queues"
  type_in < <(block journal/06-irq-pinning mpstat | sed 's/ 5 1$/ 1 1/')
  [[ $output =~ '%soft' ]]
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

@test "the study of boards judges its row, by the tool and by its rule" {
  block journal/boards "framework,test" >"$BATS_TEST_TMPDIR/results.csv"
  run linerate judge "$BATS_TEST_TMPDIR/results.csv"
  [[ $output =~ 'line 2, django'.*'cannot be'|'line 2, django'.*'not supported' ]]
  python3 - <<END
row = {"rate": 1937612 / 15, "mean_s": 0.00366, "connections": 256, "depth": 1, "longest_s": 0.04583, "duration_s": 15}
$(block journal/boards under_way)
assert row["mean_s"] is None
END
  local board
  board=$(block journal/boards data/boards)
  [[ $board == "linerate judge data/boards/"* ]]
  type_in <<<"$board"
}

@test "the page on judging reads a text, a load generator and a table" {
  local typed said line
  typed=$(block judge "linerate judge")
  said=$(block judge "line 3, slow")
  printf '#!/bin/sh\ncat %q\n' "$root/lab/internal/law/testdata/tools/wrk-text.txt" >"$bin/wrk"
  chmod +x "$bin/wrk"
  cd "$BATS_TEST_TMPDIR"
  cat >README.md <<'END'
| name | connections | req/s | mean (ms) |
|---|---|---|---|
| slow | 64 | 1000.0 | 100.0 |
| idle | 800 | 120.0 | 10.0 |
END
  printf 'name,req/s,mean (ms)\na,1000.0,60.0\n' >results.csv
  type_in <<<"$typed"
  while read -r line; do
    grep -F "$line" <<<"$output"
  done <<<"$said"
  grep -F 'of 1 row, 1 adds up' <<<"$output"
}

@test "the page on comparisons: a request with a body, servers that run, one server" {
  export QUICK='--warmup 50ms'
  local typed one two
  one=$(free_port) two=$(free_port)
  typed=$(block compare /orders; block compare pid:1234; block compare 'linerate load')
  cd "$BATS_TEST_TMPDIR"
  servers_in .
  echo '{"item": 7}' >order.json
  ./server-old --port "$one" 3>&- & started+=("$!")
  ./server-new --port "$two" 3>&- & started+=("$!")
  # A cgroup of its own needs root, so the second is a process as well.
  type_in < <(sed "s/1234@127.0.0.1:8080/${started[0]}@127.0.0.1:$one/; s/:8080/:$one/
    s,cgroup:[^@]*@127.0.0.1:8081,pid:${started[1]}@127.0.0.1:$two," <<<"$typed")
  [ "$(grep -c '^requests' <<<"$output")" -eq 1 ]
}

@test "the page on comparisons: two revisions, and git bisect" {
  export QUICK='--warmup 50ms' GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
  local two bisect n
  two=$(block compare "--base main") bisect=$(block compare "git bisect")
  servers_in "$BATS_TEST_TMPDIR"
  git init --quiet -b main "$BATS_TEST_TMPDIR/project"
  cd "$BATS_TEST_TMPDIR/project"
  printf 'server:\n\tcp %s $@\n' "$BATS_TEST_TMPDIR/server-old" >Makefile
  git add Makefile
  for n in 1 2 3; do
    git commit --quiet --allow-empty -m "$n"
    [ "$n" -gt 1 ] || git tag v1.4
  done
  type_in <<<"$two"
  [[ $output == *"are the least that tell"* || $output == *"CPU a request"* ]]
  type_in <<<"$bisect"
  [[ $output == *"first bad commit"* ]]
}

@test "what we learned and what to do name commands that run" {
  export QUICK='--warmup 50ms'
  local typed page commands
  "$root/.tools/bin/fiber_server" --prefork=false --addr 127.0.0.1:8083 3>&- &
  server=$!
  for page in learned advice; do
    mapfile -t commands < <(grep -oE '`(linerate (load|compare) |GOMAXPROCS)[^`]+`' "content/$page.md" | tr -d '`')
    for typed in "${commands[@]}"; do
      [ "$typed" != "linerate load -R 1000" ] || continue # half a command
      echo "# $typed"
      [[ $typed != *load* || $typed == *" -d "* ]] || typed+=" -d 1s"
      type_in <<<"$typed"
    done
  done
}

@test "each call of the lab names experiments, options and commands that are there" {
  local call words
  # A word that is no experiment ends a call before it measures.
  while read -r call; do
    echo "$call"
    read -ra words <<<"$call"
    run "${words[@]}" nothing
    [[ $output == *'no experiment and no entry "nothing"'* || $output == *"--all: one of these"* ]]
  done < <(lab_runs)
  while read -r call; do
    echo "$call"
    read -ra words <<<"$call"
    run "${words[@]}" --help
    [ "$status" -eq 0 ]
  done < <(grep -ohE '(^|`|/)lab (run|check|site --serve|doctor|new [a-z]+|tune [a-z]+)\b' "${pages[@]}" |
    sed 's/^[^l]//' | sort -u)
}

@test "each target of make that a page names is there, and each option of a tool" {
  local word targets options
  targets=$(make --no-print-directory help | awk '{ print $1 }')
  for word in $(grep -ohE '(^|`|&& )make [a-z]+( [a-z]+)*' "${pages[@]}" |
    sed 's/.*make //' | tr ' ' '\n' | sort -u); do
    echo "make $word"
    grep -qxF "$word" <<<"$targets"
  done
  options=$(python3 tools/calibrate.py --help)
  for word in $(block calibration 'make calibrate' | grep -oE -- '--[a-z]+'); do
    echo "$word"
    grep -qF -- "$word" <<<"$options"
  done
}

@test "linerate doctor and lab doctor look at this machine" {
  local tool
  for tool in linerate lab; do
    run "$root/.tools/bin/$tool" doctor
    echo "$output"
    [ "$status" -lt 3 ]
  done
}

@test "README compares as the page on comparisons does" {
  grep -F "$(block compare 'go install' | tail -n 1)" README.md
}

@test "a release has the archive that the page on comparisons downloads" {
  local name
  name=$(block compare 'curl ' | grep -oE 'linerate-linux-[a-z0-9]+')
  grep -qF "pack \"${name%-*}-\$arch\"" tools/release.sh
  grep -qE "for arch in .*\b${name##*-}\b" tools/release.sh
}
