#!/usr/bin/env bats
# trial.sh, ramp.sh, sweep.sh and server.sh, with the real servers and generators.

bats_require_minimum_version 1.5.0
load helper

teardown() { stop_server; }

@test "trial.sh prints one trial as JSON" {
  start_server
  run --separate-stderr "$scripts/trial.sh" --url "$url/simple" --connections 2 --duration 0.4
  [ "$status" -eq 0 ]
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (r.connections !== 2 || r.pipelining !== 1 || !(r["2xx"] > 0) || r.non2xx !== 0 || r.errors !== 0) process.exit(1);
  ' "$output"
}

@test "trial.sh warms up in the same process and prints the trial last" {
  start_server
  run --separate-stderr "$scripts/trial.sh" --url "$url/read" --connections 2 --pipelining 4 --duration 0.4 --warmup 0.3
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  node -e '
    const [warm, r] = process.argv.slice(1).map(s => JSON.parse(s));
    if (!r.warmup || warm.warmup || r.pipelining !== 4) process.exit(1);
  ' "${lines[0]}" "${lines[1]}"
}

@test "trial.sh uses worker threads when asked" {
  start_server
  run --separate-stderr "$scripts/trial.sh" --url "$url/simple" --connections 4 --duration 0.4 --workers 2
  [ "$status" -eq 0 ]
  node -e 'if (JSON.parse(process.argv[1]).workers !== 2) process.exit(1)' "$output"
}

@test "trial.sh pins to the cores it is given" {
  [ "$(nproc)" -ge 2 ] || skip "one core"
  start_server
  "$scripts/trial.sh" --url "$url/simple" --connections 2 --duration 3 --cpus 1 >/dev/null 2>&1 3>&- &
  client=$!
  until_true grep -q '^Cpus_allowed_list:	1$' "/proc/$client/status"
  kill "$client"
  wait "$client" || true
}

@test "trial.sh refuses a missing URL, an unknown option, an option without a value" {
  run "$scripts/trial.sh"; [ "$status" -eq 2 ]; [[ $output == *"--url is missing"* ]]
  run "$scripts/trial.sh" --rul x; [ "$status" -eq 2 ]; [[ $output == *"unknown option --rul"* ]]
  run "$scripts/trial.sh" --url; [ "$status" -eq 2 ]; [[ $output == *"--url needs a value"* ]]
}

@test "trial.sh says what to do when autocannon is not installed" {
  mkdir -p "$BATS_TEST_TMPDIR/lab/scripts"
  cp "$scripts/trial.sh" "$BATS_TEST_TMPDIR/lab/scripts/"
  run "$BATS_TEST_TMPDIR/lab/scripts/trial.sh" --url http://127.0.0.1:1/
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"autocannon is not installed"*"make setup"* ]]
}

@test "trial.sh loads with http_load when asked, on the cores it is given" {
  start_server
  run --separate-stderr "$scripts/trial.sh" --generator http_load --url "$url/read" --connections 2 --pipelining 4 --duration 0.5 --warmup 0.1 --cpus 0 --workers 1
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 3 ]
  [ "${#stderr_lines[@]}" -eq 0 ]
  node -e '
    const [warm, slot, summary] = process.argv.slice(1).map(s => JSON.parse(s));
    const r = summary.targets[0];
    if (warm.slot !== 0 || slot.slot !== 1 || summary.threads !== 1 || slot.requests !== r.requests || !(r.requests > 0)) process.exit(1);
    if (r.non2xx + r.errors + r.resets + r.timeouts > 0 || r.send_lag_s) process.exit(1);
  ' "${lines[@]}"
}

@test "trial.sh passes a rate to either generator" {
  start_server
  run --separate-stderr "$scripts/trial.sh" --generator http_load --url "$url/simple" --connections 2 --duration 1 --rate 100
  [ "$status" -eq 0 ]
  # About a hundred were due; those at the edges may fall on either side.
  node -e '
    const r = JSON.parse(process.argv[1]).targets[0];
    if (!(r.requests + r.unanswered > 95 && r.requests + r.unanswered < 105) || !r.send_lag_s) process.exit(1);
  ' "${lines[1]}"
  run --separate-stderr "$scripts/trial.sh" --url "$url/simple" --connections 2 --duration 1 --rate 100
  [ "$status" -eq 0 ]
  # The rate is held only roughly, but far below the tens of thousands of a closed loop.
  # There are as many latencies as answers, since the correction that adds made-up ones is
  # off.
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (!(r["2xx"] > 0 && r["2xx"] < 1000) || r.latency.totalCount !== r["2xx"]) process.exit(1);
  ' "$output"
}

@test "trial.sh refuses a generator that is none" {
  run "$scripts/trial.sh" --generator wrk --url http://127.0.0.1:1/
  [ "$status" -eq 2 ]
  [[ $output == *"autocannon or http_load, not 'wrk'"* ]]
}

