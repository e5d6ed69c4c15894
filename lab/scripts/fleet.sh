#!/usr/bin/env bash
# A fleet on one machine: a server, clients and a controller, each with network, processes
# and host name of its own, joined by a bridge over links of known rates. Server and
# clients run an sshd. It needs no root if the kernel lets users create user namespaces.
#
#   lab/scripts/fleet.sh up --clients 3              (holds until Ctrl-C or Ctrl-D)
#   lab/scripts/fleet.sh in controller -- COMMAND…   (in another terminal)
#
# It is for trying out what runs on a fleet of hosts, with its faults. The hosts share one
# kernel, one clock and the machine's cores, and none sees what runs outside of itself, so
# its figures say nothing of real hosts.
#
# As wire.sh's, its namespaces have neither name nor file, and all that runs inside ends
# with "up", which ends when its standard input closes, also by kill -9.
set -euo pipefail

network=198.51.100 # RFC 5737: addresses that lead nowhere outside the namespaces
port=2222          # of the sshds: ports below 1024 are not for users
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)

usage() {
  cat <<'TEXT'
usage: fleet.sh up [--clients N] [--rate BITS] [--client-rates BITS[,BITS…]] [--queue SECONDS] [--dir DIR] [--as-root]
       fleet.sh in [--dir DIR] server|client1|client2|…|controller -- COMMAND [ARGUMENT…]
  up    make the fleet, print one line of what was made, hold until standard input closes
    --clients N            number of clients, at most 200             (default 3)
    --rate BITS            rate of the server's link, bits a second each way
                                                                      (default 1000000000)
    --client-rates BITS,…  rates of the clients' links; the last is that of all further
                           clients                                    (default 500000000)
    --queue SECONDS        longest wait in each shaper                (default 0.02)
    --dir DIR              where inventory.yml, the keys and the hosts' home directories
                           go                                         (default .tools/fleet)
    --as-root              by root's own right, not as a user: tune-*.sh can only then set
                           the queues of a host's interface
  in    run a command on one host of the fleet, as root of its namespaces
TEXT
}

die() { echo "fleet.sh: $1" >&2; exit "${2:-2}"; }
need() { command -v "$1" >/dev/null || die "$1 is not installed (Debian and Ubuntu: apt-get install $2)" 3; }
number() { case $2 in '' | 0* | *[!0-9]*) die "$1 needs a whole number from 1 on, not '$2'" ;; esac; }

up() {
  clients=3 rate=1000000000 client_rates=500000000 queue=0.02 dir=$top/.tools/fleet
  local as_root='' name one
  while [ $# -gt 0 ]; do
    case $1 in
      --clients | --rate | --client-rates | --queue | --dir)
        [ $# -ge 2 ] || die "$1 needs a value"
        name=${1#--}
        printf -v "${name//-/_}" %s "$2"; shift 2 ;;
      --as-root) as_root=yes; shift ;;
      *) die "unknown option $1; see --help" ;;
    esac
  done
  number --clients "$clients"; number --rate "$rate"
  [ "$clients" -le 200 ] || die "--clients is at most 200"
  for one in ${client_rates//,/ }; do number --client-rates "$one"; done
  [[ $queue =~ ^[0-9]*\.?[0-9]+$ ]] || die "--queue needs a number of seconds, not '$queue'"
  case $dir in *[!-A-Za-z0-9_./]*) die "--dir is in files of ssh and of Ansible, so it may hold only letters, digits and -_./" ;; esac
  need ip iproute2; need tc iproute2; need unshare util-linux; need nsenter util-linux; need setpriv util-linux
  need flock util-linux; need hostname hostname; need ssh openssh-client; need ssh-keygen openssh-client
  sshd=$(find_sshd) || die "no sshd here (Debian and Ubuntu: apt-get install openssh-server; make sshd fetches it without root)" 3
  mkdir -p "$dir"
  dir=$(cd "$dir" && pwd)
  [ -O "$dir" ] || die "$dir belongs to another user"
  exec {lock}>"$dir/lock"
  flock -n "$lock" || die "a fleet is already up in $dir; end it, or give this one another --dir"
  # Ansible would look for one on each host, and may find a script that chooses a version.
  python=$(python3 -c 'import sys; print(sys.executable)' 2>/dev/null) || python=auto_silent
  export clients rate client_rates queue dir sshd lock python
  local why apart=(--net --pid --mount --fork --kill-child)
  export login=root
  if [ -n "$as_root" ]; then
    [ "$(id -u)" = 0 ] || die "--as-root needs root" 4
    why=$(unshare "${apart[@]}" true 2>&1) || die "root cannot make namespaces here (${why##*: })" 4
    exec unshare "${apart[@]}" -- "$0" hold
  fi
  if why=$(unshare --user --map-root-user "${apart[@]}" --mount-proc unshare --user --map-user=1000 --map-group=1000 true 2>&1); then
    login=labuser
    exec unshare --user --map-root-user "${apart[@]}" -- "$0" hold
  elif [ "$(id -u)" = 0 ] && unshare "${apart[@]}" true 2>/dev/null; then
    echo "fleet.sh: no user namespaces here; using root's own right" >&2
    exec unshare "${apart[@]}" -- "$0" hold
  fi
  die "this machine lets no user make namespaces (${why##*: }); run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0)" 4
}

