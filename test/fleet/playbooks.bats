#!/usr/bin/env bats
# The playbooks of lab/fleet against a fleet on this machine, each of them twice: the second
# time it finds nothing to do. As root of the machine also with a kernel setting.

setup_file() {
  cd "$BATS_TEST_DIRNAME/../.." || exit
  export REPOSITORY=$PWD
  # Hosts get a commit, so what is worked on here is committed in a clone.
  export CLONE=$BATS_FILE_TMPDIR/line-rate DIR=$BATS_FILE_TMPDIR/fleet
  git clone --quiet --shared --no-checkout "file://$PWD" "$CLONE"
  git -C "$CLONE" checkout --quiet --detach "$(git rev-parse HEAD)"
  git ls-files -z --modified --others --exclude-standard -- lab Makefile tools | while IFS= read -r -d '' path; do
    if [ -e "$path" ]; then mkdir -p "$CLONE/${path%/*}"; cp -p "$path" "$CLONE/$path"; else rm -f "$CLONE/$path"; fi
  done
  git -C "$CLONE" add --all
  git -C "$CLONE" -c user.name=Test -c user.email=test@localhost commit --quiet --allow-empty --message 'As it is here'
  mkdir "$CLONE/.tools"
  ln -s "$REPOSITORY/.tools/ansible" "$CLONE/.tools/ansible"
  cp -a "$REPOSITORY"/.tools/{bin,stamp,compiled} "$CLONE/.tools/"
  touch -d 2000-01-01 "$CLONE/lab/fleet/requirements.txt" # it is installed

  local root=()
  [ "$(id -u)" != 0 ] || root=(--as-root)
  mkfifo "$BATS_FILE_TMPDIR/hold"
  lab/scripts/fleet.sh up --clients 2 --dir "$DIR" "${root[@]}" <"$BATS_FILE_TMPDIR/hold" >"$BATS_FILE_TMPDIR/fleet.log" 2>&1 3>&- &
  exec 9>"$BATS_FILE_TMPDIR/hold"
  for _ in $(seq 300); do
    grep -q '^fleet ready' "$BATS_FILE_TMPDIR/fleet.log" && return
    kill -0 $! 2>/dev/null || break
    sleep 0.1
  done
  export WHY
  WHY=$(tail -n 1 "$BATS_FILE_TMPDIR/fleet.log")
}
teardown_file() { exec 9>&-; }

setup() { [ -z "${WHY-}" ] || skip "$WHY"; cd "$CLONE" || exit; }

# plays runs a playbook from the fleet's controller, for a user that only the outside knows
# and whose files tar marks as another's than the hosts' user.
plays() { run env USER=somebody LOGNAME=somebody TAR_OPTIONS='--owner=4321 --group=4321' lab/scripts/fleet.sh in --dir "$DIR" controller -- make "$@" INVENTORY="$DIR/inventory.yml"; }
# went says what a playbook printed where it did not end as expected.
went() { [ "$status" -eq "$1" ] || { echo "$output"; return 1; }; }
# idle holds where no host was changed. The controller packs what it sends, which is no host.
idle() { went 0 && ! grep -E ' changed=[1-9]' <<<"$output"; }
on() { lab/scripts/fleet.sh in --dir "$DIR" "$@"; }

@test "every playbook is one that Ansible can read" {
  for playbook in lab/fleet/*.yml; do
    case ${playbook##*/} in *vars.yml | inventory*) continue ;; esac
    ANSIBLE_CONFIG=lab/fleet/ansible.cfg .tools/ansible/bin/ansible-playbook -i lab/fleet/inventory.example.yml --syntax-check "$playbook"
  done
}

@test "prepare brings all hosts to this commit and these programs, once" {
  plays fleet-prepare
  went 0
  for host in server client1 client2; do
    at=$DIR/$host/home/line-rate
    [ "$(git -C "$at" rev-parse HEAD)" = "$(git rev-parse HEAD)" ]
    [ -z "$(git -C "$at" status --porcelain)" ]
    cmp .tools/bin/lab "$at/.tools/bin/lab"
    cmp .tools/bin/http_load "$at/.tools/bin/http_load"
    [[ $output == *"${host/#server/server0}: commit $(git rev-parse --short=12 HEAD), over fleet0"* ]]
  done
  [ -z "$(git status --porcelain)" ]
  plays fleet-prepare
  idle
}

@test "what the controller's user sent belongs to the hosts' user" {
  for host in server client1 client2; do
    found=$(find "$DIR/$host/home/line-rate" ! -uid "$(id -u)" | head -n 3)
    [ -z "$found" ] || { echo "$found"; return 1; }
  done
}

