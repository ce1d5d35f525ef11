#!/usr/bin/env bash
# Valgrind 3.19: cachegrind simulates the host's caches, but the program is told of another machine's.
# Guessed: sysconf and cpuid give a program the caches that cachegrind simulates for it, which by default
# are the host's, or those given with --D1 and --LL.
# Seen: cpuid is that of a Core i7-4910MQ if the host has AVX2, here an EPYC: 32 KiB, 256 KiB, 8 MiB and
# lines of 64 bytes. cachegrind's own are the host's (LL made a power of two), and its options do not
# change the program's. So code that sets its blocks by the cache's size, and glibc's memcpy, which
# leaves the caches alone above a part of it, is counted in a cache that it was not made for.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
grep -qw avx2 /proc/cpuinfo || { echo "needs a processor with AVX2"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'valgrind=1:3.19.0-1'
dpkg -x valgrind_*.deb .
export VALGRIND_LIB=$work/usr/libexec/valgrind
usr/bin/valgrind --version
cat >sizes.c <<'C'
#include <cpuid.h>
#include <stdio.h>
#include <unistd.h>
int main(void)
{
    unsigned name[12];
    for (unsigned i = 0; i < 3; i++)
        __cpuid(0x80000002 + i, name[4 * i], name[4 * i + 1], name[4 * i + 2], name[4 * i + 3]);
    printf("%ld %ld %ld %ld %.48s\n", sysconf(_SC_LEVEL1_DCACHE_SIZE), sysconf(_SC_LEVEL2_CACHE_SIZE),
           sysconf(_SC_LEVEL3_CACHE_SIZE), sysconf(_SC_LEVEL1_DCACHE_LINESIZE), (char *)name);
    return 0;
}
C
gcc -static -o sizes sizes.c
told="32768 262144 8388608 64 Intel(R) Core(TM) i7-4910MQ CPU @ 2.90GHz"
native=$(./sizes)
echo "native: $native"
read -r d1 _ last _ <<<"$native"
[ "$last" != 8388608 ] && [ "$last" != 0 ] || { echo "needs a host with another L3"; exit 2; }
# Arguments: options; leaves the sizes of D1 and LL that cachegrind simulates in d1_simulated and ll.
check() {
  seen=$(usr/bin/valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=counts "$@" ./sizes \
    2>/dev/null)
  d1_simulated=$(awk '/^desc: D1/ { print $4 }' counts) ll=$(awk '/^desc: LL/ { print $4 }' counts)
  echo "cachegrind $*: simulates $d1_simulated and $ll; the program sees $seen"
  [ "$seen" = "$told" ]
}
check
[ "$d1_simulated" = "$d1" ]
[ "$ll" != 8388608 ]
check --D1=16384,4,64 --LL=1048576,16,64
[ "$d1_simulated $ll" = "16384 1048576" ]
