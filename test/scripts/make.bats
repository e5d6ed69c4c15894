#!/usr/bin/env bats
# What make refuses before it begins.

bats_require_minimum_version 1.5.0

@test "a table that stands twice in lab/servers.toml ends make site, in one line, before Hugo reads it" {
  root=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
  cd "$BATS_TEST_TMPDIR"
  mkdir -p lab .tools/bin
  cp "$root/Makefile" .
  cp "$root/lab/servers.toml" lab/
  printf '#!/bin/sh\necho Hugo ran\n' >.tools/bin/hugo
  chmod +x .tools/bin/hugo
  make_it=(env GOFLAGS= MAKEFLAGS= timeout 20 make -o .tools/bin/hugo -o .tools/stamp/generator)
  run --separate-stderr "${make_it[@]}" once
  [ "$status" -eq 0 ]
  printf '\n[servers.null]\ncommand = "x"\n' >>lab/servers.toml
  for target in site serve; do
    run --separate-stderr "${make_it[@]}" "$target"
    [ "$status" -eq 2 ]
    [[ $output != *"Hugo ran"* ]]
    # shellcheck disable=SC2154 # bats sets it
    [[ $stderr == "lab/servers.toml:$(wc -l <lab/servers.toml | awk '{ print $1 - 1 }'): the table [servers.null] stands twice, first in line "* ]]
  done
}
