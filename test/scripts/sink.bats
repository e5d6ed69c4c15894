#!/usr/bin/env bats
# sink.sh, and server.sh with the producer, with both real programs.

bats_require_minimum_version 1.5.0
load helper

teardown() { stop_server; }

@test "sink.sh prints one trial as JSON, and stops what it started" {
  start_server producer
  run --separate-stderr "$scripts/sink.sh" --producer "${url#http://}" --warmup 0.2 --duration 0.5 --cpus 0
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
  [ "${#stderr_lines[@]}" -eq 0 ]
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (r.generator !== "event_sink" || !(r.offered > 0) || r.end.added !== r.end.arrived || r.end.unaccounted !== 0 || r.limit_per_s) process.exit(1);
  ' "$output"
  run --separate-stderr "$scripts/sink.sh" --producer "${url#http://}" --duration 0.2
  [ "$status" -eq 0 ]
}

@test "sink.sh passes its options on" {
  start_server producer --interval-ms 50
  run --separate-stderr "$scripts/sink.sh" --producer "${url#http://}" --duration 0.8 --latency-ms 20 --errors-permille 200
  [ "$status" -eq 0 ]
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (!(r.refused > 0 && r.delivery_s.p50 > 0)) process.exit(1);
  ' "$output"
}

@test "sink.sh refuses a missing producer, an unknown option, an option without a value" {
  run "$scripts/sink.sh"; [ "$status" -eq 2 ]; [[ $output == *"--producer is missing"* ]]
  run "$scripts/sink.sh" --rate 1; [ "$status" -eq 2 ]; [[ $output == *"unknown option --rate"* ]]
  run "$scripts/sink.sh" --producer; [ "$status" -eq 2 ]; [[ $output == *"--producer needs a value"* ]]
  run "$scripts/sink.sh" --producer 127.0.0.1:1 --latency-ms x
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"give a whole number"* ]]
}

@test "sink.sh passes on that no producer is there, and what to do without event_sink" {
  run "$scripts/sink.sh" --producer "127.0.0.1:$(free_port)"
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"no producer is there"* ]]
  mkdir -p "$BATS_TEST_TMPDIR/lab/scripts"
  cp "$scripts/sink.sh" "$BATS_TEST_TMPDIR/lab/scripts/"
  run "$BATS_TEST_TMPDIR/lab/scripts/sink.sh" --producer 127.0.0.1:1
  [ "$status" -eq 3 ]
  [[ $output == *"event_sink is not built"*"make build"* ]]
}

@test "sink.sh is replaced by the sink, which a signal ends with the run it began" {
  start_server producer
  "$scripts/sink.sh" --producer "${url#http://}" --duration 600 >"$BATS_TEST_TMPDIR/sink.log" 2>&1 3>&- &
  sink=$!
  until_true grep -qx event_sink "/proc/$sink/comm"
  # It listens for batches, and has connected to the producer.
  connected() { [ "$(find "/proc/$sink/fd" -lname 'socket:*' | wc -l)" -ge 2 ]; }
  until_true connected
  kill "$sink"
  status=0
  wait "$sink" || status=$?
  [ "$status" -eq 1 ]
  grep -q 'ended by a signal' "$BATS_TEST_TMPDIR/sink.log"
  run "$scripts/sink.sh" --producer "${url#http://}" --duration 0.1
  [ "$status" -eq 0 ]
}

@test "server.sh starts the producer under its own name, with the threads it is told" {
  start_server producer
  [ "$(cat "/proc/$server/comm")" = event_producer ]
  tr '\0' '\n' <"/proc/$server/environ" | grep -qx GOMAXPROCS=1
  run "$scripts/server.sh" --server producer -- --addr "${url#http://}"
  [ "$status" -eq 3 ]
  [[ $output == *"already in use"* ]]
}
