#!/usr/bin/env bash
# gcc 12.2: hooks of -fsanitize=thread name other bytes than the instruction beside them accesses.
# Guessed: address and size of a hook are those of the access, as they are for int and double.
# Seen: a long double is 16 bytes to the hook and 10 to fldt; a complex double is one hook of 16 and
# two loads of 8. A bit-field of 20 bits in the middle of a word is __tsan_read_range of its 3 bytes
# from offset 1, while the load takes 4 from offset 0, but writing it is a hook of 4 bytes. So sizes
# from the hooks are not those of the machine code, and a reader and a writer of a bit-field do not
# agree. Clang 14 has no hook for a long double, two of 8 for a complex one, 4 bytes for bit-fields.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gcc12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/gcc-12" "$@"; }
cat >widths.c <<'C'
struct bits { unsigned low : 8, middle : 20; };
long double extended(long double *p) { return *p; }
_Complex double complex(_Complex double *p) { return *p; }
int read_bits(struct bits *p) { return p->middle; }
void write_bits(struct bits *p) { p->middle = 1; }
double plain(double *p) { return *p; }
C
gcc12 -O2 -fsanitize=thread -S -o out.s widths.c
# Arguments: a function, its hooks and its loads after the hook, by the address in rbx.
check() {
  body=$(sed -n "/^$1:/,/\.cfi_endproc/p" out.s)
  seen=$(sed -nE 's/.*call\s+(__tsan_[a-z_]*(read|write)[a-z0-9_]*).*/\1/p
    s/\s(leaq\s+1\(%rbx\)), .*/\1/p; s/\s(movl\s+\$3), %esi/\1/p
    s/\s((fldt|mov[a-z]*)\s+[0-9]*\(%rbx\)).*/\1/p' <<<"$body" | tr -s '\t ' ' ' | paste -sd ,)
  echo "$1: $seen"
  [ "$seen" = "$2" ]
}
check plain '__tsan_read8,movsd (%rbx)'
check extended '__tsan_read16,fldt (%rbx)'
check complex '__tsan_read16,movsd (%rbx),movsd 8(%rbx)'
check read_bits 'leaq 1(%rbx),movl $3,__tsan_read_range,movl (%rbx)'
check write_bits '__tsan_write4,movl (%rbx)'
