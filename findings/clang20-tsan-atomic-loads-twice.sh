#!/usr/bin/env bash
# clang up to 20 (here ziglang 0.15.2, clang 20.1.2): under -fsanitize=thread an atomic load is made
# twice. clang 21 (ziglang 0.16.0) makes it once.
# Guessed: the call of __tsan_atomic32_load, which performs the load, takes the load's place, as the
# calls for stores and updates do.
# Seen: the load stays behind the call, and its value is not used. So the machine code reads the
# variable twice, the second time unseen by the runtime. A tool that counts the instructions of an
# instrumented program counts every atomic load double; if it deletes such loads to mend that, it
# deletes loads of the program under clang 21. The same was seen with clang 13 to 16 and 19.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/atomics.c" <<'C'
#include <stdatomic.h>
int load(atomic_int *ready) { return atomic_load_explicit(ready, memory_order_acquire); }
void store(atomic_int *ready) { atomic_store_explicit(ready, 1, memory_order_release); }
int add(atomic_int *ready) { return atomic_fetch_add_explicit(ready, 1, memory_order_relaxed); }
C
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
# Arguments: a version of ziglang, its clang, the loads that stay behind.
compile() {
  python3 -m venv "$work/$1"
  "$work/$1/bin/pip" install -q --disable-pip-version-check "ziglang==$1"
  "$work/$1/bin/python" -m ziglang cc -O2 -target x86_64-linux-gnu -mcpu=x86_64 -fsanitize=thread \
    -S -o "$work/$1.s" "$work/atomics.c" 2>/dev/null
  grep -q "clang version $2" "$work/$1.s"
  for name in load store add; do
    sed -n "/^$name:/,/\.cfi_endproc/p" "$work/$1.s" >"$work/$name.s"
    hooks=$(grep -c 'call.*__tsan_atomic32' "$work/$name.s" || true)
    # After the call, through a register that keeps the address: the frame is at rbp.
    own=$(sed '1,/__tsan_atomic32/d' "$work/$name.s" | grep '(%r' | grep -vc 'rbp\|rsp' || true)
    echo "clang $2, $name: calls of a hook $hooks, accesses after it $own"
    expected=0
    [ "$name" != load ] || expected=$3
    [ "$hooks" = 1 ]
    [ "$own" = "$expected" ]
  done
}
compile 0.15.2 20.1.2 1
compile 0.16.0 21.1.0 0
