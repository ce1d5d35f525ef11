#!/usr/bin/env bash
# Valgrind 3.19: maskmovdqu, a store of chosen bytes, is a modify of all 16, even if none is chosen.
# Guessed: stores of the chosen bytes, as lackey has those of masked stores of words, or one store of 16.
# Seen: the translation loads 16 bytes (maskmovq 8), mixes, and stores them all, which lackey prints as a
# modify. So bytes that another thread owns are read and written where the program touches its own
# alone, and an instruction that stores nothing takes a line for writing.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
grep -qw avx2 /proc/cpuinfo || { echo "needs a processor with AVX2"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'valgrind=1:3.19.0-1'
dpkg -x valgrind_*.deb .
export VALGRIND_LIB=$work/usr/libexec/valgrind
usr/bin/valgrind --version
# Arguments: an instruction, its mask; prints its references, relative to the table that it stores to.
probe() {
  cat >p.s <<S
.globl _start
_start: lea table(%rip), %rdi
vmovdqu $2(%rip), %ymm1
movq $2(%rip), %mm1
mark: $1
mov \$60, %eax
xor %edi, %edi
syscall
.data
.balign 64
table: .fill 64, 1, 5
none: .fill 32, 1, 0
first: .byte 0x80, 0, 0, 0x80
.fill 28, 1, 0
all: .fill 32, 1, -1
S
  gcc -nostdlib -static -o p p.s
  usr/bin/valgrind --tool=lackey --trace-mem=yes --log-file=log ./p
  from=$(nm p | awk '$3 == "mark" { print $1 }') table=$(nm p | awk '$3 == "table" { print $1 }')
  printf '%-25s %s:' "$1" "$2"
  while read -r kind place; do
    address=$((16#${place%,*}))
    if [ "$kind" = I ]; then
      within=$((address >= 16#$from))
    elif [ "$within" = 1 ]; then
      printf ' %s table+%d of %d' "$kind" $((address - 16#$table)) "${place#*,}"
    fi
  done < <(grep -E '^(I | [LSM]) ' log)
  echo
}
{
  for mask in none first all; do probe 'maskmovdqu %xmm1, %xmm1' $mask; done
  probe 'vmaskmovdqu %xmm1, %xmm1' first
  probe 'maskmovq %mm1, %mm1' first
} | tee seen
diff seen - <<'SEEN'
maskmovdqu %xmm1, %xmm1   none: M table+0 of 16
maskmovdqu %xmm1, %xmm1   first: M table+0 of 16
maskmovdqu %xmm1, %xmm1   all: M table+0 of 16
vmaskmovdqu %xmm1, %xmm1  first: M table+0 of 16
maskmovq %mm1, %mm1       first: M table+0 of 8
SEEN
