#!/usr/bin/env bash
# QEMU 7.2 (qemu-x86_64): sigaction confirms flags that no kernel knows.
# Guessed: the flags that are read back are those of Linux, which since 5.11 clears the ones that it
# does not know; the manual gives this as the way to ask which flags there are (SA_UNSUPPORTED).
# Seen: QEMU stores what the program gave. SA_UNSUPPORTED (0x400) comes back set, which by the manual
# means a kernel without the protocol; so does SA_INTERRUPT (0x20000000). A program that tests a flag
# by reading it back alone takes every flag for supported.
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
cat >flags.c <<'C'
#include <signal.h>
#include <stdio.h>
int main(void)
{
    int asked[] = {SA_RESTART, SA_RESTART | 0x400, SA_RESTART | 0x20000000};
    for (int i = 0; i < 3; i++) {
        struct sigaction action = {.sa_handler = SIG_IGN, .sa_flags = asked[i]}, seen;
        sigaction(SIGUSR1, &action, 0);
        sigaction(SIGUSR1, 0, &seen);
        printf("%x ", seen.sa_flags & ~0x4000000); /* Without SA_RESTORER, which glibc adds. */
    }
    return 0;
}
C
gcc -static -o flags flags.c
native=$(./flags)
emulated=$(qemu x86_64 ./flags)
echo "native: $native"
echo "QEMU: $emulated"
[ "$native" = "10000000 10000000 10000000 " ]
[ "$emulated" = "10000000 10000400 30000000 " ]
