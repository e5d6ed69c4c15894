#!/usr/bin/env bash
# Profiles of a server under load: CPU, mutex, block, heap, goroutine and
# allocs, all over the same window.
#
#   lab/scripts/server.sh -- --pprof                          (in one terminal)
#   lab/scripts/profile.sh --from http://127.0.0.1:6060 --seconds 60 --out profiles
#
# On another machine too, pprof listens only on that machine's loopback. --ssh opens a
# tunnel to it that lasts as long as the window.
#
#   lab/scripts/profile.sh --ssh me@server --seconds 60 --out profiles
#
# Each process is asked once, and answers with an archive. By hand:
#
#   curl 'http://127.0.0.1:6060/debug/pprof/window?seconds=60' | tar x
set -euo pipefail

usage() {
  cat <<'EOF'
usage: profile.sh --from SOURCE --out DIR [--seconds N]
       profile.sh --ssh USER@HOST [--remote-port N] [--local-port N] --out DIR [--seconds N]
  --from SOURCE    http://127.0.0.1:PORT of a server with --pprof, or the
                   directory that its --pprof-sockets names; of the latter
                   each process has a directory in DIR
  --ssh USER@HOST  a server on another machine, by a tunnel; the key must need
                   no passphrase, or be with an agent
  --remote-port N  port of its --pprof-addr              (default 6060)
  --local-port N   this side's end of the tunnel         (default 16060)
  --seconds N      length of the window                  (default 30)
  --out DIR        where to; it must not exist, or be empty
EOF
}

die() { echo "profile.sh: $1" >&2; exit "${2:-2}"; }

from='' host='' remote_port='' local_port='' seconds=30 out=''
while [ $# -gt 0 ]; do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --from | --ssh | --remote-port | --local-port | --seconds | --out) [ $# -ge 2 ] || die "$1 needs a value" ;;
    *) die "unknown option $1; see --help" ;;
  esac
  case $1 in
    --from) from=$2 ;;
    --ssh) host=$2 ;;
    --remote-port) remote_port=$2 ;;
    --local-port) local_port=$2 ;;
    --seconds) seconds=$2 ;;
    --out) out=$2 ;;
  esac
  shift 2
done
[ -n "$out" ] || die "--out is missing; see --help"
[ -n "$host$from" ] || die "--from or --ssh is missing; see --help"
[ -z "$host" ] || [ -z "$from" ] || die "--from and --ssh are two ways to a server; give one"
case $host in -*) die "--ssh: '$host' is not USER@HOST" ;; esac
[ -n "$host" ] || [ -z "$remote_port$local_port" ] || die "--remote-port and --local-port are for a tunnel; give --ssh too"
for port in "${remote_port:=6060}" "${local_port:=16060}"; do
  case $port in '' | *[!0-9]* | ??????*) die "'$port' is not a port" ;; esac
done
[[ $seconds =~ ^[1-9][0-9]*$ ]] || die "--seconds: '$seconds' is not a whole number"
[ -z "$(ls -A "$out" 2>/dev/null)" ] || die "--out $out is not empty; give a directory that is, or that does not exist"
command -v curl >/dev/null || die "curl is not installed (Debian and Ubuntu: apt-get install curl)" 3

names=() asking=() tunnel='' scratch=$(mktemp -d)
# shellcheck disable=SC2329 # the trap calls it
finish() {
  local pid
  for pid in "${asking[@]}" $tunnel; do
    kill "$pid" 2>/dev/null && wait "$pid" 2>/dev/null || true
  done
  rm -rf "$scratch"
}
trap finish EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
trap 'exit 129' HUP

# ask asks one process for its window: ask NAME BASE-URL [CURL-OPTION…].
ask() {
  curl -sS --fail-with-body --max-time $((seconds + 30)) -o "$scratch/$1" "${@:3}" \
    "$2/debug/pprof/window?seconds=$seconds" 2>"$scratch/$1.said" &
  names+=("$1") asking+=($!)
}

