#!/usr/bin/env bash
# Valgrind 3.19: a load whose result is not used is not in lackey's trace, nor in cachegrind's counts.
# Guessed: every load that the program executes, as the manuals promise all memory references; probes of a
# page by a test, and loads before a register is set anew, among them.
# Seen: tools are called after the translation's optimisation, which has removed loads of dead results;
# modifies stay, and dead stores. With --vex-iropt-level=0 the loads are there.
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
  printf '.globl _start\n_start: %s\nxor %%ecx, %%ecx\nmov $60, %%eax\nxor %%edi, %%edi\nsyscall\n' "$1" >p.s
  printf '.data\n.balign 64\nword: .quad 1\n' >>p.s
  gcc -nostdlib -static -o p p.s
  printf '%-24s' "$1"
  for level in 2 0; do
    usr/bin/valgrind --tool=lackey --vex-iropt-level=$level --trace-mem=yes --log-file=log ./p
    usr/bin/valgrind --tool=cachegrind --vex-iropt-level=$level --cache-sim=yes \
      --cachegrind-out-file=counts ./p 2>/dev/null
    printf '; level %s: lackey %s, cachegrind %s reads' $level "$(grep -cE '^ [LM]' log || true)" \
      "$(awk '/^summary/ { print $5 }' counts)"
  done
  echo
}
{
  probe 'test %eax, word'
  probe 'mov word, %rcx'
  probe 'popcnt word, %rcx'
  probe 'orq $0, word'
  probe 'mov word, %rdi; push %rdi'
} | tee seen
diff seen - <<'SEEN'
test %eax, word         ; level 2: lackey 0, cachegrind 0 reads; level 0: lackey 1, cachegrind 1 reads
mov word, %rcx          ; level 2: lackey 0, cachegrind 0 reads; level 0: lackey 1, cachegrind 1 reads
popcnt word, %rcx       ; level 2: lackey 0, cachegrind 0 reads; level 0: lackey 1, cachegrind 1 reads
orq $0, word            ; level 2: lackey 1, cachegrind 1 reads; level 0: lackey 1, cachegrind 1 reads
mov word, %rdi; push %rdi; level 2: lackey 1, cachegrind 1 reads; level 0: lackey 1, cachegrind 1 reads
SEEN
