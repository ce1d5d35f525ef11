#!/usr/bin/env bash
# mimalloc 2.0.9: malloc after free gives another block, until the page's first list is used up.
# Guessed: the block that was freed last is the next to be given, as with glibc 2.36, jemalloc 5.3 and
# gperftools 2.10, so that a loop of malloc and free works on one warm block.
# Seen: freed blocks go to a second list, which is taken when the first is empty. The loop walks over
# 256 blocks of 16 bytes, or 4 KiB, again and again: 64 lines of a cache for one live block, where
# the other allocators have one.
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
for library in "" libjemalloc.so.2 libtcmalloc_minimal.so.4; do
  count "$library" 16
  [ "$different" = 1 ]
done
count libmimalloc.so.2.0 16
[ "$different" = 256 ]
[ "$pages" -le 2 ]
