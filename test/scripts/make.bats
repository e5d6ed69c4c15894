#!/usr/bin/env bats
# What make refuses before it begins, and what Hugo refuses without make.

bats_require_minimum_version 1.5.0

root() { cd "$BATS_TEST_DIRNAME/../.." && pwd; }

@test "a table that stands twice in lab/servers.toml ends the build of the lab, in one line" {
  root=$(root)
  cp -R "$root/lab" "$BATS_TEST_TMPDIR/"
  printf '\n[servers.null]\ncommand = "x"\n' >>"$BATS_TEST_TMPDIR/lab/servers.toml"
  cd "$root/lab"
  run --separate-stderr go run -trimpath ./cmd/stamp "$BATS_TEST_TMPDIR" "$BATS_TEST_TMPDIR/tags"
  [ "$status" -ne 0 ]
  # shellcheck disable=SC2154 # bats sets it
  [[ $stderr == *"lab/servers.toml: line "* ]]
}

@test "hugo without derived files ends with one line that says what to run" {
  root=$(root)
  cd "$BATS_TEST_TMPDIR"
  mkdir lab
  cp -R "$root"/{config.toml,content,layouts,assets,static} .
  cp -R "$root/lab/experiments" "$root/lab/servers.toml" lab/
  run --separate-stderr "$root/.tools/bin/hugo" --noBuildLock --destination public
  [ "$status" -ne 0 ]
  [ "$(grep -c ERROR <<<"$stderr$output")" -eq 1 ]
  [[ $stderr$output == *"derived/ is not written yet: run make site or make serve"* ]]
}
