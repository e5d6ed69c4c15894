#!/usr/bin/env bats
# What goes with a release beside its programs.

bats_require_minimum_version 1.5.0

setup() { cd "$BATS_TEST_DIRNAME/../.." || return; }

@test "the notices name each module that is linked, with its licence" {
  command -v go >/dev/null || skip "Go is not installed"
  # What the linker wrote into the lab, not what the script asked Go for.
  linked=$(go version -m .tools/bin/lab | awk '$1 == "dep" { print $2, $3 }')
  [ -n "$linked" ]
  tools/notices.sh amd64 lab/cmd/lab >"$BATS_TEST_TMPDIR/notices"
  while read -r name; do
    awk -v name="==== $name:" 'index($0, name) == 1 { on = 1; next } /^==== / { on = 0 } on' "$BATS_TEST_TMPDIR/notices" >"$BATS_TEST_TMPDIR/one"
    grep -qiE 'permission is hereby granted|redistribution and use|apache license|public domain' "$BATS_TEST_TMPDIR/one" || { echo "no licence of $name"; false; }
  done <<<"$linked"
  grep -q "^==== Go's library, go1" "$BATS_TEST_TMPDIR/notices"
}

@test "a tag that is not the version to cite is refused before anything is built" {
  run --separate-stderr tools/release.sh v9.9.9 "$BATS_TEST_TMPDIR/dist"
  [ "$status" -eq 2 ]
  # shellcheck disable=SC2154 # bats sets it
  [[ $stderr == "CITATION.cff has the version "*", and the tag is v9.9.9: "* ]]
  [ -z "$(ls "$BATS_TEST_TMPDIR/dist")" ]
}
