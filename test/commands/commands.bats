#!/usr/bin/env bats
# The commands of pages for which make test has no time: downloads, the whole way of a contribution, and each lab run that a
# page names, with a shorter budget. All work in a clone, and what comes from GitHub comes from this tree. make commands runs
# them in half an hour.

bats_require_minimum_version 1.5.0
load ../scripts/helper

setup_file() {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  export root
  cd "$root" || return
  # Whoever clones the journal gets this commit.
  export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=url.$root.insteadOf GIT_CONFIG_VALUE_0=https://github.com/line-rate/line-rate
  export GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@example.org GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@example.org
  export XDG_RUNTIME_DIR=$BATS_FILE_TMPDIR
  clone=$BATS_FILE_TMPDIR/line-rate
  export clone
}

setup() {
  cd "$BATS_FILE_TMPDIR" || return
  bin=$BATS_TEST_TMPDIR/bin
  mkdir "$bin"
  plain_sudo "$bin"
  PATH=$bin:$PATH
  started=()
}

teardown() { [ "${#started[@]}" -eq 0 ] || kill "${started[@]}" 2>/dev/null || true; }

@test "a clone builds linerate, then everything" {
  bash -euo pipefail -c "$(block compare "git clone")"
  "$clone/.tools/bin/linerate" version
  make -C "$clone" build
}

@test "go install installs linerate and the series' server" {
  local at=$BATS_TEST_TMPDIR/proxy/github.com/line-rate/line-rate/lab/@v version=v0.0.1 typed
  mkdir -p "$at"
  echo "$version" >"$at/list"
  printf '{"Version": "%s", "Time": "2026-01-01T00:00:00Z"}\n' "$version" >"$at/$version.info"
  cp "$root/lab/go.mod" "$at/$version.mod"
  # A module has neither its tests' modules nor what has a go.mod of its own.
  python3 - "$root" "$at/$version.zip" "github.com/line-rate/line-rate/lab@$version/" <<'END'
import pathlib, subprocess, sys, zipfile
root, to, prefix = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
files = subprocess.run(["git", "-C", root / "lab", "ls-files"], capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
apart = [f[:-len("go.mod")] for f in files if f.endswith("/go.mod")]
with zipfile.ZipFile(to, "w", zipfile.ZIP_DEFLATED) as z:
    for f in files:
        if not any(f.startswith(a) for a in apart) and (root / "lab" / f).is_file():
            z.write(root / "lab" / f, prefix + f)
    z.write(root / "LICENSE", prefix + "LICENSE")
END
  mapfile -t typed < <(pages | xargs grep -ohE '^go install .*' | sort -u)
  [ "${#typed[@]}" -ge 3 ]
  export GOFLAGS=-modcacherw GOSUMDB=off GOBIN=$BATS_TEST_TMPDIR/installed GOMODCACHE=$BATS_TEST_TMPDIR/modules
  GOPROXY=file://$BATS_TEST_TMPDIR/proxy,file://$(env -u GOMODCACHE go env GOMODCACHE)/cache/download
  export GOPROXY
  for line in "${typed[@]}"; do
    echo "# $line"
    rm -rf "$GOBIN"
    bash -euo pipefail -c "$line"
    [[ $line != *cmd/linerate* ]] || "$GOBIN/linerate" version
    [[ $line != */server@* ]] || "$GOBIN/server" --help 2>&1 | grep -q -- --prefork
  done
}

@test "curl gets linerate from a release" {
  command -v openssl >/dev/null && command -v curl >/dev/null || skip "it needs curl and openssl"
  local port at=$BATS_TEST_TMPDIR/www/line-rate/line-rate/releases/latest/download
  "$clone/tools/release.sh" "v$(sed -n 's/^version: *//p' "$clone/CITATION.cff")" "$at"
  (cd "$at" && sha256sum --check --quiet SHA256SUMS)
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 1 -subj /CN=github.com \
    -addext subjectAltName=DNS:github.com -keyout "$BATS_TEST_TMPDIR/key" -out "$BATS_TEST_TMPDIR/cert" 2>/dev/null
  port=$(free_port)
  python3 - "$port" "$BATS_TEST_TMPDIR" 3>&- <<'END' &
import functools, http.server, ssl, sys
port, at = int(sys.argv[1]), sys.argv[2]
s = http.server.HTTPServer(("127.0.0.1", port), functools.partial(http.server.SimpleHTTPRequestHandler, directory=at + "/www"))
c = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
c.load_cert_chain(at + "/cert", at + "/key")
s.socket = c.wrap_socket(s.socket, server_side=True)
s.serve_forever()
END
  started+=("$!")
  printf 'connect-to = "github.com:443:127.0.0.1:%s"\ncacert = "%s"\n' "$port" "$BATS_TEST_TMPDIR/cert" >"$BATS_TEST_TMPDIR/.curlrc"
  export CURL_HOME=$BATS_TEST_TMPDIR
  until_true curl -fs https://github.com/
  cd "$BATS_TEST_TMPDIR"
  bash -euo pipefail -c "$(block compare 'curl ')"
  ./linerate version
}

@test "programs on pages print what the pages say" {
  local page
  for page in 15-pushes batch-processor event-cost; do
    block "journal/$page" "package main" >"$BATS_TEST_TMPDIR/main.go"
    run go run "$BATS_TEST_TMPDIR/main.go"
    echo "# $page: $output"
    case $page in
      15*) [[ $output =~ ^([0-9]+)" of 10000 lost"$ && ${BASH_REMATCH[1]} -gt 5000 ]] ;;
      batch*) [[ $output =~ ^([0-9]+)" of 100 ticks taken"$ && ${BASH_REMATCH[1]} -lt 50 ]] ;;
      event*) [[ $output =~ ^([0-9]+)" bytes a reader"$ && ${BASH_REMATCH[1]} -gt 4000 ]] ;;
    esac
  done
}

