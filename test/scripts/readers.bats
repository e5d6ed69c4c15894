#!/usr/bin/env bats
# readers.sh, and server.sh with a server of event streams, with both real programs.

bats_require_minimum_version 1.5.0
load helper

teardown() { stop_server; }

@test "readers.sh prints one trial as JSON, whose ledger closes" {
  url=http://127.0.0.1:$(free_port)
  "$scripts/server.sh" --command -- "$scripts/../../.tools/bin/fanout_server" --addr "${url#http://}" --apart unix 2>"$BATS_TEST_TMPDIR/server.log" 3>&- &
  server=$!
  until_true grep -q "listening addr=${url#http://}" "$BATS_TEST_TMPDIR/server.log"
  run --separate-stderr "$scripts/readers.sh" --server "${url#http://}" --connections 40 --likes 200 --writers 4 --warmup 0.3 --duration 0.5 --cpus 0
  [ "$status" -eq 0 ]
  [ "${#lines[@]}" -eq 1 ]
  [ "${#stderr_lines[@]}" -eq 0 ]
  node -e '
    const r = JSON.parse(process.argv[1]);
    if (r.generator !== "event_reader" || r.open !== 40 || !(r.events > 0) || !r.account.closed || !r.account.push) process.exit(1);
  ' "$output"
}

@test "readers.sh refuses a missing address, an unknown option, an option without a value" {
  run "$scripts/readers.sh"; [ "$status" -eq 2 ]; [[ $output == *"--server is missing"* ]]
  run "$scripts/readers.sh" --rate 1; [ "$status" -eq 2 ]; [[ $output == *"unknown option --rate"* ]]
  run "$scripts/readers.sh" --server; [ "$status" -eq 2 ]; [[ $output == *"--server needs a value"* ]]
  run "$scripts/readers.sh" --server 127.0.0.1:1 --likes x
  [ "$status" -eq 2 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"give a whole number"* ]]
}

@test "readers.sh passes on that no server is there, and what to do without event_reader" {
  run "$scripts/readers.sh" --server "127.0.0.1:$(free_port)"
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"no server is there"* ]]
  mkdir -p "$BATS_TEST_TMPDIR/lab/scripts"
  cp "$scripts/readers.sh" "$BATS_TEST_TMPDIR/lab/scripts/"
  run "$BATS_TEST_TMPDIR/lab/scripts/readers.sh" --server 127.0.0.1:1
  [ "$status" -eq 3 ]
  [[ $output == *"event_reader is not built"*"make build"* ]]
}
