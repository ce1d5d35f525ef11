#!/usr/bin/env bash
# QEMU 7.2 (qemu-x86_64): read and write check the whole buffer before the call.
# Guessed: as on Linux, which transfers what there is: 100 bytes of a file of 100, though the buffer
# of 8192 that the program names ends in a page that is not mapped, and a part of a write or getrandom.
# Seen: EFAULT for all three, and nothing is transferred.
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
cat >buffers.c <<'C'
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>
static void say(const char *call, long result)
{
    printf("%s %ld%s ", call, result, result < 0 && errno == EFAULT ? " EFAULT" : "");
}
int main(void)
{
    char *pages = mmap(0, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *file = tmpfile();
    munmap(pages + 4096, 4096);
    for (int i = 0; i < 100; i++)
        fputc(i, file);
    fflush(file);
    lseek(fileno(file), 0, SEEK_SET);
    say("read", read(fileno(file), pages, 8192));
    say("write", write(fileno(file), pages + 4000, 200));
    say("getrandom", getrandom(pages + 4000, 200, 0));
    puts("");
    return 0;
}
C
gcc -static -o buffers buffers.c
native=$(./buffers)
emulated=$(qemu x86_64 ./buffers)
echo "native: $native"
echo "QEMU: $emulated"
[ "$native" = "read 100 write 96 getrandom 96 " ]
[ "$emulated" = "read -1 EFAULT write -1 EFAULT getrandom -1 EFAULT " ]
