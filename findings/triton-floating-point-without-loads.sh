#!/usr/bin/env bash
# triton-library 1.0.0rc4 (x86-64): arithmetic with a floating-point operand in memory loads nothing.
# Guessed: `mulsd xmm0, [rsi]` has a load of 8 bytes, like movsd. Seen: processing() returns
# EXCEPTION.FAULT_UD for mulsd, addpd, cvtsi2sd, fld, fused multiply-add and broadcasts, with no
# access and, unless one looks at what it returns, no error, while every form of mov has its access. A
# prefetch, on the other hand, is a load of one byte, and one step of `rep movsb` is one iteration.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check triton-library==1.0.0rc4
"$work/venv/bin/python" - <<'PY'
from triton import ARCH, EXCEPTION, Instruction, TritonContext


def step(code):
    context = TritonContext(ARCH.X86_64)
    registers = context.registers
    for register, value in [(registers.rdi, 0x10000), (registers.rsi, 0x11000), (registers.rcx, 5)]:
        context.setConcreteRegisterValue(register, value)
    instruction = Instruction(0x1000, bytes.fromhex(code))
    result = context.processing(instruction)
    loads = [memory.getSize() for memory, _ in instruction.getLoadAccess()]
    return result, loads, context.getConcreteRegisterValue(registers.rip)


for name, code, result, loads in [
    ("movsd xmm0, [rsi]", "f20f1006", EXCEPTION.NO_FAULT, [8]),
    ("vmovups ymm0, [rsi]", "c5fc1006", EXCEPTION.NO_FAULT, [32]),
    ("mulsd xmm0, [rsi]", "f20f5906", EXCEPTION.FAULT_UD, []),
    ("addpd xmm0, [rsi]", "660f5806", EXCEPTION.FAULT_UD, []),
    ("cvtsi2sd xmm0, qword [rsi]", "f2480f2a06", EXCEPTION.FAULT_UD, []),
    ("vbroadcastss ymm0, [rsi]", "c4e27d1806", EXCEPTION.FAULT_UD, []),
    ("prefetcht0 [rsi]", "0f180e", EXCEPTION.NO_FAULT, [1]),
    ("rep movsb of 5", "f3a4", EXCEPTION.NO_FAULT, [1]),
]:
    found = step(code)
    print(f"{name}: result {found[0]}, loads of {found[1]} bytes, next instruction {found[2]:#x}")
    assert found[:2] == (result, loads), "the behaviour has changed"
assert step("f3a4")[2] == 0x1000
PY
