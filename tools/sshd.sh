#!/usr/bin/env bash
# Puts an sshd into .tools/sshd if this machine has none, for lab/scripts/fleet.sh. It takes
# the distribution's own package, whose signature apt checks, and needs no root: the package
# is unpacked, not installed, together with libraries that are missing or too old.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

if sshd=$(PATH=$PATH:/usr/sbin type -P sshd) && [ -f "$sshd" ] && [ -x "$sshd" ]; then exit; fi
[ -x .tools/sshd/usr/sbin/sshd ] && exit
if ! command -v apt-get >/dev/null || ! command -v dpkg-deb >/dev/null; then
  echo "not applicable: no sshd (Debian and Ubuntu: apt-get install openssh-server)"
  exit
fi

dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
# Another user fetches for root, and may not write to root's directories.
options=(-q=2 -o APT::Sandbox::User=root)

# fetch downloads the package and the libraries that it needs besides those installed. Of
# the C library the installed one has to do, since no program can run with parts of two.
fetch() {
  local packages
  packages=$(apt-get "${options[@]}" --simulate --no-install-recommends install openssh-server | awk '$1 == "Inst" && $2 ~ /^lib/ && $2 !~ /^libc6/ { print $2 }') || return
  # shellcheck disable=SC2086 # names, one a line
  (cd "$dir" && apt-get "${options[@]}" download openssh-server $packages)
}
if ! fetch 2>"$dir/why"; then
  # Lists of this machine are missing or out of date. Only root may renew those, so apt
  # gets lists of its own.
  mkdir -p "$dir"/{lists,cache}/partial
  options+=(-o "Dir::State::lists=$dir/lists" -o "Dir::Cache=$dir/cache")
  if ! apt-get "${options[@]}" update 2>"$dir/why" || ! fetch 2>"$dir/why"; then
    echo "not applicable: no sshd, and apt cannot fetch one: $(head -n 1 "$dir/why")"
    exit
  fi
fi
rm -rf .tools/sshd .tools/sshd.new
for package in "$dir"/*.deb; do dpkg-deb -x "$package" .tools/sshd.new; done
mv .tools/sshd.new .tools/sshd
