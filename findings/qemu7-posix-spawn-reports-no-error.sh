#!/usr/bin/env bash
# QEMU 7.2 (qemu-x86_64): posix_spawn of a program that does not exist succeeds.
# Guessed: ENOENT, as natively, where the child shares the caller's memory until it executes and
# leaves its error there; or an error because clone with CLONE_VM | CLONE_VFORK is not supported.
# Seen: 0 and a child that ends with code 127: vfork is fork, so that the error stays in the child.
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
cat >spawns.c <<'C'
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
int main(void)
{
    char *words[] = {"absent", 0}, *environment[] = {0};
    int status = 0;
    pid_t child = 0;
    int error = posix_spawn(&child, "/absent/program", 0, 0, words, environment);
    printf("%s", error == ENOENT ? "ENOENT" : error == 0 ? "no error" : "other");
    if (error == 0 && waitpid(child, &status, 0) == child)
        printf(", the child ends with %d", WEXITSTATUS(status));
    puts("");
    return 0;
}
C
gcc -static -o spawns spawns.c
native=$(./spawns)
emulated=$(qemu x86_64 ./spawns)
echo "native: $native"
echo "QEMU: $emulated"
[ "$native" = "ENOENT" ]
[ "$emulated" = "no error, the child ends with 127" ]
