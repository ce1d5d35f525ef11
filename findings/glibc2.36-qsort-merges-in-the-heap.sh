#!/usr/bin/env bash
# glibc 2.36: qsort of more than 1023 bytes takes a second table from the program's malloc.
# Guessed: a quicksort within the caller's table, as it cannot fail for lack of memory: references to
# that table and the stack.
# Seen: a merge sort through a block as large as the table; with elements of more than 32 bytes a block
# of two pointers for each element and one element more. So a sort touches memory that the
# program did not allocate, and addresses in the heap shift.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'libc6=2.36-9+deb12u*'
for package in *.deb; do dpkg -x "$package" .; done
cat >sort.c <<'C'
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
extern void *__libc_malloc(size_t);
static char table[1000 * 40];
static size_t within, blocks, bytes;
void *malloc(size_t size)
{
    blocks += within;
    bytes += within * size;
    return __libc_malloc(size);
}
static int order(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}
static void sort(int count, int size)
{
    for (int i = 0; i < count; i++)
        *(int *)(table + i * size) = i * 7919 % count;
    blocks = bytes = 0;
    within = 1;
    qsort(table, count, size, order);
    within = 0;
    printf("%d elements of %d: malloc %zu, bytes %zu\n", count, size, blocks, bytes);
}
int main(void)
{
    printf("glibc %s\n", gnu_get_libc_version());
    sort(255, 4);
    sort(256, 4);
    sort(1000, 4);
    sort(1000, 40);
    return 0;
}
C
gcc -o sort sort.c
lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path lib/x86_64-linux-gnu ./sort | tee seen
diff seen - <<'SEEN'
glibc 2.36
255 elements of 4: malloc 0, bytes 0
256 elements of 4: malloc 1, bytes 1024
1000 elements of 4: malloc 1, bytes 4000
1000 elements of 40: malloc 1, bytes 16040
SEEN
