#!/usr/bin/env bash
# clang 14.0.6: -fsanitize-coverage=trace-loads,trace-stores does not call back for every load and store.
# Guessed: a call before each access of the optimised program, with the largest size for wider ones.
# Seen: updates of atomics have none, neither as a load nor as a store: a program whose threads only share
# counters and locks shares nothing in such a trace. Vectors of 32 bytes, long double, copies of
# structures, memcpy and memset, structures passed by value, masked accesses and gathers have none either.
# Atomic loads and stores and __int128 have theirs.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root clang-14=1:14.0.6-12 libclang-cpp14=1:14.0.6-12 \
  libllvm14=1:14.0.6-12 libclang-common-14-dev=1:14.0.6-12 libedit2 libbsd0 libmd0 libz3-4 libxml2 \
  libicu72 libffi8
for package in *.deb; do dpkg -x "$package" .; done
export LD_LIBRARY_PATH=$work/usr/lib/llvm-14/lib:$work/usr/lib/x86_64-linux-gnu
cat >p.c <<'C'
#include <immintrin.h>
#include <string.h>
typedef float eight __attribute__((vector_size(32)));
typedef float four __attribute__((vector_size(16)));
struct large { long words[8]; };
extern long word;
extern eight e;
extern four f;
extern long double extended;
extern __int128 wide;
extern struct large from, to;
void take(struct large);
long plain_load(void) { return word; }
void plain_increment(void) { word++; }
long atomic_load(void) { return __atomic_load_n(&word, __ATOMIC_SEQ_CST); }
void atomic_store(void) { __atomic_store_n(&word, 1, __ATOMIC_SEQ_CST); }
void atomic_add(void) { __atomic_fetch_add(&word, 1, __ATOMIC_SEQ_CST); }
long atomic_swap(void) { return __atomic_exchange_n(&word, 1, __ATOMIC_SEQ_CST); }
int atomic_compare(long old)
{
    return __atomic_compare_exchange_n(&word, &old, 2, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}
void wide_load(__int128 *out) { *out = wide; }
void vector_of_16(four *out) { *out = f; }
void vector_of_32(eight *out) { *out = e; }
void long_double(long double *out) { *out = extended; }
void structure(void) { to = from; }
void by_value(void) { take(from); }
void copy(char *a, char *b, long n) { memcpy(a, b, n); }
void set(char *a, long n) { memset(a, 0, n); }
void masked_store(float *p, __m256i mask, __m256 v) { _mm256_maskstore_ps(p, mask, v); }
__m256i gather(int *p, __m256i at) { return _mm256_i32gather_epi32(p, at, 4); }
C
usr/bin/clang-14 --version | head -1
usr/bin/clang-14 -O1 -mavx2 -fsanitize-coverage=trace-loads,trace-stores,trace-pc-guard -S -o p.s p.c
awk '/^[a-z_0-9]+: / { name = $1; calls = "" }
  /(call|jmp)q?[ \t].*__sanitizer_cov_(load|store)/ { sub(/.*cov_/, ""); sub(/@PLT/, ""); calls = calls " " $1 }
  /^\.Lfunc_end/ && name { print name (calls ? calls : " none"); name = "" }' p.s | tee seen
diff seen - <<'SEEN'
plain_load: load8
plain_increment: load8 store8
atomic_load: load8
atomic_store: store8
atomic_add: none
atomic_swap: none
atomic_compare: none
wide_load: load16 store16
vector_of_16: load16 store16
vector_of_32: none
long_double: none
structure: none
by_value: none
copy: none
set: none
masked_store: none
gather: none
SEEN
