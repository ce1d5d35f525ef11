#!/usr/bin/env bash
# gcc 12.2: a program under -fsanitize=thread has heap blocks that the ordinary program does not have.
# Guessed: gcc removes a pair of malloc and free around a local table with or without the sanitizer,
# since it comes before the sanitizer (it does where the table is only written), or in neither case.
# Seen: the table that is read again is removed only after its loops are unrolled, which is after the
# hooks have been placed; the hooks keep it. So under -fsanitize=thread, as under =address, there is a
# block, with its accesses, that the program which is shipped never allocates. Clang 14 removes both.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
gcc12() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/gcc-12" "$@"; }
cat >table.c <<'C'
void *malloc(__SIZE_TYPE__);
void free(void *);
int table(int x)
{
    int *p = malloc(4 * sizeof *p), sum = 0;
    for (int i = 0; i < 4; i++)
        p[i] = x * i;
    for (int i = 0; i < 4; i++)
        sum += p[i];
    free(p);
    return sum;
}
int written(int x)
{
    int *p = malloc(4 * sizeof *p);
    for (int i = 0; i < 4; i++)
        p[i] = x * i;
    free(p);
    return x;
}
C
# Arguments: calls of malloc and free in table, then options.
check() {
  gcc12 -O2 "${@:2}" -S -o out.s table.c
  for name in table written; do
    calls=$(sed -n "/^$name:/,/\.cfi_endproc/p" out.s | grep -cE '(call|jmp).*(malloc|free)' || true)
    echo "${*:2} $name: $calls calls of malloc and free"
    [ "$name" = written ] || [ "$calls" = "$1" ]
    [ "$name" = table ] || [ "$calls" = 0 ]
  done
}
check 0
check 2 -fsanitize=thread
check 2 -fsanitize=address
