#!/usr/bin/env bats
# wire.sh with real namespaces, veth and tc.

bats_require_minimum_version 1.5.0
load helper

setup() {
  unshare --user --map-root-user --net true 2>/dev/null || skip "this machine lets no user make namespaces"
  command -v ip >/dev/null && command -v tc >/dev/null || skip "iproute2 is not installed"
}

teardown() {
  [ -z "${life-}" ] || exec {life}>&-
  [ -z "${holder-}" ] || wait "$holder" 2>/dev/null || true
}

# up makes a wire that lives until the test closes $life. It sets holder, server_pid,
# client_pid and the two addresses.
up() {
  mkfifo "$BATS_TEST_TMPDIR/life"
  # A shell starts background jobs that ignore SIGINT; this one must get it.
  env --default-signal=INT "$scripts/wire.sh" up "$@" <"$BATS_TEST_TMPDIR/life" >"$BATS_TEST_TMPDIR/wire.out" 2>&1 3>&- &
  holder=$!
  exec {life}>"$BATS_TEST_TMPDIR/life"
  until_true grep -q '^wire ready' "$BATS_TEST_TMPDIR/wire.out"
  local pair
  for pair in $(grep '^wire ready' "$BATS_TEST_TMPDIR/wire.out"); do
    case $pair in *=*) printf -v "${pair%%=*}" %s "${pair#*=}" ;; esac
  done
}

# sleep_on starts a sleep on one side. It sets inside, the pid of the command that
# entered, and child, the pid of the sleep.
sleep_on() {
  "$scripts/wire.sh" in "$1" "$2" -- sleep 300 3>&- {life}>&- &
  inside=$!
  until_true pgrep -P "$inside" sleep
  child=$(pgrep -P "$inside" sleep)
}

@test "both sides have a shaper of the asked rate, and reach each other" {
  up --rate 300000000 --burst 100000
  for side in server client; do
    pid=${side}_pid dev=${side}_dev
    run "$scripts/wire.sh" in "$side" "${!pid}" -- tc qdisc show dev "${!dev}"
    [[ $output == *"tbf"*"rate 300Mbit"* ]]
  done
  run "$scripts/wire.sh" in client "$client_pid" -- python3 -c "
import socket, sys
try: socket.create_connection((sys.argv[1], 9), 2)
except ConnectionRefusedError: print('reached')
" "$server_addr"
  [ "$output" = reached ]
}

@test "the two sides are namespaces of their own, without a way out" {
  up
  s=$(readlink "/proc/$server_pid/ns/net") c=$(readlink "/proc/$client_pid/ns/net")
  [ "$s" != "$c" ] && [ "$s" != "$(readlink /proc/self/ns/net)" ] && [ "$c" != "$(readlink /proc/self/ns/net)" ]
  run "$scripts/wire.sh" in client "$client_pid" -- ip route show default
  [ -z "$output" ]
}

@test "a large answer takes as long as the rate says, by the interface's counters" {
  up --rate 50000000
  "$scripts/wire.sh" in server "$server_pid" -- python3 -c "
import socket
l = socket.create_server(('$server_addr', 9000)); c, _ = l.accept(); c.sendall(bytes(5_000_000)); c.close()" 3>&- {life}>&- &
  # Five megabytes at 50 Mbit/s take 0.8 s; at twice the rate they would take half of
  # that.
  run "$scripts/wire.sh" in client "$client_pid" -- python3 -c "
import socket, time
for _ in range(200):
    try: c = socket.create_connection(('$server_addr', 9000)); break
    except OSError: time.sleep(.02)
n = 0
start = time.monotonic()
while (b := c.recv(1 << 20)): n += len(b)
print(n, n * 8 / (time.monotonic() - start) <= 55e6)"
  [ "$output" = "5000000 True" ]
  sent=$(awk '/wire-server:/ { print $10 }' "/proc/$server_pid/net/dev")
  [ "$sent" -ge 5000000 ]
}

@test "all that runs inside ends with the wire" {
  up
  sleep_on server "$server_pid"
  exec {life}>&-
  until_true gone "$server_pid"
  until_true gone "$client_pid"
  until_true gone "$child"
}

@test "kill -9 of the holder leaves no namespace and no process" {
  up
  sleep_on client "$client_pid"
  kill -9 "$holder"
  until_true gone "$client_pid"
  until_true gone "$server_pid"
  until_true gone "$child"
}

@test "SIGTERM and SIGINT end the wire" {
  for sig in TERM INT; do
    up
    kill -"$sig" "$client_pid"
    until_true gone "$client_pid"
    until_true gone "$server_pid"
    exec {life}>&-
    rm "$BATS_TEST_TMPDIR/life"
  done
}

@test "killing what runs inside from outside kills the command too" {
  up
  sleep_on client "$client_pid"
  kill -9 "$inside"
  until_true gone "$child"
}

@test "wrong calls are refused with one line" {
  run "$scripts/wire.sh" in middle 1 -- true; [ "$status" -eq 2 ]; [ "${#lines[@]}" -eq 1 ]
  run "$scripts/wire.sh" in server x -- true; [ "$status" -eq 2 ]; [[ $output == *"not a PID"* ]]
  run "$scripts/wire.sh" in server 1; [ "$status" -eq 2 ]; [[ $output == *"command is missing"* ]]
  run "$scripts/wire.sh" in server 4194999 -- true; [ "$status" -eq 3 ]; [[ $output == *"no process"* ]]
  run "$scripts/wire.sh" up --speed 1; [ "$status" -eq 2 ]; [[ $output == *"unknown option --speed"* ]]
}

@test "without namespaces it says how to allow them" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  # A test cannot get a kernel that refuses, so a fake unshare refuses.
  printf '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/unshare"
  chmod +x "$BATS_TEST_TMPDIR/bin/unshare"
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$scripts/wire.sh" up
  [ "$status" -eq 4 ]
  [[ $output == *"Operation not permitted"*"run as root, or allow them"* ]]
}

@test "without iproute2 it names the package" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  for tool in bash env dirname cat; do ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/bin/"; done
  PATH=$BATS_TEST_TMPDIR/bin run "$scripts/wire.sh" up
  [ "$status" -eq 3 ]
  [[ $output == *"ip is not installed"*"iproute2"* ]]
}
