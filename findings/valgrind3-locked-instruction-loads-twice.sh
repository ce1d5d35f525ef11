#!/usr/bin/env bash
# Valgrind 3.19: a locked addition or exchange is a load and a modify.
# Guessed: one modify, as for the same instruction without lock; so in lackey's trace and as one read for
# cachegrind, which counts a modify as a read.
# Seen: a load and a modify of the same bytes (lock add, lock xadd, lock dec, xchg), since the translation
# is a load and a compare-and-swap; cachegrind counts two reads. A compare-and-swap is one modify,
# whether it stores or not.
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
    printf 'probe: %s\nmov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' "$1"
    printf '.data\n.balign 64\nword: .quad 1\n'
  } >p.s
  gcc -nostdlib -static -o p p.s
  usr/bin/valgrind --tool=lackey --trace-mem=yes --log-file=log ./p
  usr/bin/valgrind --tool=cachegrind --cache-sim=yes --cachegrind-out-file=counts ./p 2>/dev/null
  printf '%-26s%s cachegrind: %s\n' "$1" \
    "$(awk '$1 ~ /^[LSM]$/ { sub(/.*,/, "", $2); printf " %s of %s,", $1, $2 }' log)" \
    "$(awk '/^summary/ { print $5, "reads,", $8, "writes" }' counts)"
}
{
  probe 'addq $1, word'
  probe 'lock addq $1, word'
  probe 'xadd %rax, word'
  probe 'lock xadd %rax, word'
  probe 'lock decl word'
  probe 'xchg %rax, word'
  probe 'cmpxchg %rbx, word'
  probe 'lock cmpxchg %rbx, word'
} | tee seen
diff seen - <<'SEEN'
addq $1, word              M of 8, cachegrind: 1 reads, 0 writes
lock addq $1, word         L of 8, M of 8, cachegrind: 2 reads, 0 writes
xadd %rax, word            M of 8, cachegrind: 1 reads, 0 writes
lock xadd %rax, word       L of 8, M of 8, cachegrind: 2 reads, 0 writes
lock decl word             L of 4, M of 4, cachegrind: 2 reads, 0 writes
xchg %rax, word            L of 8, M of 8, cachegrind: 2 reads, 0 writes
cmpxchg %rbx, word         M of 8, cachegrind: 1 reads, 0 writes
lock cmpxchg %rbx, word    M of 8, cachegrind: 1 reads, 0 writes
SEEN