@test "the studies of peers and of tips compare two servers" {
  local page status
  ln -s "$clone/.tools/bin/fiber_server" "$bin/server"
  ln -s "$clone/.tools/bin/linerate" "$bin/linerate"
  for page in peers road; do
    status=0
    bash -euo pipefail -c "$(block "journal/$page" "linerate compare" | sed '/^go install/d')" || status=$?
    [ "$status" -le 1 ]
  done
}

@test "entry 02 raises limits, in a network of its own" {
  [ "$(id -u)" = 0 ] && command -v sysctl >/dev/null || skip "it needs root and sysctl"
  unshare --net true || skip "there are no namespaces here"
  local typed line
  typed=$(block journal/02-offered-rates 'sysctl -w')
  while read -r line; do
    echo "# $line"
    case $line in
      # The machine has one for all networks, so this sets it to what it is.
      *netdev_max_backlog*) bash -c "${line%=*}=$(sysctl -n net.core.netdev_max_backlog)" ;;
      ulimit*) (ulimit -n "$(ulimit -Hn)") ;;
      *) unshare --net bash -c "$line" | grep -F "$(sed -n 's/.*=//p' <<<"${line//\"/}")" ;;
    esac
  done <<<"$typed"
}

@test "entry 06 stops irqbalance, or says that there is none" {
  cd "$clone"
  run bash -c "$(block journal/06-irq-pinning tune-irqbalance | grep 'irqbalance.* apply')"
  echo "$output"
  lab/scripts/tune-irqbalance.sh restore
  [ "$status" -eq 0 ] || [[ $output == *irqbalance* ]]
}

@test "each lab run that a page names" {
  cd "$clone"
  local call words status=0 failed=()
  while read -r call; do
    [[ $call != *--client* ]] || continue # the tests of package fleet have hosts of their own
    words=(".tools/bin/$call")
    [[ $call == *--budget* ]] || words+=(--budget 45s)
    status=0
    bash -c "${words[*]}" >"$BATS_TEST_TMPDIR/out" 2>&1 || status=$?
    echo "# ${words[*]}: $status"
    tail -n 2 "$BATS_TEST_TMPDIR/out"
    # 0: all claims hold; 1: some do not, or are open.
    [ "$status" -le 1 ] && grep -qE '^[0-9]+ of [0-9]+ claims? decided here; [0-9]+ not applicable' "$BATS_TEST_TMPDIR/out" || failed+=("$call: $status")
  done < <(lab_runs | sed 's/--budget 20m/--budget 2m/')
  printf '%s\n' "${failed[@]}"
  [ "${#failed[@]}" -eq 0 ]
}

@test "calibration adds a line for each pair" {
  cd "$clone"
  local before
  before=$(wc -l <data/calibration/pairs.csv)
  bash -euo pipefail -c "$(block calibration 'make calibrate' | sed -n 's/--pairs 5/--pairs 1/; s/--budget 120/--budget 20/p')"
  [ "$(wc -l <data/calibration/pairs.csv)" -eq $((before + 2)) ]
  git checkout --quiet data/calibration
}

@test "a run is committed and pushed" {
  cd "$clone"
  git init --quiet --bare "$BATS_TEST_TMPDIR/fork.git"
  bash -euo pipefail -c "$(block contribute 'lab check' | sed 's/lab run --all/lab run --budget 1m --all || [ $? -eq 1 ]/')"
  git push --quiet "$BATS_TEST_TMPDIR/fork.git" HEAD:refs/heads/a-run
  git show --name-only --format= HEAD | grep -F data/results/
}
