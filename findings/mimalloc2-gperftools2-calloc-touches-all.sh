#!/usr/bin/env bash
# gperftools 2.10 and mimalloc 2.0.9: calloc of 64 MiB touches every page, fresh from the system or not.
# Guessed: memory that comes new from mmap is zero and stays untouched, as with glibc 2.36 and jemalloc
# 5.3, so that each thread's first write places its pages; at most gperftools clears, being older.
# Seen: both clear all of it in the thread that allocates: 16384 page faults where glibc and jemalloc
# have fewer than 100, and malloc of the same size, in the same libraries too. On a machine with
# several nodes all pages of a table from calloc then lie at the node of that thread.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root libtcmalloc-minimal4=2.10-1 libjemalloc2=5.3.0-1 \
  libmimalloc2.0=2.0.9+ds-2
for package in *.deb; do dpkg -x "$package" .; done
cat >touch.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static long faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}
int main(void)
{
    long start = faults();
    char *volatile plain = malloc(64 << 20);
    long between = faults();
    char *volatile cleared = calloc(64, 1 << 20);
    long end = faults();
    printf("%ld %ld\n", between - start, end - between);
    return !plain || !cleared;
}
C
gcc -O0 -o touch touch.c
# Arguments: a library or nothing, whether its calloc touches all.
check() {
  read -r plain cleared < <(LD_PRELOAD=${1:+$work/usr/lib/x86_64-linux-gnu/$1} ./touch)
  echo "${1:-glibc}: page faults in malloc $plain, in calloc $cleared"
  [ "$plain" -lt 1000 ]
  if [ "$2" = all ]; then [ "$cleared" -ge 16384 ]; else [ "$cleared" -lt 1000 ]; fi
}
check "" none
check libjemalloc.so.2 none
check libtcmalloc_minimal.so.4 all
check libmimalloc.so.2.0 all
