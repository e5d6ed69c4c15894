# Shared by the script tests. Everything that they start uses loopback or its own
# namespaces, and is ended by its pid.

scripts=$BATS_TEST_DIRNAME/../../lab/scripts

# free_port prints a port that nothing listens on now.
free_port() {
  python3 -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])'
}

# start_server [NAME [OPTION…]] starts the lab's server, or another, with one
# worker and waits until it listens. It sets url and server.
start_server() {
  local port
  port=$(free_port)
  # shellcheck disable=SC2034 # the tests use it
  url=http://127.0.0.1:$port
  "$scripts/server.sh" --server "${1-fiber}" --workers 1 -- --addr "127.0.0.1:$port" "${@:2}" 2>"$BATS_TEST_TMPDIR/server.log" 3>&- &
  server=$!
  until_true grep -q 'worker pid=.* listening' "$BATS_TEST_TMPDIR/server.log"
}

stop_server() {
  [ -z "${server-}" ] || kill "$server" 2>/dev/null || true
  [ -z "${server-}" ] || wait "$server" 2>/dev/null || true
}

# until_true waits up to ten seconds for a command to succeed.
until_true() {
  local _
  for _ in $(seq 200); do
    "$@" >/dev/null 2>&1 && return 0
    sleep 0.05
  done
  echo "not within ten seconds: $*" >&2
  return 1
}

# gone succeeds when no process has that pid, or only a zombie has it.
gone() {
  ! [ -e "/proc/$1" ] || grep -q '^State:	Z' "/proc/$1/status"
}
