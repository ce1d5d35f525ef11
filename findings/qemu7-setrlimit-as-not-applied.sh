#!/usr/bin/env bash
# QEMU 7.2 (qemu-x86_64): setrlimit of RLIMIT_AS or RLIMIT_DATA succeeds and changes nothing.
# Guessed: the limit holds for the program's own addresses, or for all of the process, or is an error.
# Seen: the result is 0, getrlimit then says what it said before, and malloc of more than the limit
# succeeds. RLIMIT_NOFILE in the same program is set. A program that limits its own memory, to test
# how it does without, has no limit.
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
cat >limits.c <<'C'
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
static void set(const char *name, int which, rlim_t value)
{
    struct rlimit limit;
    getrlimit(which, &limit);
    limit.rlim_cur = value;
    int result = setrlimit(which, &limit);
    getrlimit(which, &limit);
    printf("%s %d %s, ", name, result, limit.rlim_cur == value ? "set" : "not set");
}
int main(void)
{
    set("NOFILE", RLIMIT_NOFILE, 64);
    set("DATA", RLIMIT_DATA, 64 << 20);
    set("AS", RLIMIT_AS, 256 << 20);
    void *volatile block = malloc(512 << 20);
    printf("malloc %s\n", block ? "succeeds" : "fails");
    return 0;
}
C
gcc -static -o limits limits.c
native=$(./limits)
emulated=$(qemu x86_64 ./limits)
echo "native: $native"
echo "QEMU: $emulated"
[ "$native" = "NOFILE 0 set, DATA 0 set, AS 0 set, malloc fails" ]
[ "$emulated" = "NOFILE 0 set, DATA 0 not set, AS 0 not set, malloc succeeds" ]