# keep writes what the processes answer, once all have. Files of the only process stand in DIR itself.
keep() {
  local i said
  echo "taking profiles of ${#names[@]} process$([ ${#names[@]} -eq 1 ] || echo es) for $seconds s" >&2
  for i in "${!names[@]}"; do
    wait "${asking[i]}" && continue
    said=$(cat "$scratch/${names[i]}.said")
    # An answer that is no archive says what was wrong.
    [[ $said != *'returned error'* ]] || said+=": $(head -c 200 "$scratch/${names[i]}" | tr '\n' ' ')"
    die "$said; nothing was written" 3
  done
  for i in "${names[@]}"; do
    (umask 077 && mkdir -p "$out/${i#only}" && tar -xf "$scratch/$i" -C "$out/${i#only}")
  done
  echo "The files are in $out; go tool pprof -http=127.0.0.1: FILE… opens one, or those of several processes as one."
}

if [ -d "$from" ]; then
  for socket in "$from"/*.sock; do # of a process that was killed a socket may be left
    if curl -s -o "$scratch/answer" --max-time 5 --unix-socket "$socket" http://localhost/debug/pprof/cmdline; then
      ask "$(basename "$socket" .sock)" http://localhost --unix-socket "$socket"
    fi
  done
  [ ${#names[@]} -gt 0 ] || die "no process serves profiles in $from; start the server with --pprof-sockets $from" 3
  keep
  exit
elif [ -n "$from" ]; then
  [[ $from =~ ^http://(127\.0\.0\.1|localhost|\[::1\]):[0-9]+/?$ ]] ||
    die "--from $from: give a directory, or http://127.0.0.1:PORT; --ssh makes a tunnel to another machine"
  ask only "${from%/}"
  keep
  exit
fi

command -v ssh >/dev/null || die "ssh is not installed (Debian and Ubuntu: apt-get install openssh-client)" 3
if (: <"/dev/tcp/127.0.0.1/$local_port") 2>/dev/null; then
  # Otherwise its answers would be taken for those of the other machine.
  die "127.0.0.1:$local_port is in use; choose another with --local-port"
fi

# If setpriv is installed, the tunnel ends with this script even after kill -9.
last=()
if command -v setpriv >/dev/null; then last=(setpriv --pdeathsig KILL); fi
# A shared ssh connection would keep our forwarding after we end, so we open our own.
"${last[@]}" ssh -N -L "127.0.0.1:$local_port:127.0.0.1:$remote_port" \
  -o ExitOnForwardFailure=yes -o BatchMode=yes -o ControlMaster=no -o ControlPath=none -o ControlPersist=no \
  -o ConnectTimeout=10 -o ServerAliveInterval=5 -- "$host" </dev/null >"$scratch/ssh" 2>&1 &
tunnel=$!

# Logging in may take some time; a server with profiles answers at once.
until_answers() {
  local by=$((SECONDS + 20)) open='' code
  while [ "$SECONDS" -lt "$by" ] && kill -0 "$tunnel" 2>/dev/null; do
    code=0
    curl -sf -o "$scratch/answer" --max-time 5 "http://127.0.0.1:$local_port/debug/pprof/cmdline" || code=$?
    [ "$code" -ne 0 ] || return 0
    if [ "$code" -ne 7 ] && [ -z "$open" ]; then open=yes by=$((SECONDS + 3)); fi # 7: there is no tunnel yet
    sleep 0.2
  done
  return 1
}
if ! until_answers; then
  why=$(tail -n 1 "$scratch/ssh" | tr -d '\r')
  kill -0 "$tunnel" 2>/dev/null || die "no tunnel to $host: ${why:-ssh ended without a word}" 4
  die "ssh to $host runs, but no pprof answers at the end of its tunnel, 127.0.0.1:$remote_port${why:+ ($why)}; start the server there with --pprof, or give its port with --remote-port" 4
fi

ask only "http://127.0.0.1:$local_port"
keep