@test "a program that differs on one host is replaced there" {
  echo >>"$DIR/client2/home/line-rate/.tools/bin/http_load"
  plays fleet-prepare
  went 0
  cmp .tools/bin/http_load "$DIR/client2/home/line-rate/.tools/bin/http_load"
  grep -E '^client1 .* changed=0 ' <<<"$output"
  grep -E '^client2 .* changed=1 ' <<<"$output"
}

@test "a checkout with changes of its own, or of somebody's own, is left alone" {
  at=$DIR/client1/home/line-rate
  echo '# mine' >>"$at/Makefile"
  plays fleet-prepare
  went 2
  [[ $output == *"client1: $at has changes that no commit has, in Makefile"* ]]
  git -C "$at" checkout --quiet Makefile

  git -C "$at" config line-rate.prepared no
  git -C "$at" -c user.name=T -c user.email=t@localhost commit --quiet --allow-empty --message mine
  plays fleet-prepare
  went 2
  [[ $output == *"client1: $at was not made by prepare and is at another commit"* ]]
  git -C "$at" checkout --quiet --detach "$(git rev-parse HEAD)"
  git -C "$at" config line-rate.prepared yes
}

@test "what is not committed here is refused, by name" {
  echo '# mine' >>Makefile
  plays fleet-prepare
  went 2
  [[ $output == *'Makefile is not as committed'* ]]
  git checkout --quiet Makefile
}

@test "a commit that follows leaves the runs of a host as they are" {
  at=$DIR/server/home/line-rate
  echo '{}' >"$at/data/results/kept.json"
  echo '# next' >>README.md
  git -c user.name=T -c user.email=t@localhost commit --quiet --all --message next
  rm .tools/prepare/commit.tgz
  plays fleet-prepare
  went 0
  # Only what differs was sent.
  [ ! -e .tools/prepare/commit.tgz ]
  for host in server client1 client2; do
    [ "$(git -C "$DIR/$host/home/line-rate" rev-parse HEAD)" = "$(git rev-parse HEAD)" ]
    [ -z "$(git -C "$DIR/$host/home/line-rate" status --porcelain --untracked-files=no)" ]
    git -C "$DIR/$host/home/line-rate" fsck --connectivity-only
  done
  [ "$(cat "$at/data/results/kept.json")" = '{}' ]
  rm "$at/data/results/kept.json"
}

@test "doctor says what it found, with the host's name before each line" {
  plays fleet-doctor ARGS='-e watch=false -e all=true'
  idle
  for host in server client1 client2; do [ "$(grep -c "\"${host/#server/server0}: ok machine " <<<"$output")" -eq 1 ]; done
}

@test "a kernel setting is turned on the server's host, and back" {
  [ "$(id -u)" = 0 ] || skip "only root can set an interface's queues"
  rps() { on server -- cat /sys/class/net/fleet0/queues/rx-0/rps_cpus; }
  before=$(rps)
  plays fleet-tune KNOB='rps --cpus 0'
  went 0
  [ "$(rps)" != "$before" ]
  plays fleet-tune KNOB='rps --cpus 0'
  idle
  plays fleet-restore
  went 0
  [ "$(rps)" = "$before" ]
  plays fleet-restore
  idle
}

@test "an unknown setting is refused" {
  plays fleet-tune KNOB=rpz
  went 2
  plays fleet-tune
  went 2
  [[ $output == *"make fleet-tune KNOB='rps --cpus 0-3'"* ]]
}

@test "collect asks the server's host for runs, and finds none" {
  plays fleet-collect
  idle
  [[ $output == *'nothing to collect'* ]]
}

@test "clean ends what outlived its run, and removes no run that is only there" {
  at=$DIR/client1/home/line-rate
  (on client1 -- "$at/.tools/bin/null_server" --addr 127.0.0.1:0 >"$BATS_TEST_TMPDIR/null" 2>&1 3>&- &)
  for _ in $(seq 100); do [ -s "$BATS_TEST_TMPDIR/null" ] && break; sleep 0.1; done
  plays fleet-clean
  went 0
  [[ $output == *changed=1* ]]
  [ -z "$(on client1 -- sh -c 'ls -l /proc/[0-9]*/exe 2>/dev/null' | grep null_server)" ]
  plays fleet-clean
  idle

  echo '{}' >"$DIR/server/home/line-rate/data/results/kept.json"
  plays fleet-clean REMOVE=yes
  went 2
  [[ $output == *'server0: data/results/kept.json'*'make fleet-collect'* ]]
  [ -e "$DIR/server/home/line-rate/data/results/kept.json" ]
  rm "$DIR/server/home/line-rate/data/results/kept.json"
  plays fleet-clean REMOVE=yes
  went 0
  for host in server client1 client2; do [ ! -e "$DIR/$host/home/line-rate" ]; done
  plays fleet-clean REMOVE=yes
  idle
}
