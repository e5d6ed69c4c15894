#!/usr/bin/env bats
# profile.sh with the real server. The tests have no second machine, so a stand-in
# takes the place of ssh: it notes how it was called and forwards one port of loopback to
# another.

bats_require_minimum_version 1.5.0
load helper

setup() {
  tmp=$BATS_TEST_TMPDIR
  mkdir "$tmp/bin"
  cat >"$tmp/bin/ssh" <<'FAKE'
#!/usr/bin/env node
// Not ssh. It forwards as "ssh -N -L" does, to this very machine.
import { createConnection, createServer } from 'node:net';
import { appendFileSync, writeFileSync } from 'node:fs';
const args = process.argv.slice(2);
appendFileSync(process.env.FAKE_SSH_LOG, JSON.stringify(args) + '\n');
writeFileSync(process.env.FAKE_SSH_LOG + '.pid', String(process.pid));
if (process.env.FAKE_SSH_FAILS) {
  console.error('Warning: something of no weight');
  console.error(process.env.FAKE_SSH_FAILS + '\r');
  process.exit(255);
}
const [, from, , to] = args[args.indexOf('-L') + 1].split(':');
createServer(near => {
  const far = createConnection(+to, '127.0.0.1');
  for (const [a, b] of [[near, far], [far, near]]) { a.pipe(b); a.on('error', () => b.destroy()); a.on('close', () => b.destroy()); }
}).listen(+from, '127.0.0.1');
FAKE
  mv "$tmp/bin/ssh" "$tmp/bin/ssh.mjs"
  printf '#!/bin/sh\nexec node "%s" "$@"\n' "$tmp/bin/ssh.mjs" >"$tmp/bin/ssh"
  chmod +x "$tmp/bin/ssh"
  export FAKE_SSH_LOG=$tmp/ssh.log PATH=$tmp/bin:$PATH
  kinds='allocs.pb.gz block.pb.gz cpu.pb.gz goroutine.pb.gz heap.pb.gz mutex.pb.gz'
}

teardown() {
  stop_server
  [ ! -e "$FAKE_SSH_LOG.pid" ] || kill "$(cat "$FAKE_SSH_LOG.pid")" 2>/dev/null || true
}

# start_profiled starts a server with pprof on loopback, and sets server, port.
start_profiled() {
  port=$(free_port)
  "$scripts/server.sh" --workers 2 -- --addr 127.0.0.1:0 --pprof --pprof-addr "127.0.0.1:$port" 2>"$tmp/server.log" 3>&- &
  server=$!
  until_true grep -q 'single pid=.* listening' "$tmp/server.log"
}

# tunnel_gone succeeds when the stand-in for ssh has ended. Another process may have its number by then.
tunnel_gone() { ! grep -qs me@far "/proc/$(cat "$FAKE_SSH_LOG.pid")/cmdline"; }

@test "profile.sh takes all profiles of a server on loopback" {
  start_profiled
  run --separate-stderr "$scripts/profile.sh" --from "http://127.0.0.1:$port" --seconds 1 --out "$tmp/out"
  [ "$status" -eq 0 ]
  [ "$(cd "$tmp/out" && echo *)" = "$kinds" ]
  gunzip -c "$tmp/out/cpu.pb.gz" | grep -aq nanoseconds
  [ ! -e "$FAKE_SSH_LOG" ]
}

