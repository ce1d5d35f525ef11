#!/usr/bin/env bash
# gcc 12.2, clang 14.0.6: which variables of a file are neighbours depends on compiler and level.
# Guessed: variables follow one another as they are defined, so that two counters defined side by side
# share a line of a cache in any build.
# Seen: gcc does so at -O0; from -O1 on the order is reversed. Clang puts variables with "= 0" before those
# without, at every level. An array of 64 bytes starts at a multiple of 32 with gcc, of 16 with clang. So
# the neighbours of a lock in a debug build are not those in a release build, nor those with clang.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1 clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 libedit2 libbsd0 libmd0 libz3-4 libxml2 libicu72 libffi8
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$work/usr/lib/llvm-14/lib:$work/usr/lib/x86_64-linux-gnu
cat >p.c <<'C'
long flag, lock = 0, count;
long table[8];
long last;
C
# The variables in the order of their labels, which is that of their addresses; arrays with their alignment.
order() {
  "$@" -S -o p.s p.c
  awk '/^\t\.(align|p2align)/ { align = $1 == ".p2align" ? 2 ^ $2 : $2 }
    /^[a-z]+:/ { sub(":", ""); printf " " $1 ($1 == "table" ? "(" align ")" : "") }' p.s
}
{
  echo "gcc -O0:  $(order usr/bin/gcc-12 -O0)"
  echo "gcc -O1:  $(order usr/bin/gcc-12 -O1)"
  echo "gcc -O2:  $(order usr/bin/gcc-12 -O2)"
  echo "clang -O0:$(order usr/bin/clang-14 -O0)"
  echo "clang -O2:$(order usr/bin/clang-14 -O2)"
} | tee seen
diff seen - <<'SEEN'
gcc -O0:   flag lock count table(32) last
gcc -O1:   last table(32) count lock flag
gcc -O2:   last table(32) count lock flag
clang -O0: lock flag count table(16) last
clang -O2: lock flag count table(16) last
SEEN
