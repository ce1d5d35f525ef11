#!/usr/bin/env bash
# gcc 12.2 with binutils 2.40: -masm=intel and a variable called `word` give a wrong program.
# Guessed: gcc quotes the name, or the assembler rejects it, as it rejects a variable `eq` or `rax`.
# Seen: both are silent. In `DWORD PTR word[rip]` the assembler takes byte, word, dword, qword,
# oword and xmmword for the numbers 1, 2, 4, 8, 16 and 16: the function reads that many bytes after
# the instruction, and there is no relocation. `ptr`, `size` and `type` are variables. With -fPIC the
# same names are errors. So a tool must not ask a compiler for text in this syntax.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root gcc-12=12.2.0-14+deb12u1 \
  cpp-12=12.2.0-14+deb12u1 binutils-x86-64-linux-gnu=2.40-2 libbinutils=2.40-2 libctf0=2.40-2 \
  libctf-nobfd0=2.40-2 libisl23 libmpc3 libmpfr6 libgmp10 libzstd1 libjansson4
for package in *.deb; do dpkg -x "$package" .; done
tool() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu PATH=$work/usr/bin:$PATH "$@"; }
ln -sf x86_64-linux-gnu-as usr/bin/as
# Arguments: the name of the variable, further options.
compile() {
  echo "int $1 = 3; int load(void) { return $1; }" >variable.c
  tool gcc-12 -O1 -masm=intel -c "${@:2}" -o variable.o variable.c
}
for pair in byte:0x1 word:0x2 dword:0x4 qword:0x8 oword:0x10 xmmword:0x10; do
  name=${pair%:*}
  compile "$name"
  load=$(tool x86_64-linux-gnu-objdump -dr -M intel variable.o | grep -A1 'rip')
  echo "$name: $(head -n 1 <<<"$load" | cut -f 3)"
  grep -q "\[rip+${pair#*:}\]" <<<"$load"
  ! grep -q R_X86_64 <<<"$load" || exit 1
  if compile "$name" -fPIC 2>errors; then exit 1; fi
  grep -q Error errors
done
for name in ptr size type; do
  compile "$name"
  tool x86_64-linux-gnu-objdump -r variable.o | grep "R_X86_64_PC32 *$name"
done
for name in eq rax; do
  if compile "$name" 2>errors; then exit 1; fi
  grep Error errors
done
