#!/usr/bin/env bash
# pypcode 3.3.3 (x86-64): LOAD and STORE operations of p-code are not the accesses of an instruction.
# Guessed: a load and a store for `lock xadd`, one load of 16 bytes for addpd, a store for vmovups.
# Seen: `lock xadd` has four loads of 8 and a store; addpd two loads of 8; a store of vmovups with zmm
# registers a load of 64, too; clflush a load of one byte; fxsave, maskmovdqu and gathers have none,
# as they are opaque operations (CALLOTHER); vmaskmovps stores all 32 bytes whatever the mask.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pypcode==3.3.3
"$work/venv/bin/python" - <<'PY'
import pypcode

context = pypcode.Context("x86:LE:64:default")
for name, code, expected in [
    ("mov [rdi], rax", "488907", "W8"),
    ("lock cmpxchg [rdi], rcx", "f0480fb10f", "R8 W8"),
    ("lock xadd [rdi], rcx", "f0480fc10f", "R8 R8 R8 R8 W8"),
    ("addpd xmm0, [rsi]", "660f5806", "R8 R8"),
    ("vmovups [rdi], ymm0", "c5fc1107", "W32"),
    ("vmovups [rdi], zmm0", "62f17c481107", "R64 W64"),
    ("vmaskmovps [rdi], ymm0, ymm1", "c4e2752e07", "W32"),
    ("clflush [rsi]", "0fae3e", "R1"),
    ("fxsave [rdi]", "0fae07", ""),
    ("vpgatherdd ymm0, [rsi + ymm1 * 4], ymm2", "c4e26d90048e", ""),
]:
    found = []
    for operation in context.translate(bytes.fromhex(code)).ops:
        if operation.opcode == pypcode.OpCode.LOAD:
            found.append(f"R{operation.output.size}")
        elif operation.opcode == pypcode.OpCode.STORE:
            found.append(f"W{operation.inputs[-1].size}")
    print(f"{name}: {' '.join(found) or 'nothing'}")
    assert " ".join(found) == expected, "the behaviour has changed"
PY
