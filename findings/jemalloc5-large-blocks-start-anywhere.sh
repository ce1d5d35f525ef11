#!/usr/bin/env bash
# jemalloc 5.3: blocks of more than 32 KiB start at another line of their page each time.
# Guessed: large blocks start at a page, or 16 bytes into it as with glibc 2.36, and a loop of malloc
# and free of 40000 bytes gets one address, as with glibc and gperftools 2.10.
# Seen: a block has a random offset, a multiple of 64 bytes, in its first page, drawn anew for each
# allocation: the loop has 64 addresses. Blocks up to 32 KiB have one, as each thread keeps them. The
# draws follow from addresses of the process, so that two runs agree only under `setarch -R`; else the
# sets of a cache that a table's lines fall in cannot be compared from run to run.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root libtcmalloc-minimal4=2.10-1 libjemalloc2=5.3.0-1 \
  libmimalloc2.0=2.0.9+ds-2
for package in *.deb; do dpkg -x "$package" .; done
cat >again.c <<'C'
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static int order(const void *a, const void *b)
{
    uintptr_t x = *(const uintptr_t *)a, y = *(const uintptr_t *)b;
    return (x > y) - (x < y);
}
/* How many addresses a block has that is taken and given back 10000 times. */
int main(int argc, char **argv)
{
    static uintptr_t seen[10000];
    size_t size = argc > 1 ? strtoul(argv[1], 0, 10) : 16;
    for (int i = 0; i < 10000; i++) {
        void *volatile block = malloc(size);
        seen[i] = (uintptr_t)block;
        free(block);
    }
    qsort(seen, 10000, sizeof *seen, order);
    int different = 1, pages = 1;
    for (int i = 1; i < 10000; i++) {
        different += seen[i] != seen[i - 1];
        pages += seen[i] / 4096 != seen[i - 1] / 4096;
    }
    printf("%d %d\n", different, pages);
    return 0;
}
C
gcc -O0 -o again again.c
# Arguments: a library or nothing, a size.
count() {
  read -r different pages < <(LD_PRELOAD=${1:+$work/usr/lib/x86_64-linux-gnu/$1} ./again "$2")
  echo "${1:-glibc}, $2 bytes: $different addresses in $pages pages"
}
for library in "" libtcmalloc_minimal.so.4; do
  count "$library" 40000
  [ "$different" = 1 ]
done
count libjemalloc.so.2 32768
[ "$different" = 1 ]
for size in 32769 40000; do
  count libjemalloc.so.2 "$size"
  [ "$different" -ge 64 ]
  [ "$pages" -le 4 ]
done
