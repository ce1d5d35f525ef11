#!/usr/bin/env bash
# pyqbdi 0.12.1 (x86-64): recordMemoryAccess gives bit-string instructions a wrong address, and a
# gather none. Guessed: the address that the processor uses, 8 loads of 4 bytes for a gather of 8.
# Seen: `bts [rsi], rcx` with rcx = 1000 changes the word at rsi + 120, but read and write are
# reported at rsi; vpgatherdd has no access at all; a masked store whose mask is zero is a read and a
# write of all 32 bytes. `rep movsb` of 5 is one read and one write of 5 bytes, where emulators'
# callbacks come byte by byte: the number of references is not comparable.
set -euo pipefail
grep -q -m1 avx2 /proc/cpuinfo || { echo "needs a processor with AVX2"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check pyqbdi==0.12.1
"$work/venv/bin/python" - <<'PY'
import ctypes
import mmap

import pyqbdi

code_pages = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
data_pages = mmap.mmap(-1, 8192)
code = ctypes.addressof(ctypes.c_char.from_buffer(code_pages))
data = ctypes.addressof(ctypes.c_char.from_buffer(data_pages))


def accesses(setup, instruction, rcx):
    """Accesses of one instruction: kind, offset from rsi, and bytes."""
    before = b"\x48\xbf" + data.to_bytes(8, "little")  # mov rdi, data
    before += b"\x48\xbe" + (data + 1024).to_bytes(8, "little")  # mov rsi, data + 1024
    before += b"\x48\xb9" + rcx.to_bytes(8, "little") + bytes.fromhex(setup)
    code_pages.seek(0)
    code_pages.write(before + bytes.fromhex(instruction) + b"\xc3")
    machine = pyqbdi.VM()
    pyqbdi.allocateVirtualStack(machine.getGPRState(), 1 << 16)
    machine.addInstrumentedRange(code, code + 4096)
    machine.recordMemoryAccess(pyqbdi.MEMORY_READ_WRITE)
    found = []

    def after(vm, *_):
        if vm.getInstAnalysis().address == code + len(before):
            for access in vm.getInstMemoryAccess():
                kind = "R" if access.type == pyqbdi.MEMORY_READ else "W"
                found.append((kind, access.accessAddress - data - 1024, access.size))
        return pyqbdi.CONTINUE

    machine.addCodeCB(pyqbdi.POSTINST, after, None)
    machine.call(code, [])
    return found


ZERO_MASK = "c5f1efc9"  # vpxor xmm1, xmm1, xmm1
ALL_LANES = ZERO_MASK + "c5ed76d2"  # and vpcmpeqd ymm2, ymm2, ymm2
CASES = [
    ("bts [rsi], rcx, rcx = 1000", "", "480fab0e", 1000, [("R", 0, 8), ("W", 0, 8)]),
    ("vpgatherdd ymm0, [rsi + ymm1 * 4]", ALL_LANES, "c4e26d90048e", 0, []),
    ("vmaskmovps [rsi], zero mask", ZERO_MASK, "c4e2752e06", 0, [("R", 0, 32), ("W", 0, 32)]),
    ("rep movsb of 5", "", "f3a4", 5, [("R", 0, 5), ("W", -1024, 5)]),
]
for name, setup, instruction, rcx, expected in CASES:
    found = accesses(setup, instruction, rcx)
    print(f"{name}: {found}")
    assert found == expected, "the behaviour has changed"
    if name.startswith("bts"):
        changed = [at for at, byte in enumerate(data_pages[1024:2048]) if byte]
        print("  byte that changed:", changed)
        assert changed == [125]
PY
