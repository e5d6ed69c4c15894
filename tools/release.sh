#!/usr/bin/env bash
# Makes what a release consists of: the lab and its programs for each platform, their
# checksums, and the notes. The same commit gives the same archives.
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
make --no-print-directory .tools/bin/lab
for arch in amd64 arm64; do
  name=line-rate-$tag-linux-$arch
  mkdir -p ".tools/release/$name"
  packages=()
  # Without cgo a program runs with any C library.
  while read -r directory program; do
    (cd "$directory" && CGO_ENABLED=0 GOOS=linux GOARCH=$arch GOWORK=off go build -trimpath -buildvcs=false \
      -tags "$(cat "$top/.tools/stamp/sources")" -o "$top/.tools/release/$name/$program" .)
    packages+=("$directory")
  done <<'END'
lab/cmd/lab lab
lab/fiber fiber_server
lab/null null_server
lab/floor floor_server
lab/cmd/http_load http_load
lab/study/producer event_producer
lab/study/sink event_sink
END
  cp LICENSE ".tools/release/$name/"
  tools/notices.sh "$arch" "${packages[@]}" >".tools/release/$name/NOTICES"
  tar --sort=name --mtime="$date" --owner=0 --group=0 --numeric-owner -C .tools/release -cf - "$name" | gzip -n -9 >"$out/$name.tar.gz"
  rm -rf ".tools/release/$name"
done
(cd "$out" && sha256sum -- *.tar.gz >SHA256SUMS)

{
  # The tag's own words, then what has moved since the release before.
  git for-each-ref --format='%(contents:body)' "refs/tags/$tag"
  if before=$(git describe --tags --abbrev=0 --match 'v*' "$tag^" 2>/dev/null); then
    printf '## Since %s\n\n' "$before"
    .tools/bin/lab report --against "$before" --markdown
  fi
  # shellcheck disable=SC2016 # the backquotes are Markdown
  printf '\n## Programs\n\nThey measure only in a clone of this tag: unpack them into its `.tools/bin`. `sha256sum --check SHA256SUMS` checks an archive, and `gh attestation verify FILE --repo %s` says where it was built.\n' "${GITHUB_REPOSITORY:-line-rate/line-rate}"
} >"$out/NOTES.md"