@test "trial.sh passes on that nothing listens, and what to do without http_load" {
  run "$scripts/trial.sh" --generator http_load --url "http://127.0.0.1:$(free_port)/"
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"nothing listens there"* ]]
  mkdir -p "$BATS_TEST_TMPDIR/lab/scripts"
  cp "$scripts/trial.sh" "$BATS_TEST_TMPDIR/lab/scripts/"
  run "$BATS_TEST_TMPDIR/lab/scripts/trial.sh" --generator http_load --url http://127.0.0.1:1/
  [ "$status" -eq 3 ]
  [[ $output == *"http_load is not built"*"make .tools/bin/http_load"* ]]
}

@test "ramp.sh makes one trial for each number of connections" {
  start_server
  PAUSE=0 run --separate-stderr "$scripts/ramp.sh" --url "$url/simple" --duration 0.4 -- 2 3
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 2 ]
  node -e '
    const c = process.argv.slice(1).map(s => JSON.parse(s).connections);
    if (c.join() !== "2,3") process.exit(1);
  ' "${lines[@]}"
}

@test "sweep.sh makes one trial for each depth of pipelining" {
  start_server
  PAUSE=0 run --separate-stderr "$scripts/sweep.sh" --url "$url/simple" --connections 2 --duration 0.4 -- 1 5
  [ "$status" -eq 0 ]
  node -e '
    const p = process.argv.slice(1).map(s => JSON.parse(s).pipelining);
    if (p.join() !== "1,5") process.exit(1);
  ' "${lines[@]}"
}

@test "a sequence ends at the step that fails" {
  PAUSE=0 run --separate-stderr "$scripts/sweep.sh" --nonsense -- 1 5
  [ "$status" -ne 0 ]
  [ "${#stderr_lines[@]}" -eq 2 ]
}

@test "ramp.sh refuses a level that is no number" {
  run "$scripts/ramp.sh" --url http://127.0.0.1:1/ -- 10x
  [ "$status" -eq 2 ]
  [[ $output == *"'10x' is not a whole number"* ]]
}

@test "server.sh starts as many workers as it is told" {
  port=$(free_port)
  "$scripts/server.sh" --workers 3 -- --addr "127.0.0.1:$port" 2>"$BATS_TEST_TMPDIR/server.log" 3>&- &
  server=$!
  until_true bash -c "[ \$(grep -c listening '$BATS_TEST_TMPDIR/server.log') -eq 3 ]"
  # Each of the master's threads lists the children that it started.
  [ "$(cat /proc/"$server"/task/*/children | wc -w)" -eq 3 ]
}

@test "server.sh is replaced by the server, so its pid is the server's" {
  start_server
  [ "$(cat "/proc/$server/comm")" = fiber_server ]
}

@test "server.sh starts the null server, under its own name" {
  start_server null
  [ "$(cat "/proc/$server/comm")" = null_server ]
  run --separate-stderr "$scripts/trial.sh" --url "$url/read" --connections 2 --pipelining 4 --duration 0.4
  [ "$status" -eq 0 ]
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (!(r["2xx"] > 0) || r.non2xx + r.errors + r.resets > 0) process.exit(1);
  ' "$output"
  run "$scripts/server.sh" --server null -- --addr "${url#http://}"
  [ "$status" -eq 3 ]
  [[ $output == *"already in use"* ]]
}

@test "server.sh starts any command, with variables of its own, and becomes it" {
  run "$scripts/server.sh" --env "GREETING=good day" --env N= --cpus 0 --command -- bash -c 'echo "$GREETING$N, $1, $(taskset -cp $$)"' x "a  b"
  [ "$status" -eq 0 ]
  [[ $output == "good day, a  b, "*": 0" ]]
  run "$scripts/server.sh" --command -- no-such-program --port 1
  [ "$status" -eq 3 ]
  [ "$output" = "server.sh: no-such-program is not there, or cannot be run" ]
  run "$scripts/server.sh" --env 1=x --command -- true
  [ "$status" -eq 2 ]
  run "$scripts/server.sh" --command
  [ "$status" -eq 2 ]
}

@test "server.sh refuses a server that is none" {
  run "$scripts/server.sh" --server nginx
  [ "$status" -eq 2 ]
  [[ $output == *"fiber, null or producer, not 'nginx'"* ]]
}

@test "server.sh passes on that the port is taken" {
  start_server
  run "$scripts/server.sh" --workers 1 -- --addr "${url#http://}"
  [ "$status" -eq 3 ]
  [[ $output == *"already in use"* ]]
}

@test "every script answers --help" {
  for s in trial ramp sweep server sink; do
    run "$scripts/$s.sh" --help
    [ "$status" -eq 0 ]
    [ "${#lines[@]}" -ge 3 ]
  done
}
