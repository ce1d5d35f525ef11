/* A whole system without a kernel: what QEMU's multiboot loader starts, on one processor, in 32-bit
 * mode. Between two pairs of marks it stores 1000 and 500 words, and 700 between the pairs. */
    .set MULTIBOOT, 0x1badb002
    .set START, 0x006e4801          /* python/homenode/capture/qemu/mark.h */
    .set STOP, 0x006e4802

    .section .text
    .globl _start
    .align 4
    .long MULTIBOOT, 0, -MULTIBOOT

    /* The first start takes effect at the end of its block of code: a jump. */
    .macro mark number
    .byte 0x0f, 0x1f, 0x84, 0x00
    .long \number
    movl table, %eax
    jmp 3f
3:
    .endm

    .macro store address, words
    movl $\address, %edi
    movl $\words, %ecx
1:  movl %ecx, (%edi)
    addl $4, %edi
    decl %ecx
    jnz 1b
    .endm

_start:
    cli
    mark START
    store 0x400000, 1000
    mark STOP
    store 0x500000, 700
    mark START
    store 0x600000, 500
    mark STOP
    movw $0x604, %dx            /* where QEMU's pc is switched off */
    movw $0x2000, %ax
    outw %ax, %dx
2:  hlt
    jmp 2b

    .section .data
table:
    .long 0

    .section .note.GNU-stack, "", @progbits
