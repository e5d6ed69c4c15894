#!/usr/bin/env bash
# Says what a host of a fleet is and has, one NAME=VALUE a line. It changes nothing. The
# playbooks send it to each host and read what it prints.
#
#   lab/fleet/look.sh CHECKOUT ADDRESS     the address at the other end of the load
set -euo pipefail
export PATH=$PATH:/usr/sbin:/sbin
dir=${1/#\~\//$HOME/} address=$2

echo "system=$(uname -s)"
echo "arch=$(uname -m)"
echo "user=$(id -un)"
if [ "$(id -u)" = 0 ]; then echo root=yes; elif sudo -n true 2>/dev/null; then echo root=sudo; else echo root=no; fi
echo "dir=$dir"

missing='' packages=''
while read -r command package; do
  command -v "$command" >/dev/null || { missing+=${missing:+ }$command; packages+=${packages:+ }$package; }
done <<'LIST'
git git
ip iproute2
taskset util-linux
setpriv util-linux
tar tar
gzip gzip
LIST
echo "missing=$missing"
echo "packages=$packages"
echo "chrony=$(command -v chronyc >/dev/null && echo yes || echo no)"

# The interface is the one that the kernel would send by, so nobody has to know its name.
device=''
if command -v ip getent >/dev/null; then
  for address in $(getent ahosts "$address" | awk '{ print $1 }' | sort -u); do
    device=$(ip -o route get "$address" 2>/dev/null | sed -n 's/.* dev \([^ ]*\).*/\1/p')
    [ -z "$device" ] || break
  done
fi
echo "device=$device"

commit='' differs='' prepared=no
if [ -e "$dir/.git" ] && command -v git >/dev/null; then
  commit=$(git -C "$dir" rev-parse --verify --quiet HEAD || true)
  prepared=$(git -C "$dir" config --local --default no line-rate.prepared)
  # Paths of a checkout that are part of the lab, as opposed to what runs add to data/.
  differs=$(git -C "$dir" status --porcelain --no-renames -- lab Makefile package.json package-lock.json .npmrc 2>/dev/null | cut -c4- | head -n 3 | paste -sd ' ')
elif [ -d "$dir" ] && [ -n "$(ls -A --ignore=.tools "$dir")" ]; then
  commit=none
fi
echo "commit=$commit"
echo "differs=$differs"
echo "prepared=$prepared"
# The lock is the lab's own: it is held for as long as a run goes on in this checkout.
measuring=no
if [ -e "$dir/.tools/scratch/lock" ] && ! flock -n "$dir/.tools/scratch/lock" true; then measuring=yes; fi
echo "measuring=$measuring"

if [ -d "$dir/.tools/bin" ]; then
  cd "$dir/.tools/bin"
  for program in *; do
    if [ -f "$program" ] && [ ! -L "$program" ]; then echo "program.$program=$(sha256sum <"$program" | cut -d ' ' -f 1)"; fi
  done
fi
