#!/usr/bin/env bash
# Prints the licences of everything that is linked into programs of the lab beside the lab
# itself: Go's library and each module, as they lie in Go's own cache, so that what is
# printed is of the version that is linked. A module without a licence is an error.
#
#   tools/notices.sh ARCHITECTURE DIRECTORY…     directories of programs, from the root
set -euo pipefail
arch=${1:?usage: tools/notices.sh ARCHITECTURE DIRECTORY…}
shift
cd "$(dirname "${BASH_SOURCE[0]}")/.."
# found prints the files in a directory that say under which terms its code may be passed on.
found() { find "$1" -maxdepth 1 -type f \( -iname 'licen[cs]e*' -o -iname 'copying*' -o -iname 'notice*' -o -iname 'patents*' \) ! -name '*.go' | LC_ALL=C sort; }
# show NAME DIRECTORY DIRECTORY… prints a module's files: those of its root, and of each
# linked package's directory on the way there, where code of yet others may lie.
show() {
  local name=$1 root=$2 at file printed=
  shift 2
  while read -r file; do
    [ -n "$file" ] || continue
    printed=yes
    printf '\n==== %s: %s\n\n' "$name" "${file#"$root"/}"
    cat "$file"
  done < <(for at in "$root" "$@"; do
    while [ "$at" != "$root" ]; do found "$at"; at=$(dirname "$at"); done
    found "$root"
  done | LC_ALL=C sort -u)
  [ -n "$printed" ] || { echo "$name has no licence in $root; do not pass it on" >&2; return 1; }
}
echo 'These programs are made with the following. What is under which terms, in their own words:'
show "Go's library, $(go env GOVERSION)" "$(go env GOROOT)"
linked=$(for program in "$@"; do
  CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOWORK=off go list -C "$program" -deps \
    -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}{{"\t"}}{{.Dir}}{{"\t"}}{{$.Dir}}{{end}}{{end}}' .
done |
  { grep -v '^github.com/line-rate/line-rate/' || true; } | LC_ALL=C sort -u)
while IFS=$'\t' read -r name root; do
  mapfile -t dirs < <(awk -F '\t' -v name="$name" '$1 == name { print $3 }' <<<"$linked")
  show "$name" "$root" "${dirs[@]}"
done < <(cut -f 1,2 <<<"$linked" | uniq)
