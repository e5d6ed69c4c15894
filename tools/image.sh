#!/usr/bin/env bash
# Builds linerate's image of a release's archives, for each architecture, and with --push
# publishes it, under the tag and as the latest. BUILDER is docker, or what takes its options.
#
#   tools/image.sh [--push] TAG DIRECTORY     the directory has what tools/release.sh makes
set -euo pipefail
push=''
[ "${1-}" != --push ] || { push=yes; shift; }
tag=${1:?usage: tools/image.sh [--push] TAG DIRECTORY}
dist=${2:?usage: tools/image.sh [--push] TAG DIRECTORY}
builder=${BUILDER:-docker}
image=ghcr.io/${GITHUB_REPOSITORY_OWNER:-line-rate}/linerate
top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
built=()
for arch in amd64 arm64; do
  mkdir "$work/$arch"
  tar -xzf "$dist/linerate-linux-$arch.tar.gz" -C "$work/$arch"
  "$builder" build --platform "linux/$arch" --file "$top/Containerfile" --tag "$image:$tag-$arch" "$work/$arch"
  built+=("$image:$tag-$arch")
done
[ -n "$push" ] || exit 0
for one in "${built[@]}"; do "$builder" push "$one"; done
for name in "$tag" latest; do
  "$builder" manifest create "$image:$name" "${built[@]}"
  "$builder" manifest push "$image:$name"
done
