#!/usr/bin/env bash
# QEMU 7.2 (qemu-x86_64): MAP_FIXED_NOREPLACE maps elsewhere, and madvise takes any advice.
# Guessed: EEXIST where a page is mapped already, and EINVAL for an advice that does not exist.
# Seen: the flag is dropped, so that the address is a hint, as with kernels before 4.17: the mapping
# succeeds at another place, and only a program that compares the address notices. madvise of advice
# 999 is 0, so that a program cannot ask which advice there is. MAP_SHARED_VALIDATE is an error in both.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'qemu-user=1:7.2*' libglib2.0-0 libgnutls30 \
  libpcre2-8-0 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 libffi8 \
  libcapstone4 libnuma1 liburing2
for package in *.deb; do dpkg -x "$package" .; done
qemu() {
  LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/qemu-$1" "${@:2}"
}
cat >maps.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
int main(void)
{
    int both = PROT_READ | PROT_WRITE, own = MAP_PRIVATE | MAP_ANONYMOUS;
    char *page = mmap(0, 4096, both, own, -1, 0);
    char *again = mmap(page, 4096, both, own | MAP_FIXED_NOREPLACE, -1, 0);
    printf("noreplace %s ", again != MAP_FAILED ? "elsewhere" : errno == EEXIST ? "EEXIST" : "other");
    printf("advice %s ", !madvise(page, 4096, 999) ? "taken" : errno == EINVAL ? "EINVAL" : "other");
    munmap(page, 4096);
    printf("free %d\n", mmap(page, 4096, both, own | MAP_FIXED_NOREPLACE, -1, 0) == page);
    return 0;
}
C
gcc -static -o maps maps.c
native=$(./maps)
emulated=$(qemu x86_64 ./maps)
echo "native: $native"
echo "QEMU: $emulated"
[ "$native" = "noreplace EEXIST advice EINVAL free 1" ]
[ "$emulated" = "noreplace elsewhere advice taken free 1" ]
