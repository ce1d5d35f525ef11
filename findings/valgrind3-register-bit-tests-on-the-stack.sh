#!/usr/bin/env bash
# Valgrind 3.19: bt, bts, btr and btc of two registers make references to memory.
# Guessed: no data reference, as the instruction only has registers; and with an operand in memory the
# eight bytes that the processor reads.
# Seen: the register is stored 288 bytes below the stack pointer, and one byte of it is read or modified
# there, in lackey's trace and in cachegrind's counts. An operand in memory is one byte. With a
# constant bit number instead of a register there is no reference.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'valgrind=1:3.19.0-1'
dpkg -x valgrind_*.deb .
export VALGRIND_LIB=$work/usr/libexec/valgrind
usr/bin/valgrind --version
probe() {
  {
    printf '.globl _start\n_start: mov $77, %%eax\nmov $5, %%ebx\n'
    printf 'probe: %s\nsetc %%cl\nmov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' "$1"
    printf '.data\n.balign 64\nwords: .fill 64, 8, 1\n'
  } >p.s
  gcc -nostdlib -static -o p p.s
  usr/bin/valgrind --tool=lackey --trace-mem=yes --log-file=log ./p
  usr/bin/valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=counts ./p 2>/dev/null
  printf '%-22s%s cachegrind: %s\n' "$1" \
    "$(awk '$1 ~ /^[LSM]$/ { sub(/.*,/, "", $2); printf " %s of %s,", $1, $2 }' log)" \
    "$(awk '/^summary/ { print $5, "reads,", $8, "writes" }' counts)"
}
{
  probe 'bt %rax, %rbx'
  probe 'btc %rax, %rbx'
  probe 'bt $13, %rbx'
  probe 'bts %rax, words'
} | tee seen
diff seen - <<'SEEN'
bt %rax, %rbx          S of 8, L of 1, cachegrind: 1 reads, 1 writes
btc %rax, %rbx         S of 8, M of 1, L of 8, cachegrind: 2 reads, 1 writes
bt $13, %rbx           cachegrind: 0 reads, 0 writes
bts %rax, words        M of 1, cachegrind: 1 reads, 0 writes
SEEN
