#!/usr/bin/env bash
# ziglang 0.17.1 (clang 22.1.8): `zig cc -fsanitize=thread` records other references on another host.
# Guessed: as clang, code for plain x86-64, where vectors of 16 bytes have hooks of ThreadSanitizer.
# Seen: without -target or -mcpu, zig compiles for the processor it runs on. Where that has AVX2, the
# loop is vectorised with ymm registers, which have no hook, so that only the loops for the rest are
# instrumented: fewer hooks than for the baseline, and none in the loop that does nearly all the work.
# clang 22 still has no hooks for accesses wider than 16 bytes.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check ziglang==0.17.1
cat >"$work/triad.c" <<'C'
void triad(int n, float *restrict a, const float *restrict b, const float *restrict c)
{
    for (int i = 0; i < n; i++)
        a[i] = b[i] + 3 * c[i];
}
C
export ZIG_GLOBAL_CACHE_DIR=$work/cache ZIG_LOCAL_CACHE_DIR=$work/cache
compile() {
  "$work/venv/bin/python" -m ziglang cc -O2 -fsanitize=thread "$@" -S -o "$work/$name.s" \
    "$work/triad.c" 2>/dev/null
  echo "$name: vector hooks $(grep -c 'call.*__tsan_unaligned_.*16' "$work/$name.s" || true)," \
    "lines with ymm $(grep -c ymm "$work/$name.s" || true)"
}
name=baseline compile -target x86_64-linux-gnu -mcpu=x86_64
name=v3 compile -target x86_64-linux-gnu -mcpu=x86_64_v3
name=native compile -mcpu=native
name=default compile
cmp "$work/native.s" "$work/default.s"
[ "$(grep -c ymm "$work/baseline.s" || true)" = 0 ]
[ "$(grep -c ymm "$work/v3.s")" -gt 0 ]
# In the loop of 32-byte vectors there is no call at all.
python3 - "$work/v3.s" <<'PY'
import re
import sys

blocks = re.split(r"^\.LBB\w+:.*$", open(sys.argv[1]).read(), flags=re.M)
loops = [block.split("\tjne\t")[0] for block in blocks if "vmovups\t%ymm" in block]
assert loops and not any("__tsan_" in block for block in loops)
print("v3: loops that store ymm registers:", len(loops), "- none of them calls a hook")
PY
