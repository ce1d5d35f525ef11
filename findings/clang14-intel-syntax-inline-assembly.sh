#!/usr/bin/env bash
# clang 14.0.6: -masm=intel -fno-integrated-as fails in the code after an inline assembly.
# Guessed: with `.intel_syntax noprefix` at its top, clang's text assembles with gas (2.40) as it does
# with clang's own assembler.
# Seen: with -fno-integrated-as clang puts `.intel_syntax` before an inline assembly, where register
# names then need `%`, and `.att_syntax` after it, whatever the rest of the file is in. The errors are
# in instructions that the compiler made. Without one of the two options, or without inline assembly,
# all is well, and -S with -masm=intel alone gives text that gas takes. Clang 16 and 19 do the same.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 binutils-x86-64-linux-gnu=2.40-2 \
  libbinutils=2.40-2 libctf0=2.40-2 libctf-nobfd0=2.40-2 libedit2 libbsd0 libmd0 libz3-4 libxml2 \
  libicu72 libffi8 libjansson4
for package in *.deb; do dpkg -x "$package" .; done
ln -sf x86_64-linux-gnu-as usr/bin/as
clang14() {
  LD_LIBRARY_PATH=$work/usr/lib/llvm-14/lib:$work/usr/lib/x86_64-linux-gnu PATH=$work/usr/bin:$PATH \
    "$work/usr/bin/clang-14" -B "$work/usr/bin" "$@"
}
echo 'int load(int *p) { return *p + 1; }' >plain.c
echo 'int load(int *p) { __asm__ volatile("nop"); return *p + 1; }' >inline.c
compile() { clang14 -O1 -fno-integrated-as -c -o out.o "$@"; }
compile plain.c
compile inline.c
compile -masm=intel plain.c
if compile -masm=intel inline.c 2>errors; then exit 1; fi
grep 'Error' errors
clang14 -O1 -masm=intel -fno-addrsig -S -o inline.s inline.c
[ "$(grep _syntax inline.s | paste -sd ' ')" = "$(printf '\t.intel_syntax noprefix')" ]
compile inline.s
clang14 -O1 -masm=intel -fno-integrated-as -S -o inline.s inline.c
grep -A 5 '#APP' inline.s
syntaxes=$(grep -o "[a-z]*_syntax.*" inline.s | paste -sd " ")
[ "$syntaxes" = "intel_syntax noprefix intel_syntax att_syntax" ]
