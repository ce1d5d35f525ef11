#!/usr/bin/env bash
# gcc 12.2: -static leaves out .eh_frame_hdr, -static-pie has it.
# Guessed: a static program has PT_GNU_EH_FRAME, as other programs of the same compiler have: its
# .eh_frame is there, and the unwinder of libgcc works in it.
# Seen: with -static the linker does not get --eh-frame-hdr. .eh_frame is found by a registration at
# start-up, which only libgcc knows. A walker of stacks that asks dl_iterate_phdr or the program
# headers for PT_GNU_EH_FRAME finds nothing, although _Unwind_Backtrace passes every frame.
# The cross compilers of Debian 12 for arm64 and riscv64 do the same.
# Needs libc6-dev, for the C library to link with.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf0=2.40-2 \
  libctf-nobfd0=2.40-2 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1 libjansson4 \
  libgcc-12-dev=12.2.0-14+deb12u1
for package in *.deb; do dpkg -x "$package" .; done
tool() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu PATH=$work/usr/bin:$PATH "$@"; }
ln -sf x86_64-linux-gnu-as usr/bin/as
ln -sf x86_64-linux-gnu-ld usr/bin/ld
cat >walk.c <<'C'
#define _GNU_SOURCE
#include <link.h>
#include <stdio.h>
#include <unwind.h>
static int header(struct dl_phdr_info *info, size_t size, void *found)
{
    for (int i = 0; i < info->dlpi_phnum; i++)
        *(int *)found += info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME;
    return 1; /* The program itself comes first. */
}
static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *main_seen)
{
    extern int main(void);
    *(int *)main_seen |= _Unwind_FindEnclosingFunction((void *)_Unwind_GetIP(context)) == (void *)main;
    return _URC_NO_REASON;
}
__attribute__((noinline)) static void inner(int *main_seen) { _Unwind_Backtrace(frame, main_seen); }
int main(void)
{
    int headers = 0, main_seen = 0;
    dl_iterate_phdr(header, &headers);
    inner(&main_seen);
    printf("PT_GNU_EH_FRAME: %d, libgcc walks to main: %d\n", headers, main_seen);
    return 0;
}
C
for kind in -pie -static-pie -static; do
  tool gcc-12 -O0 "$kind" -o walk walk.c
  seen=$(./walk)
  echo "$kind: $seen"
  expected=1
  [ "$kind" != -static ] || expected=0
  [ "$seen" = "PT_GNU_EH_FRAME: $expected, libgcc walks to main: 1" ]
  tool x86_64-linux-gnu-readelf -SW walk | grep ' \.eh_frame ' >/dev/null
done
