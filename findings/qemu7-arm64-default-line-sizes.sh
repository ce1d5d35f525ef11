#!/usr/bin/env bash
# QEMU 7.2 (qemu-aarch64): the default processor has lines of 32 bytes and clears 512 bytes at once.
# Guessed: lines and `dc zva` of 64 bytes, as cortex-a53, cortex-a72 and neoverse-n1 have, natively
# and as -cpu. Seen: without -cpu user mode takes `max`, whose CTR_EL0 says data lines of 32 bytes
# and whose DCZID_EL0 says that one `dc zva` clears 512 bytes, 16 of its lines. a64fx has 256 and 256.
# A library that asks, as it must, clears and aligns in other steps than on the machine meant.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'qemu-user=1:7.2*' libglib2.0-0 libgnutls30 \
  libpcre2-8-0 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 libffi8 \
  libcapstone4 libnuma1 liburing2 binutils-aarch64-linux-gnu=2.40-2
for package in *.deb; do dpkg -x "$package" .; done
qemu() {
  LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/qemu-$1" "${@:2}"
}
cat >sizes.s <<'S'
        .globl  _start
_start: mrs     x0, dczid_el0           // bits 0 to 3: log2 of the words that dc zva clears
        mrs     x1, ctr_el0             // bits 16 to 19: log2 of the words of a data line
        and     x0, x0, #15
        ubfx    x1, x1, #16, #4
        orr     x0, x0, x1, lsl #4
        mov     x8, #93                 // exit(both)
        svc     #0
S
tools=$work/usr/bin/aarch64-linux-gnu-
LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "${tools}as" -o sizes.o sizes.s
LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "${tools}ld" -o sizes sizes.o
# Arguments: bytes of a line, bytes of dc zva, then options.
check() {
  both=0
  qemu aarch64 "${@:3}" ./sizes || both=$?
  line=$((4 << (both >> 4))) zva=$((4 << (both & 15)))
  echo "${*:3}: lines of $line bytes, dc zva of $zva"
  [ "$line" = "$1" ]
  [ "$zva" = "$2" ]
}
check 32 512
check 32 512 -cpu max
for model in cortex-a53 cortex-a57 cortex-a72 cortex-a76 neoverse-n1; do
  check 64 64 -cpu "$model"
done
check 256 256 -cpu a64fx
