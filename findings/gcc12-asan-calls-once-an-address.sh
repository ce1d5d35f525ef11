#!/usr/bin/env bash
# gcc 12.2: the calls of -fsanitize=address are no trace of accesses: an increment is a load only.
# Guessed: with --param asan-instrumentation-with-call-threshold=0 each access calls __asan_loadN or
# __asan_storeN with its address, so that functions of one's own under these names see all of them.
# Seen: within a stretch without calls an address is checked once, by its first access: an increment and a
# swap of two words are loads without stores, and a second read of a volatile variable disappears.
# memcpy and memset have no call: the library's own functions check them. Masked stores and gathers
# have none either; an atomic update is a store; a bit-field's write is a store without its load.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libgcc-12-dev=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
cat >p.c <<'C'
#include <immintrin.h>
struct bits { unsigned low : 3, high : 5; };
long plain_load(long *p) { return *p; }
void increment(long *p) { ++*p; }
void swap(long *p, long *q)
{
    long a = *p, b = *q;
    *p = b;
    *q = a;
}
long volatile_twice(volatile long *p) { return *p + *p; }
void atomic_add(long *p) { __atomic_fetch_add(p, 1, __ATOMIC_SEQ_CST); }
void bit_field(struct bits *p) { p->high = 3; }
void copy(char *a, char *b, long n) { __builtin_memcpy(a, b, n); }
void masked_store(float *p, __m256i mask, __m256 v) { _mm256_maskstore_ps(p, mask, v); }
__m256i gather(int *p, __m256i at) { return _mm256_i32gather_epi32(p, at, 4); }
C
export LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu
usr/bin/gcc-12 --version | head -1
usr/bin/gcc-12 -O1 -mavx2 -fsanitize=address --param asan-instrumentation-with-call-threshold=0 -S p.c
awk '/^[a-z_0-9]+:/ { name = $1; calls = "" }
  /(call|jmp)[ \t].*__asan_(load|store)/ { sub(/.*__asan_/, ""); sub(/@PLT/, ""); calls = calls " " $1 }
  /cfi_endproc/ && name { print name (calls ? calls : " none"); name = "" }' p.s | tee seen
diff seen - <<'SEEN'
plain_load: load8
increment: load8
swap: load8 load8
volatile_twice: load8
atomic_add: store8
bit_field: store1
copy: none
masked_store: none
gather: none
SEEN
