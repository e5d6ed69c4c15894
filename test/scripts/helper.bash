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

# block prints a page's first block of commands that has a word in it.
block() {
  awk -v word="$2" '/^```/ { if (inside && index(text, word)) { printf "%s", text; exit } inside = !inside; text = ""; next }
    inside { text = text $0 "\n" }' "$BATS_TEST_DIRNAME/../../content/$1.md"
}

# servers_in builds the two servers of the page on comparisons in a directory. The second spends more on a request.
servers_in() {
  cat >"$1/main.go" <<'GO'
package main

import (
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func answer(w http.ResponseWriter, r *http.Request) {
	for began := time.Now(); filepath.Base(os.Args[0]) == "server-new" && time.Since(began) < 200*time.Microsecond; {
	}
	if r.URL.Path == "/orders" {
		w.WriteHeader(http.StatusCreated)
		w.Write([]byte(`{"state": "open"}`))
		return
	}
	w.Write([]byte("an answer"))
}

// Its last argument is where it listens, or a port of this machine.
func main() {
	at := os.Args[len(os.Args)-1]
	if !strings.Contains(at, ":") {
		at = net.JoinHostPort("127.0.0.1", at)
	}
	panic(http.ListenAndServe(at, http.HandlerFunc(answer)))
}
GO
  (cd "$1" && CGO_ENABLED=0 go build -o server-old main.go && cp server-old server-new && rm main.go)
}

# pages lists the pages that show commands. Errata name what is gone.
pages() {
  local top
  top=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  git -C "$top" ls-files README.md CONTRIBUTING.md 'content/*.md' ':!content/errata.md' | sed "s,^,$top/,"
}

# lab_runs lists each call of lab run that pages show.
lab_runs() {
  pages | xargs grep -ohE 'lab run( --(budget|client) [0-9a-z]+| --[a-z]+| [0-9]{2}(-[0-9a-z-]+)?| [a-z]+[0-9a-z]*-[0-9a-z-]+)+' | sort -u
}

# plain_sudo puts a sudo into a directory that runs its command as this user.
plain_sudo() {
  printf '#!/bin/sh\nexec "$@"\n' >"$1/sudo"
  chmod +x "$1/sudo"
}
