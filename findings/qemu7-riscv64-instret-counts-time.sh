#!/usr/bin/env bash
# QEMU 7.2 (qemu-riscv64): rdinstret does not count instructions: it reads the host's time stamp.
# Guessed: the number of instructions that the thread has executed, which an emulator can know exactly,
# or an illegal instruction; rdcycle in proportion to it, and rdtime at a fixed frequency.
# Seen: rdinstret, rdcycle and rdtime are one counter, the host's. A sleep of 0.1 seconds "retires" tens
# of millions of instructions, and two reads in a row are hundreds or thousands apart. A program that
# measures itself in instructions, to be independent of the machine, measures time here and notices
# nothing. -icount, which would mend it, is an option for whole systems only.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'qemu-user=1:7.2*' libglib2.0-0 libgnutls30 \
  libpcre2-8-0 libp11-kit0 libidn2-0 libunistring2 libtasn1-6 libnettle8 libhogweed6 libgmp10 libffi8 \
  libcapstone4 libnuma1 liburing2 binutils-riscv64-linux-gnu=2.40-2 libbinutils=2.40-2 libjansson4 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
tool() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "$work/usr/bin/$1" "${@:2}"; }
cat >counts.s <<'S'
        .globl  _start
_start: rdinstret s0
        rdcycle s1
        rdtime  s2
        rdinstret s3                    # three instructions later
        la      a0, tenth
        li      a1, 0
        li      a7, 101                 # nanosleep
        ecall
        rdinstret s4                    # six instructions later
        la      a1, counts
        sd      s0, 0(a1)
        sd      s1, 8(a1)
        sd      s2, 16(a1)
        sd      s3, 24(a1)
        sd      s4, 32(a1)
        li      a0, 1
        li      a2, 40
        li      a7, 64                  # write
        ecall
        li      a0, 0
        li      a7, 93                  # exit
        ecall
        .data
        .balign 8
tenth:  .dword  0, 100000000
counts: .fill   5, 8
S
tool riscv64-linux-gnu-as -o counts.o counts.s
tool riscv64-linux-gnu-ld --no-relax -o counts counts.o
tool qemu-riscv64 ./counts | od -An -v -t u8 -w8 >seen
{ read -r first; read -r cycle; read -r time; read -r second; read -r slept; } <seen
echo "instret $first, cycle +$((cycle - first)), time +$((time - first)), instret +$((second - first))"
echo "instret over a sleep of 0.1 seconds: +$((slept - second))"
# One counter: cycle and time lie between the two instrets, in order.
[ "$first" -lt "$cycle" ]
[ "$cycle" -lt "$time" ]
[ "$time" -lt "$second" ]
[ $((second - first)) -gt 50 ]
[ $((slept - second)) -gt 10000000 ]
