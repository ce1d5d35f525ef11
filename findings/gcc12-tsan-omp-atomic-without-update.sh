#!/usr/bin/env bash
# gcc 12.2: -fopenmp -fsanitize=thread shows an atomic update of a double as an atomic load alone.
# Guessed: `omp atomic` on a double is a loop of a load and a compare-exchange, each with its hook, as
# it is for `+=` of an _Atomic double and with clang 14.
# Seen: the load is __tsan_atomic64_load, and the compare-exchange stays `lock cmpxchg` without a hook.
# The same holds for float, for `*=` of an int and for reductions of doubles; `+=` of an int has
# __tsan_atomic32_fetch_add. So a word that every thread updates is only ever read, and no two
# threads are seen to write it. gfortran 12.2 does the same.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gcc12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/gcc-12" "$@"; }
cat >atomics.c <<'C'
void plus_int(int *p)
{
#pragma omp atomic
    *p += 1;
}
void times_int(int *p)
{
#pragma omp atomic
    *p *= 3;
}
void plus_float(float *p)
{
#pragma omp atomic
    *p += 1;
}
void plus_double(double *p)
{
#pragma omp atomic
    *p += 1;
}
void write_double(double *p)
{
#pragma omp atomic write
    *p = 1;
}
int by_hand(int *p, int old) { return __sync_val_compare_and_swap(p, old, old * 3); }
C
gcc12 -O2 -fopenmp -fsanitize=thread -S -o out.s atomics.c
# Arguments: a function, the hooks of atomics it calls, its instructions with a lock.
check() {
  body=$(sed -n "/^$1:/,/\.cfi_endproc/p" out.s)
  called=$(grep -oE '__tsan_atomic[a-z0-9_]*' <<<"$body" | paste -sd ' ' || true)
  locked=$(grep -oE 'lock [a-z]*' <<<"$body" || true)
  echo "$1: $called, instructions: ${locked:-none}"
  [ "$called" = "$2" ]
  [ "$locked" = "$3" ]
}
check plus_int __tsan_atomic32_fetch_add ""
check times_int __tsan_atomic32_load "lock cmpxchgl"
check plus_float __tsan_atomic32_load "lock cmpxchgl"
check plus_double __tsan_atomic64_load "lock cmpxchgq"
check write_double __tsan_atomic64_store ""
check by_hand __tsan_atomic32_compare_exchange_strong ""
