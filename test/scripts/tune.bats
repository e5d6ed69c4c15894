#!/usr/bin/env bats
# The tuning scripts as a reader types them. They write to a made-up tree, so that the
# machine itself is left alone. The Go tests of lab/internal/tune show, in namespaces,
# that the kernel accepts what they write.

bats_require_minimum_version 1.5.0
load helper

setup() {
  [ -x "$scripts/../../.tools/bin/lab" ] || skip "lab is not built; run 'make build'"
  export LINE_RATE_STATE=$BATS_TEST_TMPDIR/state
  unset LINE_RATE_TUNE_ROOT
}

# tree makes the files of a machine with eight cores, whose interface ens5 has two queues
# and the interrupts 28 and 29, with 27 for management, laid out as the kernel's
# documentation says. The scripts see it in place of the machine's own /proc and /sys.
tree() {
  root=$BATS_TEST_TMPDIR/tree
  export LINE_RATE_TUNE_ROOT=$root
  local q dev=$root/sys/devices/pci0000:00/0000:00:05.0/net/ens5
  write /sys/devices/system/cpu/possible 0-7
  write /sys/devices/system/cpu/online 0-7
  mkdir -p "$dev" "$root/sys/class/net" "${dev%/net/*}/msi_irqs"
  ln -s ../../devices/pci0000:00/0000:00:05.0/net/ens5 "$root/sys/class/net/ens5"
  ln -s ../../../0000:00:05.0 "$dev/device"
  write /sys/class/net/ens5/ifindex 2
  for q in 0 1; do
    mkdir -p "$dev/queues/rx-$q" "$dev/queues/tx-$q"
    write "/sys/class/net/ens5/queues/rx-$q/rps_cpus" 00
    write "/sys/class/net/ens5/queues/rx-$q/rps_flow_cnt" 0
    write "/sys/class/net/ens5/queues/tx-$q/xps_cpus" 00
  done
  for q in 27 28 29; do
    echo msix >"${dev%/net/*}/msi_irqs/$q"
    write "/proc/irq/$q/smp_affinity_list" 0-7
  done
  mkdir "$root/proc/irq/27/ena-mgmnt@pci:0000:00:05.0" "$root/proc/irq/28/ens5-Tx-Rx-0" "$root/proc/irq/29/ens5-Tx-Rx-1"
  write /proc/sys/net/core/rps_sock_flow_entries 0
}

write() {
  mkdir -p "$(dirname "$root$1")"
  printf '%s\n' "$2" >"$root$1"
}

# all prints the tree, byte for byte.
all() { (cd "$root" && find . -type f -exec sha256sum {} + | sort -k 2); }

refused() {
  [ "$status" -eq 3 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"$1"* ]]
}

