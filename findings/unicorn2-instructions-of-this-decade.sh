#!/usr/bin/env bash
# unicorn 2.1.4 has no AVX on x86-64 whatever the model, and no LSE atomics on arm64 by default.
# Guessed: a Haswell model runs AVX, since its CPUID bits promise it; atomics run everywhere.
# Seen: vmovdqu with ymm registers ends in "Invalid instruction" with the default model and with
# UC_CPU_X86_HASWELL; ldadd raises an exception by default, and works with UC_CPU_ARM64_MAX. So
# programs compiled with -march=x86-64-v3, or for arm64 with outlined atomics that look at the
# hardware's capabilities, must be told a model that they run on.
# Also: the instruction hook of `rep movsb` with rcx = 5 is called 6 times, not once and not 5 times.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check unicorn==2.1.4
"$work/venv/bin/python" - <<'PY'
import unicorn
from unicorn import arm64_const as arm
from unicorn import x86_const as x86


def run(architecture, mode, code, registers, model=None):
    emulator = unicorn.Uc(architecture, mode)
    if model is not None:
        emulator.ctl_set_cpu_model(model)
    emulator.mem_map(0x1000, 0x1000)
    emulator.mem_map(0x10000, 0x2000)
    code = bytes.fromhex(code)
    emulator.mem_write(0x1000, code)
    for register, value in registers.items():
        emulator.reg_write(register, value)
    count = [0]
    emulator.hook_add(unicorn.UC_HOOK_CODE, lambda *_: count.__setitem__(0, count[0] + 1))
    try:
        emulator.emu_start(0x1000, 0x1000 + len(code))
    except unicorn.UcError as error:
        return str(error)
    return count[0]


def on_x86(code, model=None):
    registers = {x86.UC_X86_REG_RDI: 0x10000, x86.UC_X86_REG_RSI: 0x11000, x86.UC_X86_REG_RCX: 5}
    return run(unicorn.UC_ARCH_X86, unicorn.UC_MODE_64, code, registers, model)


def on_arm(code, model=None):
    registers = {arm.UC_ARM64_REG_X0: 0x10000}
    return run(unicorn.UC_ARCH_ARM64, unicorn.UC_MODE_ARM, code, registers, model)


vmovdqu, ldadd = "c5fe6f06", "020021f8"
for name, result, expected in [
    ("vmovdqu ymm0, [rsi], default", on_x86(vmovdqu), "Invalid instruction"),
    ("vmovdqu ymm0, [rsi], Haswell", on_x86(vmovdqu, x86.UC_CPU_X86_HASWELL), "Invalid instruction"),
    ("ldadd, default", on_arm(ldadd), "Unhandled CPU exception"),
    ("ldadd, max", on_arm(ldadd, arm.UC_CPU_ARM64_MAX), "1"),
    ("rep movsb of 5, instruction hooks", on_x86("f3a4"), "6"),
]:
    print(f"{name}: {result}")
    assert str(result).startswith(expected), "the behaviour has changed"
PY