@test "profile.sh takes those of each of prefork's workers" {
  mkdir -m 700 "$tmp/s"
  GOMAXPROCS=2 "$scripts/server.sh" -- --addr "127.0.0.1:$(free_port)" --pprof-sockets "$tmp/s" 2>"$tmp/server.log" 3>&- &
  server=$!
  until_true eval '[ "$(grep -c "worker pid=.* listening" "$tmp/server.log")" = 2 ]'
  run --separate-stderr "$scripts/profile.sh" --from "$tmp/s" --seconds 1 --out "$tmp/out"
  [ "$status" -eq 0 ]
  [ "$(find "$tmp/out" -mindepth 1 -maxdepth 1 | wc -l)" = 2 ]
  for worker in "$tmp"/out/*; do
    [ "$(cd "$worker" && echo *)" = "$kinds" ]
  done
}

@test "profile.sh goes through a tunnel and ends it" {
  start_profiled
  near=$(free_port)
  run --separate-stderr "$scripts/profile.sh" --ssh me@far --remote-port "$port" --local-port "$near" --seconds 1 --out "$tmp/out"
  [ "$status" -eq 0 ]
  [ "$(cd "$tmp/out" && echo *)" = "$kinds" ]
  tunnel_gone
  [ "$(wc -l <"$FAKE_SSH_LOG")" -eq 1 ]
  node -e '
    const args = JSON.parse(process.argv[1]), options = args.filter((_, i) => args[i - 1] === "-o");
    const want = ["ExitOnForwardFailure=yes", "BatchMode=yes", "ControlMaster=no", "ControlPath=none", "ControlPersist=no"];
    if (!args.includes("-N") || !want.every(o => options.includes(o))) process.exit(1);
    if (args[args.indexOf("-L") + 1] !== `127.0.0.1:${process.argv[3]}:127.0.0.1:${process.argv[2]}`) process.exit(2);
    if (args.slice(-2).join(" ") !== "-- me@far") process.exit(3);
  ' "$(cat "$FAKE_SSH_LOG")" "$port" "$near"
}

@test "the tunnel ends, and no file is left, whatever ends profile.sh" {
  start_profiled
  for sig in INT TERM HUP KILL; do
    if [ "$sig" = KILL ]; then command -v setpriv || skip "no setpriv"; fi
    near=$(free_port)
    # A shell starts background jobs that ignore SIGINT, and nohup makes them ignore
    # SIGHUP; this one must get both.
    env --default-signal=INT,TERM,HUP "$scripts/profile.sh" --ssh me@far --remote-port "$port" --local-port "$near" --seconds 60 --out "$tmp/out" >"$tmp/log" 2>&1 3>&- &
    script=$!
    until_true grep -q '^taking profiles of 1 process' "$tmp/log"
    kill -"$sig" "$script"
    status=0; wait "$script" || status=$?
    [ "$status" -eq "$((128 + $(kill -l "$sig")))" ]
    until_true tunnel_gone
    # What asks cannot reach the server any more, so it must end too.
    until_true eval '! pgrep -f "http://127.0.0.1:$near" >/dev/null'
    [ ! -e "$tmp/out" ]
    rm "$FAKE_SSH_LOG.pid"
  done
}

@test "the tunnel that breaks in the window is said, and leaves no file" {
  start_profiled
  "$scripts/profile.sh" --ssh me@far --remote-port "$port" --local-port "$(free_port)" --seconds 60 --out "$tmp/out" >"$tmp/log" 2>&1 3>&- &
  script=$!
  until_true grep -q '^taking profiles of 1 process' "$tmp/log"
  sleep 0.5
  kill "$(cat "$FAKE_SSH_LOG.pid")"
  status=0; wait "$script" || status=$?
  [ "$status" -eq 3 ]
  [[ $(tail -n 1 "$tmp/log") == *"nothing was written"* ]]
  [ ! -e "$tmp/out" ]
}

@test "what keeps ssh from making a tunnel is said in one line" {
  FAKE_SSH_FAILS='me@far: Permission denied (publickey).' run "$scripts/profile.sh" --ssh me@far --local-port "$(free_port)" --out "$tmp/out"
  [ "$status" -eq 4 ]
  [ "$output" = "profile.sh: no tunnel to me@far: me@far: Permission denied (publickey)." ]
}

@test "a local port in use is not taken for the tunnel" {
  start_profiled
  run "$scripts/profile.sh" --ssh me@far --local-port "$port" --out "$tmp/out"
  [ "$status" -eq 2 ]
  [ "$output" = "profile.sh: 127.0.0.1:$port is in use; choose another with --local-port" ]
  [ ! -e "$FAKE_SSH_LOG" ]
}

@test "a tunnel that leads to no pprof is given up" {
  run "$scripts/profile.sh" --ssh me@far --remote-port "$(free_port)" --local-port "$(free_port)" --out "$tmp/out"
  [ "$status" -eq 4 ]
  [ "${#lines[@]}" -eq 1 ]
  [[ $output == *"no pprof answers at the end of its tunnel"*"--pprof"* ]]
  tunnel_gone
}

@test "profile.sh refuses what does not fit, in one line" {
  refused() {
    local want=$1; shift
    run "$scripts/profile.sh" "$@"
    [ "$status" -eq 2 ] && [ "${#lines[@]}" -eq 1 ] && [[ $output == "profile.sh: "*"$want"* ]]
  }
  refused "--out is missing" --from http://127.0.0.1:1
  refused "--from or --ssh is missing" --out x
  refused "give one" --from http://127.0.0.1:1 --ssh me@far --out x
  refused "is not USER@HOST" --ssh -oProxyCommand=x --out x
  refused "give --ssh too" --from http://127.0.0.1:1 --remote-port 1 --out x
  refused "--ssh makes a tunnel" --from http://192.0.2.1:6060 --out x
  refused "'0' is not a whole number" --from http://127.0.0.1:1 --seconds 0 --out x
  refused "is not empty" --from http://127.0.0.1:1 --out "$tmp"
  refused "'x' is not a port" --ssh me@far --remote-port x --out x
  refused "is not a port" --ssh me@far --local-port 123456 --out x
  refused "--out needs a value" --out
  refused "unknown option --form" --form x
  [ ! -e "$FAKE_SSH_LOG" ]
}

@test "what serves no profiles is said, and leaves no file" {
  for from in "http://127.0.0.1:$(free_port)" "$tmp"; do
    run --separate-stderr "$scripts/profile.sh" --from "$from" --out "$tmp/out"
    [ "$status" -eq 3 ]
    [[ $stderr == *"profile.sh: "*"nothing was written" || $stderr == *"no process serves profiles in $tmp;"* ]]
    [ ! -e "$tmp/out" ]
  done
}

@test "profile.sh says what is not installed" {
  mkdir "$tmp/bare"
  for tool in bash env ls mktemp rm; do ln -s "$(command -v $tool)" "$tmp/bare/"; done
  PATH=$tmp/bare run "$scripts/profile.sh" --ssh me@far --out x
  [ "$status" -eq 3 ]
  [[ $output == *"curl is not installed"* ]]
  ln -s "$(command -v curl)" "$tmp/bare/"
  PATH=$tmp/bare run "$scripts/profile.sh" --ssh me@far --out x
  [ "$status" -eq 3 ]
  [[ $output == *"ssh is not installed"*"openssh-client"* ]]
}