# find_sshd prints the path of an sshd. sshd refuses to start by a relative one.
find_sshd() {
  local at
  for at in "$(PATH=$PATH:/usr/sbin type -P sshd)" "$top/.tools/sshd/usr/sbin/sshd"; do
    if [ -f "$at" ] && [ -x "$at" ]; then echo "$at"; return; fi
  done
  return 1
}

# hold runs as root of the new user namespace, in the network namespace of the bridge. It is
# the first process of the PID namespace, so it gets only signals that it handles.
hold() {
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  # /proc is still that of the outside, so a process finds its outer PID there.
  read -r holder _ </proc/self/stat
  export holder
  ip link add bridge type bridge forward_delay 0
  ip link set bridge up
  rm -f "$dir"/{key,key.pub,pids,known_hosts,inventory.yml}
  ssh-keygen -q -t ed25519 -N '' -C '' -f "$dir/key"

  local rates=("$rate") names=(server) i pid fd fds=()
  IFS=, read -ra of_clients <<<"$client_rates"
  for ((i = 1; i <= clients; i++)); do
    names+=("client$i")
    rates+=("${of_clients[i - 1]-${of_clients[-1]}}")
  done
  names+=(controller)
  rates+=('')
  for i in "${!names[@]}"; do
    # The lock is the holder's alone, and so is the input that it waits for.
    mkdir -p "$dir/${names[i]}"
    exec {fd}< <("$0" host "${names[i]}" "$(address "${names[i]}")" "${rates[i]}" {lock}>&- </dev/null 2>"$dir/${names[i]}/log")
    fds+=("$fd")
  done
  for i in "${!names[@]}"; do
    read -r pid <&"${fds[i]}" || die "the fleet is not up: ${names[i]}: $(tail -n 1 "$dir/${names[i]}/log")" 1
    echo "${names[i]} $pid $(readlink "/proc/$pid/ns/net")" >>"$dir/pids"
    [ "${names[i]}" = controller ] || echo "[$(address "${names[i]}")]:$port $(cat "$dir/${names[i]}/host_key.pub")" >>"$dir/known_hosts"
  done
  inventory "${rates[@]}" >"$dir/inventory.yml"
  echo "fleet ready dir=$dir clients=$clients server_addr=$network.1 holder_pid=$holder"
  while read -r _; do :; done
}

address() {
  case $1 in
    server) echo "$network.1" ;;
    controller) echo "$network.254" ;;
    client*) echo "$network.$((${1#client} + 1))" ;;
  esac
}

