#!/usr/bin/env bash
# Makes what a release consists of: linerate, the lab and its programs for each platform,
# their checksums, and the notes. The same commit gives the same archives.
#
#   tools/release.sh TAG DIRECTORY
set -euo pipefail
tag=${1:?usage: tools/release.sh TAG DIRECTORY}
out=${2:?usage: tools/release.sh TAG DIRECTORY}
[[ $tag =~ ^v[0-9]+(\.[0-9]+)*(-[0-9a-z.]+)?$ ]] || { echo "$tag is no version, such as v1.2.0" >&2; exit 2; }
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "${BASH_SOURCE[0]}")/.."
top=$PWD
# Whoever cites the programs takes the version from there.
version=$(sed -n 's/^version: *//p' CITATION.cff)
[ "v$version" = "$tag" ] || { echo "CITATION.cff has the version ${version:-of nothing}, and the tag is $tag: set its version and date-released in a commit, and tag that one" >&2; exit 2; }
date=$(git log -1 --format=%cI)
make --no-print-directory .tools/bin/lab # which the notes ask
# build ARCHITECTURE DIRECTORY FILE: without cgo a program runs with any C library.
build() {
  local vcs=true; case $2 in lab/cmd/*) ;; *) vcs=false ;; esac # what is measured is told by its file alone
  (cd "$2" && CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOWORK=off go build -trimpath -buildvcs=$vcs \
    -ldflags "-w -X github.com/line-rate/line-rate/lab/internal/cli.Release=$tag" -o "$top/$3" .)
}
# pack NAME DIRECTORY FILE…: the same files give the same archive.
pack() { tar --sort=name --mtime="$date" --owner=0 --group=0 --numeric-owner -C "$2" -cf - "${@:3}" | gzip -n -9 >"$out/$1.tar.gz"; }
for arch in amd64 arm64; do
  # For whoever compares servers of their own. Its name has no version, so that its address stays.
  alone=.tools/release/linerate-$arch
  mkdir -p "$alone"
  build "$arch" lab/cmd/linerate "$alone/linerate"
  cp LICENSE "$alone/"
  tools/notices.sh "$arch" lab/cmd/linerate >"$alone/NOTICES"
  pack "linerate-linux-$arch" "$alone" LICENSE NOTICES linerate
  rm -rf "$alone"

  # For a clone of the journal.
  name=line-rate-$tag-linux-$arch
  mkdir -p ".tools/release/$name"
  packages=()
  while read -r directory program; do
    build "$arch" "$directory" ".tools/release/$name/$program"
    packages+=("$directory")
  done <<'END'
lab/cmd/lab lab
lab/server fiber_server
lab/servers/floor null_server
lab/servers/floor floor_server
lab/cmd/http_load http_load
lab/cmd/linerate linerate
lab/batch/study/producer event_producer
lab/batch/study/sink event_sink
lab/servers/fanout fanout_server
lab/servers/fanout/epoll fanout_floor
lab/servers/fanout/reader event_reader
END
  cp LICENSE ".tools/release/$name/"
  tools/notices.sh "$arch" "${packages[@]}" >".tools/release/$name/NOTICES"
  pack "$name" .tools/release "$name"
  rm -rf ".tools/release/$name"
done
(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS)

{
  # The tag's own words, then what has moved since the release before.
  git for-each-ref --format='%(contents:body)' "refs/tags/$tag"
  if before=$(git describe --tags --abbrev=0 --match 'v*' "$tag^" 2>/dev/null); then
    tools/moved.sh "$before"
  fi
  # shellcheck disable=SC2016 # the backquotes are Markdown
  printf '\n## Programs\n\n`linerate-linux-*.tar.gz` has linerate, which compares servers anywhere. The programs of `line-rate-*` measure only in a clone of this tag: unpack them into its `.tools/bin`. `sha256sum --check SHA256SUMS` checks an archive, and `gh attestation verify FILE --repo %s` says where it was built.\n' "${GITHUB_REPOSITORY:-line-rate/line-rate}"
} >"$out/NOTES.md"
