#!/usr/bin/env bats
# fleet.sh with real namespaces, links and sshds.

bats_require_minimum_version 1.5.0
load helper

setup() {
  unshare --user --map-root-user --net true 2>/dev/null || skip "this machine lets no user make namespaces"
  command -v ip >/dev/null && command -v tc >/dev/null || skip "iproute2 is not installed"
  dir=$BATS_TEST_TMPDIR/fleet
}

teardown() {
  [ -z "${life-}" ] || exec {life}>&-
  [ -z "${holder-}" ] || wait "$holder" 2>/dev/null || true
}

# up makes a fleet in $dir that lives until the test closes $life. It sets holder and
# holder_pid.
up() {
  PATH=$PATH:/usr/sbin type -P sshd || [ -x "$BATS_TEST_DIRNAME/../../.tools/sshd/usr/sbin/sshd" ] || skip "no sshd (Debian and Ubuntu: apt-get install openssh-server)"
  mkfifo "$BATS_TEST_TMPDIR/life"
  # A shell starts background jobs that ignore SIGINT; this one must get it.
  env --default-signal=INT "$scripts/fleet.sh" up --dir "$dir" "$@" <"$BATS_TEST_TMPDIR/life" >"$BATS_TEST_TMPDIR/fleet.out" 2>&1 3>&- &
  holder=$!
  exec {life}>"$BATS_TEST_TMPDIR/life"
  until_true grep -q '^fleet ready' "$BATS_TEST_TMPDIR/fleet.out"
  holder_pid=$(sed 's/.*holder_pid=//' "$BATS_TEST_TMPDIR/fleet.out")
}

# on runs a command on a host.
on() { "$scripts/fleet.sh" in --dir "$dir" "$1" -- "${@:2}"; }

# over runs a command on a host that the controller reaches over SSH, by the inventory.
over() {
  local address
  address=$(sed -n "/^    ${1/%server/server0}:/,/ansible_host/s/.*ansible_host: //p" "$dir/inventory.yml")
  # shellcheck disable=SC2046 # the options are words
  on controller ssh -o BatchMode=yes $(value ansible_ssh_common_args) -i "$(value ansible_ssh_private_key_file)" -p "$(value ansible_port)" "$(value ansible_user)@$address" "${@:2}"
}

value() { sed -n "s/^ *$1: //p" "$dir/inventory.yml"; }

# pids prints the processes inside the fleet that the outside sees.
pids() { awk '{ print $2 }' "$dir/pids"; }

all_gone() {
  local pid
  for pid in "${inside[@]}"; do gone "$pid" || return; done
}

@test "the controller reaches each host over SSH, and each is a host of its own" {
  up --clients 2
  run over server hostname; [ "$output" = server.fleet.test ]
  run over client1 hostname; [ "$output" = client1.fleet.test ]
  # Its own directory, its own processes, its own interfaces.
  run over client2 'pwd; ps -eo comm= | sort -u; ls /sys/class/net'
  [ "${lines[0]}" = "$dir/client2/home" ]
  [[ $output == *sshd* && $output != *sleep* ]]
  [[ $output == *$'fleet0\nlo' ]]
}

@test "each link has its own rate, both ways, and the last rate is that of further clients" {
  up --clients 3 --rate 900000000 --client-rates 100000000,200000000
  for pair in server:900 client1:100 client2:200 client3:200; do
    run on "${pair%:*}" tc qdisc show dev fleet0
    [[ $output == *"rate ${pair#*:}Mbit"* ]]
    grep -A 4 "line_rate_dir: $dir/${pair%:*}/" "$dir/inventory.yml" | grep -q "line_rate_bps: ${pair#*:}000000$"
  done
  # The other direction is shaped where the link joins the bridge.
  run nsenter --target "$holder_pid" --user --preserve-credentials --net tc qdisc show
  [[ $output == *"dev port1 "*"rate 900Mbit"* && $output == *"dev port2 "*"rate 100Mbit"* && $output == *"dev port4 "*"rate 200Mbit"* ]]
}

@test "the inventory is one that Ansible reads" {
  ansible=$BATS_TEST_DIRNAME/../../.tools/ansible/bin/ansible-inventory
  [ -x "$ansible" ] || skip "Ansible is not installed: make ansible"
  up --clients 2
  run --separate-stderr "$ansible" -i "$dir/inventory.yml" --list
  [ "$status" -eq 0 ]
  [ -z "$stderr" ]
  run python3 -c "
import json, sys
all = json.loads(sys.argv[1])
print(all['server']['hosts'], all['clients']['hosts'], all['_meta']['hostvars']['client2']['line_rate_bps'])" "$output"
  [ "$output" = "['server0'] ['client1', 'client2'] 500000000" ]
}

@test "two fleets are up at once, and a directory holds one" {
  up --clients 1
  coproc OTHER { exec "$scripts/fleet.sh" up --clients 1 --dir "$dir-2" 3>&-; }
  # The shell unsets OTHER_PID as soon as it reaps the coprocess, which may be before the wait.
  # shellcheck disable=SC2154 # OTHER_PID is set by coproc
  other=$OTHER_PID
  read -r -t 10 line <&"${OTHER[0]}"
  [[ $line == "fleet ready"* ]]
  run "$scripts/fleet.sh" up --dir "$dir"
  [ "$status" -eq 2 ]
  [[ $output == *"already up in $dir"* ]]
  run over client1 hostname; [ "$output" = client1.fleet.test ]
  exec {OTHER[1]}>&-
  wait "$other"
}

