#!/usr/bin/env bash
# Valgrind 3.19: a gather with a mask reads the stack for each element that the mask leaves out.
# Guessed: a load for each element of the mask, as lackey reports for a masked load (vpmaskmovd).
# Seen: one load for every element, of 4 or 8 bytes; those of elements that are left out are at the stack
# pointer. With an empty mask all are. A masked load or store has its chosen elements only.
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
# What an instruction references: in the table, or relative to the stack pointer, which `mark` stores to.
probe() {
  cat >p.s <<S
.globl _start
_start: lea table(%rip), %r8
vmovdqu $2(%rip), %ymm2
vmovdqu order(%rip), %ymm3
mark: movl \$0, (%rsp)
$1
mov \$60, %eax
xor %edi, %edi
syscall
.data
.balign 64
table: .fill 64, 8, 1
order: .long 0, 1, 2, 3, 4, 5, 6, 7
some: .long -1, 0, -1, 0, 0, 0, 0, -1
none: .fill 8, 4, 0
S
  gcc -nostdlib -static -o p p.s
  usr/bin/valgrind --tool=lackey --trace-mem=yes --log-file=log ./p
  from=$(nm p | awk '$3 == "mark" { print $1 }') table=$(nm p | awk '$3 == "table" { print $1 }')
  printf '%-46s %s:' "$1" "$2"
  awk -v mark="$((16#$from))" -v table="$((16#$table))" '
    function number(hex,  i, n) {
      for (i = 1; i <= length(hex); i++) n = n * 16 + index("0123456789abcdef", substr(hex, i, 1)) - 1
      return n
    }
    { split($2, at, ",") }
    $1 == "I" { within = number(at[1]) >= mark; next }
    within && $1 == "S" && !stack { stack = number(at[1]); next }
    within && $1 ~ /^[LSM]$/ {
      a = number(at[1])
      printf " %s %s of %s", $1, a == stack ? "(%rsp)" : "table+" a - table, at[2]
    }
    END { print "" }' log
}
{
  probe 'vpgatherdd %ymm2, (%r8,%ymm3,4), %ymm1' some
  probe 'vpgatherdd %ymm2, (%r8,%ymm3,4), %ymm1' none
  probe 'vpgatherdq %ymm2, (%r8,%xmm3,8), %ymm1' none
  probe 'vpmaskmovd (%r8), %ymm2, %ymm1' some
  probe 'vpmaskmovd %ymm1, %ymm2, (%r8)' some
} | tee seen
diff seen - <<'SEEN'
vpgatherdd %ymm2, (%r8,%ymm3,4), %ymm1         some: L table+0 of 4 L (%rsp) of 4 L table+8 of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L table+28 of 4
vpgatherdd %ymm2, (%r8,%ymm3,4), %ymm1         none: L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4 L (%rsp) of 4
vpgatherdq %ymm2, (%r8,%xmm3,8), %ymm1         none: L (%rsp) of 8 L (%rsp) of 8 L (%rsp) of 8 L (%rsp) of 8
vpmaskmovd (%r8), %ymm2, %ymm1                 some: L table+0 of 4 L table+8 of 4 L table+28 of 4
vpmaskmovd %ymm1, %ymm2, (%r8)                 some: S table+0 of 4 S table+8 of 4 S table+28 of 4
SEEN
