#!/usr/bin/env bash
# libstdc++ 12: a shared_ptr gives its object up with other accesses under -fsanitize=thread.
# Guessed: one atomic subtraction for each of the two counts, with hooks under the sanitizer.
# Seen: the ordinary program first loads both counts, of 4 bytes each, with one load of 8 bytes, and
# if both are 1, it stores 0 to both at once and subtracts nothing. Under the sanitizer the header leaves
# this out. So the sanitizer's program updates two words atomically where the ordinary one updates
# none, and the bytes and the kinds of access to the words that threads share are not those shipped.
# Needs libc6-dev, for the headers.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root g++-12=12.2.0-14+deb12u1 \
  gcc-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 \
  libstdc++-12-dev=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gxx12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/g++-12" "$@"; }
cat >drop.cc <<'C'
#include <memory>
void drop(std::shared_ptr<int> &pointer) { pointer.reset(); }
C
# Arguments: loads of both counts at once, hooks of updates, then options. 4294967297: both are 1.
check() {
  gxx12 -O2 "${@:3}" -S -o out.s drop.cc
  sed -n '/^_Z4drop/,/\.cfi_endproc/p' out.s >drop.s
  loads=$(grep -c '\$4294967297' drop.s || true)
  hooks=$(grep -c '__tsan_atomic32_fetch_add' drop.s || true)
  echo "${*:3}: compares both counts $loads, hooks of updates $hooks"
  [ "$loads" = "$1" ]
  [ "$hooks" = "$2" ]
}
check 1 0
check 0 2 -fsanitize=thread