@test "all that runs inside ends with the fleet, what was started over SSH too" {
  up --clients 1
  over client1 sleep 300 3>&- {life}>&- &
  until_true on client1 pgrep -x sleep
  # shellcheck disable=SC2009 # by the namespace
  mapfile -t inside < <(pids; ps -eo pidns,pid | awk -v ns="$(readlink "/proc/$(sed -n 's/^client1 \([0-9]*\).*/\1/p' "$dir/pids")/ns/pid" | tr -dc 0-9)" '$1 == ns { print $2 }')
  [ "${#inside[@]}" -ge 5 ]
  exec {life}>&-
  until_true all_gone
}

@test "kill -9 of the holder leaves no namespace and no process" {
  up --clients 1
  mapfile -t inside < <(pids)
  kill -9 "$holder"
  until_true all_gone
  run "$scripts/fleet.sh" in --dir "$dir" client1 -- true; [ "$status" -eq 3 ]; [[ $output == *"has ended"* ]]
}

@test "SIGTERM and SIGINT end the fleet" {
  for sig in TERM INT; do
    up --clients 1
    mapfile -t inside < <(pids)
    kill -"$sig" "$holder_pid"
    until_true all_gone
    exec {life}>&-
    rm "$BATS_TEST_TMPDIR/life"
  done
}

@test "wrong calls are refused with one line" {
  run "$scripts/fleet.sh" in; [ "$status" -eq 2 ]; [ "${#lines[@]}" -eq 1 ]
  run "$scripts/fleet.sh" in client1; [ "$status" -eq 2 ]; [[ $output == *"command is missing"* ]]
  run "$scripts/fleet.sh" in --dir "$dir" client1 -- true; [ "$status" -eq 3 ]; [[ $output == *"no fleet in"* ]]
  run "$scripts/fleet.sh" up --speed 1; [ "$status" -eq 2 ]; [[ $output == *"unknown option --speed"* ]]
  run "$scripts/fleet.sh" up --clients none; [ "$status" -eq 2 ]; [[ $output == *"--clients needs a whole number"* ]]
  run "$scripts/fleet.sh" up --queue long; [ "$status" -eq 2 ]; [[ $output == *"not 'long'"* ]]
  run "$scripts/fleet.sh" up --client-rates 1000000,fast; [ "$status" -eq 2 ]; [[ $output == *"not 'fast'"* ]]
  run "$scripts/fleet.sh" up --dir "$BATS_TEST_TMPDIR/two words"; [ "$status" -eq 2 ]; [ "${#lines[@]}" -eq 1 ]
}

@test "a host that the fleet has not is named with those that it has" {
  up --clients 1
  run on client2 true
  [ "$status" -eq 2 ]
  [[ $output == *"no client2; it has server, client1, controller" ]]
}

@test "without namespaces it says how to allow them" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  # A test cannot get a kernel that refuses, so a fake unshare refuses.
  printf '#!/bin/sh\necho "unshare: unshare failed: Operation not permitted" >&2\nexit 1\n' >"$BATS_TEST_TMPDIR/bin/unshare"
  printf '#!/bin/sh\n' >"$BATS_TEST_TMPDIR/bin/sshd"
  chmod +x "$BATS_TEST_TMPDIR"/bin/*
  PATH=$BATS_TEST_TMPDIR/bin:$PATH run "$scripts/fleet.sh" up --dir "$dir"
  [ "$status" -eq 4 ]
  [[ $output == *"Operation not permitted"*"run as root, or allow them"* ]]
}

@test "without iproute2 it names the package" {
  mkdir "$BATS_TEST_TMPDIR/bin"
  for tool in bash env dirname cat; do ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/bin/"; done
  PATH=$BATS_TEST_TMPDIR/bin run "$scripts/fleet.sh" up --dir "$dir"
  [ "$status" -eq 3 ]
  [[ $output == *"ip is not installed"*"iproute2"* ]]
}

# without_sshd runs a command where no sshd is installed.
without_sshd() {
  unshare --user --map-root-user --mount bash -c 'for at in $(PATH=$PATH:/usr/sbin type -ap sshd); do mount -n --bind /dev/null "$at"; done; exec "$@"' bash "$@"
}

@test "without an sshd it names the package and the target, and with neither so does make sshd" {
  mkdir -p "$BATS_TEST_TMPDIR"/{lab/scripts,tools,bin}
  cp "$scripts/fleet.sh" "$BATS_TEST_TMPDIR/lab/scripts/"
  cp "$BATS_TEST_DIRNAME/../../tools/sshd.sh" "$BATS_TEST_TMPDIR/tools/"
  run without_sshd "$BATS_TEST_TMPDIR/lab/scripts/fleet.sh" up
  [ "$status" -eq 3 ]
  [[ $output == *"apt-get install openssh-server; make sshd fetches it"* ]]
  for tool in bash env dirname unshare mount; do ln -s "$(command -v $tool)" "$BATS_TEST_TMPDIR/bin/"; done
  PATH=$BATS_TEST_TMPDIR/bin run without_sshd "$BATS_TEST_TMPDIR/tools/sshd.sh"
  [ "$status" -eq 0 ]
  [ "$output" = "not applicable: no sshd (Debian and Ubuntu: apt-get install openssh-server)" ]
  [ ! -e "$BATS_TEST_TMPDIR/.tools" ]
}
