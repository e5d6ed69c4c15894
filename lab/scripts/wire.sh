#!/usr/bin/env bash
# A wire of known line rate on one machine: two network namespaces joined by a veth pair,
# shaped by a token bucket in both directions. It needs no root if the kernel lets users
# create user namespaces.
#
#   lab/scripts/wire.sh up --rate 500000000        (holds until Ctrl-C or Ctrl-D)
#   lab/scripts/wire.sh in server PID -- COMMAND…  (in another terminal)
#
# The namespaces have no name and no file, so the kernel removes them with the last
# process inside. Those processes share a PID namespace whose first process is "up": when
# it ends, the kernel kills the others. It ends when its standard input closes, so nothing
# is left when the process at the other end of that input ends, even by kill -9.
set -euo pipefail

server_addr=192.0.2.1 # RFC 5737: addresses that lead nowhere outside the namespaces
client_addr=192.0.2.2

usage() {
  cat <<'EOF'
usage: wire.sh up [--rate BITS] [--burst BYTES] [--queue SECONDS] [--as-root]
       wire.sh in server|client PID -- COMMAND [ARGUMENT…]
  up    make the wire, print one line of what was made, hold until standard input closes
    --rate BITS      line rate, bits a second each way      (default 500000000)
    --burst BYTES    bucket of the shaper                   (default 262144)
    --queue SECONDS  longest wait in the shaper             (default 0.02)
    --as-root        by root's own right, not as a user: tune-rps.sh and tune-rfs.sh
                     can only then set the wire's queues
  in    run a command on one side; PID is the one "up" printed for that side
EOF
}

# What starts this script anew: its file, or where a program holds it, its text.
self=("$0")
[ -z "${BASH_EXECUTION_STRING-}" ] || self=(bash -c "$BASH_EXECUTION_STRING" wire.sh)

die() { echo "wire.sh: $1" >&2; exit "${2:-2}"; }
need() { command -v "$1" >/dev/null || die "$1 is not installed (Debian and Ubuntu: apt-get install $2)" 3; }

up() {
  local rate=500000000 burst=262144 queue=0.02 as_root=''
  while [ $# -gt 0 ]; do
    case $1 in
      --rate | --burst | --queue)
        [ $# -ge 2 ] || die "$1 needs a value"
        printf -v "${1#--}" %s "$2"; shift 2 ;;
      --as-root) as_root=yes; shift ;;
      *) die "unknown option $1; see --help" ;;
    esac
  done
  need ip iproute2; need tc iproute2; need unshare util-linux; need nsenter util-linux; need setpriv util-linux
  local why
  local apart=(--net --pid --fork --kill-child)
  if [ -n "$as_root" ]; then
    [ "$(id -u)" = 0 ] || die "--as-root needs root" 4
    why=$(unshare "${apart[@]}" true 2>&1) || die "root cannot make namespaces here (${why##*: })" 4
    exec unshare "${apart[@]}" -- "${self[@]}" hold "$rate" "$burst" "$queue"
  fi
  if why=$(unshare --user --map-root-user "${apart[@]}" true 2>&1); then
    exec unshare --user --map-root-user "${apart[@]}" -- "${self[@]}" hold "$rate" "$burst" "$queue"
  elif [ "$(id -u)" = 0 ] && unshare "${apart[@]}" true 2>/dev/null; then
    echo "wire.sh: no user namespaces here; using root's own right to make network namespaces" >&2
    exec unshare "${apart[@]}" -- "${self[@]}" hold "$rate" "$burst" "$queue"
  fi
  die "this machine lets no user make namespaces (${why##*: }); run as root, or allow them (sysctl kernel.unprivileged_userns_clone=1 or kernel.apparmor_restrict_unprivileged_userns=0)" 4
}

# hold runs as root of the new user namespace, in the network namespace that becomes the
# client's. It is the first process of the PID namespace, so it gets only signals that it
# handles.
hold() {
  local rate=$1 burst=$2 queue=$3 server client
  trap 'exit 130' INT
  trap 'exit 143' TERM HUP
  # /proc is still that of the outside, so a process finds its outer PID there.
  read -r client _ </proc/self/stat
  # shellcheck disable=SC2016 # the inner shell expands it
  coproc PEER { exec unshare --net -- bash -c 'read -r pid _ </proc/self/stat; echo "$pid"; exec sleep infinity'; }
  # shellcheck disable=SC2154 # PEER is made by coproc
  read -r server <&"${PEER[0]}"
  ip link add wire-client type veth peer name wire-server netns "$PEER_PID"
  side wire-client "$client_addr" "$rate" "$burst" "$queue"
  nsenter --net="/proc/$server/ns/net" -- "${self[@]}" side wire-server "$server_addr" "$rate" "$burst" "$queue"
  echo "wire ready server_pid=$server client_pid=$client server_addr=$server_addr client_addr=$client_addr server_dev=wire-server client_dev=wire-client"
  while read -r _; do :; done
}

side() {
  local dev=$1 addr=$2 rate=$3 burst=$4 queue=$5
  ip link set lo up
  ip addr add "$addr/24" dev "$dev"
  ip link set dev "$dev" up
  tc qdisc add dev "$dev" root tbf rate "${rate}bit" burst "$burst" latency "${queue}s"
}

inside() {
  local role=${1-} pid=${2-}
  case $role in server | client) ;; *) die "in: say server or client, then the PID that 'up' printed" ;; esac
  case $pid in '' | *[!0-9]*) die "in: '$pid' is not a PID; 'up' prints it" ;; esac
  [ "${3-}" = -- ] && [ $# -ge 4 ] || die "in: a command is missing after --"
  shift 3
  [ -e "/proc/$pid/ns/net" ] || die "in: no process $pid; is 'wire.sh up' still running?" 3
  local user=()
  [ "$(readlink "/proc/$pid/ns/user")" = "$(readlink /proc/self/ns/user)" ] || user=(--user --preserve-credentials)
  # nsenter stays as the parent of the command. setpriv makes the command die with it, and
  # is called after entering, because entering a user namespace clears that setting.
  exec nsenter --target "$pid" "${user[@]}" --net --pid -- setpriv --pdeathsig KILL "$@"
}

case ${1-} in
  up | hold | side) cmd=$1; shift; "$cmd" "$@" ;;
  in) shift; inside "$@" ;;
  -h | --help) usage ;;
  *) usage >&2; exit 2 ;;
esac