# inventory prints an Ansible inventory of the fleet, for its controller. Server and clients
# get cores of their own, as a server must not share its cores with what loads it.
inventory() {
  local rates=("$@") all=() ranges range i
  IFS=, read -ra ranges <<<"$(awk '$1 == "Cpus_allowed_list:" { print $2 }' /proc/self/status)"
  for range in "${ranges[@]}"; do
    for ((i = ${range%-*}; i <= ${range#*-}; i++)); do all+=("$i"); done
  done
  local half=$((${#all[@]} / 2))
  local of_server=("${all[@]:0:half}") of_clients=("${all[@]:half}")
  cat <<TEXT
# Made by fleet.sh for the fleet that it holds up, and valid as long as that is.
all:
  vars:
    ansible_user: $login
    ansible_port: $port
    ansible_python_interpreter: $python
    ansible_ssh_private_key_file: $dir/key
    ansible_ssh_common_args: -o UserKnownHostsFile=$dir/known_hosts -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes
TEXT
  if [ "$half" -eq 0 ]; then of_server=("${all[@]}"); fi
  printf 'server:\n  hosts:\n'
  entry server "${rates[0]}" "${of_server[@]}" | sed 's/^    server:/    server0:/' # a group has the name
  printf 'clients:\n  hosts:\n'
  for ((i = 1; i <= clients; i++)); do
    # Each has cores of its own where there are as many; else they share.
    local share=$((${#of_clients[@]} / clients))
    if [ "$share" -gt 0 ]; then
      entry "client$i" "${rates[i]}" "${of_clients[@]:(i - 1) * share:share}"
    else
      entry "client$i" "${rates[i]}" "${of_clients[@]}"
    fi
  done
}

entry() {
  local name=$1 rate=$2 cpus
  shift 2
  cpus=$(IFS=, && echo "$*")
  cat <<TEXT
    $name:
      ansible_host: $(address "$name")
      line_rate_dir: $dir/$name/home/line-rate
      line_rate_cpus: "$cpus"
      line_rate_bps: $rate
TEXT
}

# host makes one host, prints its outer PID once it is ready, and stays as its first process.
host() {
  local name=$1 addr=$2 rate=$3 pid
  if [ "$name-$$" != "$name-1" ]; then
    exec unshare --net --pid --mount --uts --fork --kill-child -- "$0" host "$@"
  fi
  read -r pid _ </proc/self/stat
  ip link set lo up
  ip link add fleet0 type veth peer name "port${addr##*.}" netns "/proc/$holder/ns/net"
  ip addr add "$addr/24" dev fleet0
  ip link set fleet0 up
  shape fleet0 "$rate"
  nsenter --net="/proc/$holder/ns/net" -- "$0" plug "port${addr##*.}" "$rate"

  local at=$dir/$name
  mkdir -p "$at/home" "$at/etc" "$at/sys"
  hostname "$name.fleet.test"
  # /sys is that of the network namespace in which it was mounted. cgroups stay. -n: mount
  # keeps no list of its own, which only root could write.
  mount -n -t sysfs sysfs "$at/sys"
  if [ -d /sys/fs/cgroup ]; then mount -n --rbind /sys/fs/cgroup "$at/sys/fs/cgroup"; fi
  mount -n --move "$at/sys" /sys
  mount -n -t proc proc /proc
  # sshd lets nobody in who has no entry there, and as root it runs in part as user sshd.
  printf '%s\n' "root:x:0:0:root:$at/home:/bin/bash" "sshd:x:74:74::/run/sshd:/bin/false" "labuser:x:1000:1000::$at/home:/bin/bash" >"$at/etc/passwd"
  printf '%s\n' 'root:*:::::::' 'labuser:*:::::::' >"$at/etc/shadow"
  printf '%s\n' root:x:0: sshd:x:74: labuser:x:1000: >"$at/etc/group"
  for file in passwd shadow group; do mount -n --bind "$at/etc/$file" "/etc/$file"; done
  if [ "$name" != controller ]; then serve "$addr" "$at"; fi
  echo "$pid"
  exec >/dev/null
  while :; do wait || :; sleep infinity & done
}

# plug connects a link to the bridge, in the bridge's namespace.
plug() {
  ip link set "$1" master bridge up
  shape "$1" "$2"
}

# The bucket holds what the link carries in 4 ms, and at least some packets.
shape() {
  if [ -z "$2" ]; then return; fi
  local burst=$(($2 / 2000))
  tc qdisc add dev "$1" root tbf rate "${2}bit" burst "$((burst > 16384 ? burst : 16384))" latency "${queue}s"
}

# serve starts an sshd and waits until it listens.
serve() {
  local addr=$1 at=$2 libraries='' program _
  rm -f "$at"/{host_key,host_key.pub,sshd.log}
  ssh-keygen -q -t ed25519 -N '' -C '' -f "$at/host_key"
  cat >"$at/sshd_config" <<TEXT
ListenAddress $addr:$port
HostKey $at/host_key
AuthorizedKeysFile $dir/key.pub
AuthenticationMethods publickey
PermitRootLogin prohibit-password
UsePAM no
StrictModes no
PidFile none
PrintMotd no
MaxStartups 100
PermitUserEnvironment yes
Subsystem sftp internal-sftp
TEXT
  # Sessions find the programs that this shell finds.
  mkdir -p "$at/home/.ssh"
  # Each host keeps the originals of kernel settings for itself: from one host the namespace
  # of another cannot be seen, so its settings would count as gone.
  printf '%s\n' "PATH=$PATH" "LINE_RATE_STATE=$at/state" >"$at/home/.ssh/environment"
  if [[ $sshd == "$top"/.tools/* ]]; then
    local root=${sshd%/usr/sbin/sshd}
    libraries=$(find "$root" -name '*.so.*' -printf '%h\n' | sort -u | paste -sd :)
    # From OpenSSH 9.8 on, sshd starts other programs for its sessions.
    for program in Session Auth; do
      if [ -x "$root/usr/lib/openssh/sshd-${program,,}" ]; then echo "Sshd${program}Path $root/usr/lib/openssh/sshd-${program,,}"; fi
    done >>"$at/sshd_config"
  fi
  local as=()
  if [ "$login" = root ]; then
    mount -n -t tmpfs -o mode=755 tmpfs /run
    mkdir -m 755 /run/sshd
  else
    # Not root, for sshd would want to become user sshd, who is nobody in this namespace.
    as=(unshare --user --map-user=1000 --map-group=1000 --)
  fi
  LD_LIBRARY_PATH=$libraries "${as[@]}" "$sshd" -D -e -f "$at/sshd_config" >/dev/null 2>"$at/sshd.log" &
  for _ in $(seq 200); do
    if grep -q '^Server listening' "$at/sshd.log"; then return; fi
    kill -0 $! 2>/dev/null || break
    sleep 0.05
  done
  echo "sshd does not start: $(tail -n 1 "$at/sshd.log")" >&2
  exit 1
}

inside() {
  local dir=$top/.tools/fleet name pid net
  if [ "${1-}" = --dir ] && [ $# -ge 2 ]; then dir=$2; shift 2; fi
  local wanted=${1-}
  [ -n "$wanted" ] && [ "$wanted" != -- ] || die "in: say which host: server, client1, client2, …, or controller"
  [ "${2-}" = -- ] && [ $# -ge 3 ] || die "in: a command is missing after --"
  shift 2
  [ -f "$dir/pids" ] || die "in: no fleet in $dir; is 'fleet.sh up' running?" 3
  while read -r name pid net; do
    [ "$name" = "$wanted" ] || continue
    [ "$(readlink "/proc/$pid/ns/net")" = "$net" ] || die "in: the fleet in $dir has ended" 3
    local user=()
    [ "$(readlink "/proc/$pid/ns/user")" = "$(readlink /proc/self/ns/user)" ] || user=(--user --preserve-credentials)
    # nsenter stays as the parent of the command. setpriv makes the command die with it,
    # and is called after entering, because entering a user namespace clears that setting.
    # The caller's name is unknown there. HOME stays: compilers keep their caches in it.
    exec nsenter --target "$pid" "${user[@]}" --net --pid --mount --uts -- setpriv --pdeathsig KILL env -C "$PWD" USER=root LOGNAME=root "$@"
  done <"$dir/pids"
  die "in: this fleet has no $wanted; it has $(awk '{ printf "%s%s", sep, $1; sep = ", " }' "$dir/pids")"
}

case ${1-} in
  up | hold | host | plug) cmd=$1; shift; "$cmd" "$@" ;;
  in) shift; inside "$@" ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
