#!/usr/bin/env bash
# gcc 12.2 for riscv64: an atomic store of a word is an atomic exchange, even with memory_order_relaxed.
# Guessed: `sw`, behind a fence for release and seq_cst, as the table in the manual of the instruction
# set gives them and as clang 14 does.
# Seen: amoswap into register zero, for int, long and pointers. Bytes and half words, for which there is
# no such instruction, are sb and sh, with a fence for release; a volatile store is sw. So one flag is an
# update of memory or a store, by its width: a trace has read-modify-writes where the source has none.
# An addition with release has no .rl: a fence precedes it, so that a release is not in the instruction.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12-riscv64-linux-gnu=12.2.0-13cross1 \
  cpp-12-riscv64-linux-gnu=12.2.0-13cross1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
cat >stores.c <<'C'
#define STORE(name, type, order) void name(type *p) { __atomic_store_n(p, 1, __ATOMIC_##order); }
#define ADD(name, order) int name(int *p) { return __atomic_fetch_add(p, 1, __ATOMIC_##order); }
STORE(relaxed, int, RELAXED)
STORE(release, int, RELEASE)
STORE(seq_cst, int, SEQ_CST)
STORE(long_relaxed, long, RELAXED)
STORE(byte_relaxed, char, RELAXED)
STORE(byte_release, char, RELEASE)
STORE(half_relaxed, short, RELAXED)
void pointer_relaxed(void **p, void *q) { __atomic_store_n(p, q, __ATOMIC_RELAXED); }
void with_volatile(volatile int *p) { *p = 1; }
ADD(add_relaxed, RELAXED)
ADD(add_acquire, ACQUIRE)
ADD(add_release, RELEASE)
ADD(add_seq_cst, SEQ_CST)
C
LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu usr/bin/riscv64-linux-gnu-gcc-12 -O2 -S -o out.s stores.c
# Arguments: a function, its fences and instructions with memory, in order.
check() {
  seen=$(sed -n "/^$1:/,/\.size/p" out.s | grep -oE '\b(fence|amo[a-z.]+|s[bhwd]|l[bhwd]u?)\b' |
    paste -sd ' ')
  echo "$1: $seen"
  [ "$seen" = "$2" ]
}
check relaxed amoswap.w
check release "fence amoswap.w"
check seq_cst "fence amoswap.w.aq"
check long_relaxed amoswap.d
check pointer_relaxed amoswap.d
check byte_relaxed sb
check byte_release "fence sb"
check half_relaxed sh
check with_volatile sw
check add_relaxed amoadd.w
check add_acquire amoadd.w.aq
check add_release "fence amoadd.w"
check add_seq_cst "fence amoadd.w.aq"
