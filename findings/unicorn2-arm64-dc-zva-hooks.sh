#!/usr/bin/env bash
# unicorn 2.1.4 (arm64): hooks of memory see `dc zva` byte by byte, and its first byte three times.
# Guessed: no callback at all, as plugins of QEMU 7.2 and 10.0 get for the same instruction, or one
# write a block. Seen: 66 writes of one byte for a block of 64 bytes (of which 64 are right), and an
# ldxr/stxr pair that succeeds is two reads and a write, since stxr compares by reading again. Counts
# of references from these hooks are too high by 66 to 8 where libraries clear memory.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check unicorn==2.1.4
"$work/venv/bin/python" - <<'PY'
import struct
from collections import Counter

import unicorn
from unicorn import arm64_const as arm


def hooks(*words):
    emulator = unicorn.Uc(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM)
    code = b"".join(struct.pack("<I", word) for word in words)
    emulator.mem_map(0x1000, 0x1000)
    emulator.mem_map(0x10000, 0x1000)
    emulator.mem_write(0x1000, code)
    emulator.reg_write(arm.UC_ARM64_REG_X0, 0x10000)
    seen = []

    def memory(_, kind, address, size, *__):
        seen.append(("R" if kind == unicorn.UC_MEM_READ else "W", address - 0x10000, size))

    emulator.hook_add(unicorn.UC_HOOK_MEM_READ | unicorn.UC_HOOK_MEM_WRITE, memory)
    emulator.emu_start(0x1000, 0x1000 + len(code))
    return seen


zeroed = hooks(0xD50B7420)  # dc zva, x0
bytes_seen = Counter(offset for _, offset, _ in zeroed)
print("dc zva:", len(zeroed), "writes of", {size for *_, size in zeroed}, "byte, of byte 0:", bytes_seen[0])
assert len(zeroed) == 66 and bytes_seen[0] == 3 and len(bytes_seen) == 64
pair = hooks(0xC85F7C01, 0xC8037C02)  # ldxr x1, [x0]; stxr w3, x2, [x0]
print("ldxr, stxr:", pair)
assert [kind for kind, *_ in pair] == ["R", "R", "W"]
pair = hooks(0xA9400801)  # ldp x1, x2, [x0]
print("ldp:", pair)
assert pair == [("R", 0, 8), ("R", 8, 8)]
PY
