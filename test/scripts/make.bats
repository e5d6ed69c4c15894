#!/usr/bin/env bats
# What Hugo refuses without make.

bats_require_minimum_version 1.5.0

root() { cd "$BATS_TEST_DIRNAME/../.." && pwd; }

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