@test "every script says how it is called" {
  local n=0
  for script in "$scripts"/tune-*.sh; do
    n=$((n + 1))
    for flag in -h --help; do
      run "$script" "$flag"
      [ "$status" -eq 0 ]
      [[ $output == *"lab/scripts/$(basename "$script") "* ]]
    done
  done
  [ "$n" -eq "$(grep -c "knob = {" "$scripts/../internal/setting/settings.toml")" ]
}

@test "without lab they say what to build, in one line" {
  mkdir -p "$BATS_TEST_TMPDIR/lab/scripts"
  cp "$scripts"/tune*.sh "$BATS_TEST_TMPDIR/lab/scripts/"
  for script in "$BATS_TEST_TMPDIR"/lab/scripts/tune-*.sh; do
    run "$script" show
    refused "$(basename "$script"): lab is not built; run 'make build'"
    run "$script" -h
    [ "$status" -eq 0 ]
  done
}

@test "plan is the default, needs no root, changes nothing" {
  tree
  before=$(all)
  for call in "rps --dev ens5 --cpus 6-7" "rfs --dev ens5" "irq-pin --dev ens5 --cpus 6-7"; do
    read -ra words <<<"$call"
    run as_nobody "$scripts/tune-${words[0]}.sh" "${words[@]:1}"
    [ "$status" -eq 0 ] || { echo "$call: $output"; false; }
    [[ ${lines[0]} == PATH*NOW*WANTED ]]
    [[ $output == *"; nothing was changed" ]]
  done
  [ "$(all)" = "$before" ]
  [ ! -e "$LINE_RATE_STATE" ]
}

# as_nobody runs a command without root's rights, if it has any and others may read the
# clone.
as_nobody() {
  local nobody=(setpriv --reuid 65534 --regid 65534 --clear-groups)
  chmod -R o+rX "$BATS_TEST_TMPDIR"
  if [ "$(id -u)" = 0 ] && "${nobody[@]}" test -x "$1" && "${nobody[@]}" test -r "$root/proc/irq/28/smp_affinity_list"; then
    "${nobody[@]}" "$@"
  else
    "$@"
  fi
}

@test "a plan names every file, its value and the one it would have" {
  tree
  run "$scripts/tune-rps.sh" --dev ens5 --cpus 6-7
  [[ ${lines[1]} =~ ^/sys/class/net/ens5/queues/rx-0/rps_cpus\ +00\ +c0$ ]]
  [[ ${lines[2]} =~ ^/sys/class/net/ens5/queues/rx-1/rps_cpus\ +00\ +c0$ ]]
  [ "${lines[3]}" = "plan: 2 writes; nothing was changed" ]
  run "$scripts/tune-irq-pin.sh" --dev ens5 --cpus 6-7
  [[ ${lines[1]} =~ ^/proc/irq/28/smp_affinity_list\ +0-7\ +6$ ]]
  [[ ${lines[2]} =~ ^/proc/irq/29/smp_affinity_list\ +0-7\ +7$ ]]
}

@test "apply, plan, show, restore" {
  tree
  before=$(all)
  run "$scripts/tune-rfs.sh" apply --dev ens5
  [ "$status" -eq 0 ]
  run "$scripts/tune-rfs.sh" plan --dev ens5
  [ "${lines[-1]}" = "plan: 0 writes; nothing was changed" ]
  "$scripts/tune-rfs.sh" apply --dev ens5 --entries 1024
  run "$scripts/tune-rfs.sh" show
  [[ $output == *"rps_sock_flow_entries"*"1024"*"0"* ]]
  "$scripts/tune-rps.sh" apply --dev ens5
  run "$scripts/tune-rfs.sh" restore
  [ "$output" = "3 originals restored, all read back" ]
  run "$scripts/../../.tools/bin/lab" tune restore
  [ "$output" = "2 originals restored, all read back" ]
  [ "$(all)" = "$before" ]
}

@test "what pages say, plan, apply and restore" {
  tree
  before=$(all)
  cd "$scripts/../.."
  local call
  while read -ra call; do
    echo "${call[*]}"
    "${call[@]}"
  done < <(grep -ohE 'lab/scripts/tune-(rps|rfs|irq-pin)\.sh (plan|apply|restore).*' content/*.md content/journal/*.md | sed 's/enp95s0/ens5/')
  .tools/bin/lab tune restore
  [ "$(all)" = "$before" ]
}

@test "a hold lasts as long as its standard input" {
  tree
  before=$(all)
  mkfifo "$BATS_TEST_TMPDIR/life"
  "$scripts/tune-rps.sh" hold --dev ens5 <"$BATS_TEST_TMPDIR/life" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  held=$!
  exec {life}>"$BATS_TEST_TMPDIR/life"
  until_true grep -qx 'tune ready' "$BATS_TEST_TMPDIR/out"
  [ "$(cat "$root/sys/class/net/ens5/queues/rx-1/rps_cpus")" = ff ]
  run "$scripts/tune-rps.sh" hold --dev ens5 --cpus 1 {life}>&-
  refused "restore it first: tune-rps.sh restore"
  exec {life}>&-
  wait "$held"
  [ "$(all)" = "$before" ]
}

@test "what a hold that was killed has left is restored by the next command" {
  tree
  before=$(all)
  mkfifo "$BATS_TEST_TMPDIR/life"
  "$scripts/tune-rps.sh" hold --dev ens5 <"$BATS_TEST_TMPDIR/life" >"$BATS_TEST_TMPDIR/out" 2>&1 3>&- &
  held=$!
  exec {life}>"$BATS_TEST_TMPDIR/life"
  until_true grep -qx 'tune ready' "$BATS_TEST_TMPDIR/out"
  kill -9 "$held"
  until_true gone "$held"
  "$scripts/tune-rfs.sh" apply --table-only
  "$scripts/tune-rfs.sh" restore
  [ "$(all)" = "$before" ]
  exec {life}>&-
}

@test "what does not fit is refused in one line, and nothing is written" {
  tree
  before=$(all)
  run "$scripts/tune-rps.sh" apply --dev ens5 --cpus 8; refused "this machine has no core 8: 0-7 are online"
  run "$scripts/tune-rps.sh" apply --dev eth7; refused 'there is no interface "eth7" here'
  run "$scripts/tune-rps.sh" apply; refused '--dev: there is no interface "" here'
  run "$scripts/tune-rfs.sh" apply --dev ens5 --entries 30000; refused "no power of two"
  run "$scripts/tune-rfs.sh" apply --dev ens5 --table-only --queues-only; refused "can't be used together"
  run "$scripts/tune-irq-pin.sh" apply --dev ens5 --cpus 112-127; refused "no core 112"
  run "$scripts/tune-rps.sh" aply --dev ens5; refused '<action> must be one of "plan","show","apply"'
  write /proc/812/comm irqbalance
  run "$scripts/tune-irq-pin.sh" apply --dev ens5 --cpus 0; refused "stop it first: tune-irqbalance.sh apply"
  rm -r "$root/proc/812"
  [ "$(all)" = "$before" ]
  [ ! -e "$LINE_RATE_STATE" ]
}

@test "a corrupt journal is one line, and nothing is written" {
  tree
  "$scripts/tune-rps.sh" apply --dev ens5
  before=$(all)
  echo '[{"knob": "rps"' >"$LINE_RATE_STATE/originals.json"
  run "$scripts/tune-rps.sh" restore; refused "$LINE_RATE_STATE/originals.json: line"
  run "$scripts/tune-rps.sh" apply --dev ens5; refused "nothing was written"
  [ "$(all)" = "$before" ]
}

@test "on the machine itself a user is told to use sudo" {
  [ "$(id -u)" != 0 ] || skip "root is not refused, and the machine is left alone"
  run "$scripts/tune-rfs.sh" apply --table-only --entries 4096
  refused "needs root: run with sudo (/proc/sys/net/core/rps_sock_flow_entries)"
}
