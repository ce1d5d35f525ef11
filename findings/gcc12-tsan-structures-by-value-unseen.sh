#!/usr/bin/env bash
# gcc 12.2: -fsanitize=thread does not see structures that a call takes or returns by value.
# Guessed: `*p = make()` writes the structure with a hook in the caller or in the callee, and
# `use(*p)` reads it with one in the caller, as `*p = *q` has hooks for both.
# Seen: none. The callee writes through a hidden pointer, which is the caller's p, and neither side
# has a hook for it, be it three words in memory or two in registers. Clang 14 and 19 have hooks or
# an intercepted memcpy for all but the structure of three words that is passed to a call.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gcc12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/gcc-12" "$@"; }
cat >values.c <<'C'
struct two { long a, b; };
struct three { long a, b, c; };
__attribute__((noipa)) struct three make(long n) { return (struct three){n, n + 1, n + 2}; }
struct two make_two(long);
void use(struct three);
void use_two(struct two);
void copy(struct three *p, struct three *q) { *p = *q; }
void receive(struct three *p) { *p = make(1); }
void receive_two(struct two *p) { *p = make_two(1); }
void give(struct three *p) { use(*p); }
void give_two(struct two *p) { use_two(*p); }
struct three fetch(struct three *p) { return *p; }
C
gcc12 -O2 -fsanitize=thread -S -o out.s values.c
# Argument: a function; prints the hooks of memory that it calls, with other calls of memory functions.
hooks() {
  sed -n "/^$1:/,/\.cfi_endproc/p" out.s |
    sed -nE "s/.*(call|jmp)\s+(__tsan_[a-z_]*(read|write)[a-z0-9_]*|[a-z]*(mem|str)[a-z]*).*/\2/p" |
    paste -sd " "
}
check() {
  echo "$1: ${2:-no hooks}"
  [ "$(hooks "$1")" = "$2" ]
}
check copy "__tsan_write_range __tsan_read_range"
for name in make receive receive_two give give_two; do
  check "$name" ""
done
check fetch __tsan_read_range
sed -n '/^make:/,/\.cfi_endproc/p' out.s | grep -E 'mov.*, *[0-9]*\(%(rdi|rax|rbx|rbp)\)'
