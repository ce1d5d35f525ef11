#!/usr/bin/env bash
# gcc 12.2 for riscv64: a compare-and-swap with release orders nothing before it.
# Guessed: a fence before the loop, as gcc's other updates with release have one, or `sc.w.rl`, as
# clang 14 has it; the order for success says what a swap that happens must order.
# Seen: the fence depends on the order for failure alone. `compare_exchange_strong` with release, whose
# order for failure is then relaxed, is the same text as with relaxed, and seq_cst with acquire has no
# fence either. Only seq_cst for both, the default, has it. For arm64 the same functions of gcc 12.2 are
# calls named after the order for success. A tool that takes releases from the instructions sees none
# in a lock that is let go by a compare-and-swap, and there is none.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12-riscv64-linux-gnu=12.2.0-13cross1 \
  cpp-12-riscv64-linux-gnu=12.2.0-13cross1 gcc-12-aarch64-linux-gnu=12.2.0-14cross1 \
  cpp-12-aarch64-linux-gnu=12.2.0-14cross1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
compile() {
  LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "usr/bin/$1-linux-gnu-gcc-12" -O2 -S -o "$1.s" cas.c
}
cat >cas.c <<'C'
#define CAS(name, success, failure) \
    _Bool name(int *p, int old) \
    { \
        return __atomic_compare_exchange_n(p, &old, 2, 0, __ATOMIC_##success, __ATOMIC_##failure); \
    }
CAS(relaxed, RELAXED, RELAXED)
CAS(release, RELEASE, RELAXED)
CAS(acq_rel, ACQ_REL, RELAXED)
CAS(acq_rel_acquire, ACQ_REL, ACQUIRE)
CAS(seq_cst_acquire, SEQ_CST, ACQUIRE)
CAS(seq_cst, SEQ_CST, SEQ_CST)
int exchange(int *p) { return __atomic_exchange_n(p, 2, __ATOMIC_RELEASE); }
C
compile riscv64
compile aarch64
# Arguments: a function, its fences and instructions with memory for riscv64, its call for arm64.
check() {
  seen=$(sed -n "/^$1:/,/\.size/p" riscv64.s | grep -oE '\b(fence|amo[a-z.]+|lr[a-z.]+|sc\.[a-z.]+)' |
    paste -sd ' ')
  called=$(sed -n "/^$1:/,/\.size/p" aarch64.s | grep -oE '__aarch64_[a-z0-9_]+')
  echo "$1: $seen; arm64: $called"
  [ "$seen" = "$2" ]
  [ "$called" = "__aarch64_$3" ]
}
check relaxed "lr.w sc.w" cas4_relax
check release "lr.w sc.w" cas4_rel
check acq_rel "lr.w sc.w.aq" cas4_acq_rel
check acq_rel_acquire "lr.w.aq sc.w.aq" cas4_acq_rel
check seq_cst_acquire "lr.w.aq sc.w.aq" cas4_acq_rel
check seq_cst "fence lr.w.aq sc.w.aq" cas4_acq_rel
check exchange "fence amoswap.w" swp4_rel
