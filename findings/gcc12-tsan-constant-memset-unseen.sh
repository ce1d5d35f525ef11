#!/usr/bin/env bash
# gcc 12.2: -fsanitize=thread has no hook for memset, memcpy, memcmp and strcpy of a constant size.
# Guessed: a call of the function, which the runtime intercepts, or a hook with the length.
# Seen: at -O2 these stay built-in functions and become plain loads and stores after the hooks have
# been placed, so that 64 bytes are cleared or copied without a word to the runtime. Only memcpy of 1,
# 2, 4, 8 or 16 bytes has hooks, since it becomes an assignment early; memset has none at any constant
# size. Assignments by hand have them. Clang 14 calls the functions where it does not place a hook,
# and clang 19 calls __tsan_memset and __tsan_memcpy.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gcc12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/gcc-12" "$@"; }
cat >blocks.c <<'C'
typedef __SIZE_TYPE__ size_t;
void *memset(void *, int, size_t);
void *memcpy(void *, const void *, size_t);
int memcmp(const void *, const void *, size_t);
char *strcpy(char *, const char *);
void memset8(char *p) { memset(p, 0, 8); }
void memset64(char *p) { memset(p, 0, 64); }
void memcpy16(char *p, char *q) { memcpy(p, q, 16); }
void memcpy24(char *p, char *q) { memcpy(p, q, 24); }
void memcpy64(char *p, char *q) { memcpy(p, q, 64); }
int memcmp16(char *p, char *q) { return memcmp(p, q, 16) == 0; }
void strcpy8(char *p) { strcpy(p, "seven.."); }
void memset_n(char *p, size_t n) { memset(p, 0, n); }
void by_hand(long *p) { p[0] = p[1] = 0; }
C
gcc12 -O2 -fsanitize=thread -S -o out.s blocks.c
# Argument: a function; prints the hooks of memory that it calls, with other calls of memory functions.
hooks() {
  sed -n "/^$1:/,/\.cfi_endproc/p" out.s |
    sed -nE "s/.*(call|jmp)\s+(__tsan_[a-z_]*(read|write)[a-z0-9_]*|[a-z]*(mem|str)[a-z]*).*/\2/p" |
    paste -sd " "
}
# Arguments: a function, its accesses of memory through its arguments, its hooks.
check() {
  body=$(sed -n "/^$1:/,/\.cfi_endproc/p" out.s)
  moves=$(grep -cE 'mov[a-z]*\s.*\(%(rbx|rbp)\)' <<<"$body" || true)
  echo "$1: $moves moves, hooks and calls: $(hooks "$1")"
  [ "$moves" = "$2" ]
  [ "$(hooks "$1")" = "$3" ]
}
check memset8 1 ""
check memset64 4 ""
check memcpy16 2 "__tsan_read_range __tsan_write_range"
check memcpy24 4 ""
check memcpy64 8 ""
check memcmp16 2 ""
check strcpy8 1 ""
check memset_n 0 memset
check by_hand 2 "__tsan_write8 __tsan_write8"
