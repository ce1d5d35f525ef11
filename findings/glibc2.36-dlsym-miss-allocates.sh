#!/usr/bin/env bash
# glibc 2.36: dlsym of a name that does not exist calls the program's malloc, though nothing asks why.
# Guessed: dlsym returns null and keeps two pointers; dlerror formats the message if it is called.
# Seen: the message is formatted and allocated at once, with the malloc that the program or a
# preloaded library defines: two blocks for a first miss, which live until the thread's next call of
# this family. So an allocator that looks up the next malloc is called within dlsym, and a runtime
# that looks for optional functions shifts the addresses of a program's heap blocks.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'libc6=2.36-9+deb12u*'
for package in *.deb; do dpkg -x "$package" .; done
cat >missing.c <<'C'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
extern void *__libc_malloc(size_t);
extern void __libc_free(void *);
static int within, taken, returned;
void *malloc(size_t size)
{
    taken += within;
    return __libc_malloc(size);
}
void free(void *block)
{
    returned += within && block;
    __libc_free(block);
}
static void look_up(const char *name)
{
    taken = returned = 0;
    within = 1;
    void *found = dlsym(RTLD_DEFAULT, name);
    within = 0;
    printf("%s %d: malloc %d, free %d\n", name, found != 0, taken, returned);
}
int main(void)
{
    printf("glibc %s\n", gnu_get_libc_version());
    look_up("printf");
    look_up("absent");
    look_up("absent");
    look_up("printf");
    look_up("printf");
    return 0;
}
C
gcc -o missing missing.c
lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 --library-path lib/x86_64-linux-gnu ./missing | tee seen
diff seen - <<'SEEN'
glibc 2.36
printf 1: malloc 0, free 0
absent 0: malloc 2, free 0
absent 0: malloc 1, free 1
printf 1: malloc 0, free 2
printf 1: malloc 0, free 0
SEEN
