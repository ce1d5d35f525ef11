/* The hooks that homenode inserts into the assembly of a program, one before each access.
 *
 * They keep every register, and the flags where the program still needs them. The address is in
 * rdi; the program counter recorded is inside the calling instruction, which has the source line of
 * the access. The fast path is that of hn_ref.
 */
#include "hn.h"

#include <cpuid.h>

/* What the program's hooked code uses besides the general registers and xmm0 to xmm7, which also
 * pass arguments and results through code that does not name them. Only hooked code can have it in
 * use at a hook: its callers have nothing there that a call must keep. Of the vector registers the
 * larger ones include the smaller ones, so that a few comparisons tell them apart. */
enum {
    USES_XMM = 1,           /* xmm8 to xmm15 */
    USES_YMM = 3,
    USES_ZMM = 7,
    USES_X87 = 8,
    USES_DIRECTION = 16,
    SHORT_MASKS = 32        /* the processor has no masks of 64 bits */
};
static uint32_t uses __attribute__((used));
static int is_announced;

/* The vector registers that the processor and the kernel provide. */
static uint32_t wide_vectors(void)
{
    enum { YMM_STATE = 0x6, ZMM_STATE = 0xe6 };
    static uint32_t found;      /* a virtual machine takes long to answer */
    unsigned a, b, c, d;
    uint32_t enabled = 0, high;

    if (found != 0)
        return found;
    if (__get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0)
        __asm__("xgetbv" : "=a"(enabled), "=d"(high) : "c"(0));
    if ((enabled & ZMM_STATE) == ZMM_STATE && __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0)
        found = USES_ZMM | ((b & bit_AVX512BW) != 0 ? 0 : SHORT_MASKS);
    else
        found = (enabled & YMM_STATE) == YMM_STATE ? USES_YMM : USES_XMM;
    return found;
}

/* Each object with hooks calls the first of these, and those that apply to its code, before that
 * code can run. */
#define ANNOUNCEMENT(name, what)            \
    HN_EXPORT void __homenode_##name(void); \
    HN_EXPORT void __homenode_##name(void)  \
    {                                       \
        what;                               \
    }

ANNOUNCEMENT(announces, is_announced = 1)
ANNOUNCEMENT(uses_xmm, uses |= USES_XMM)
ANNOUNCEMENT(uses_ymm, uses |= wide_vectors() & USES_YMM)
ANNOUNCEMENT(uses_zmm, uses |= wide_vectors())
ANNOUNCEMENT(uses_x87, uses |= USES_X87)
ANNOUNCEMENT(uses_direction, uses |= USES_DIRECTION)
ANNOUNCEMENT(uses_exceptions, hn_looks_at_x87 = 1)

/* A program whose objects announce nothing may use all: those with the compiler's hooks, and those
 * of an older version. */
__attribute__((constructor(101))) static void expect_all(void)
{
    if (is_announced)
        return;
    uses |= wide_vectors() | USES_X87 | USES_DIRECTION;
    hn_looks_at_x87 = 1;
}

/* The slow paths. hn_call_plain and hn_call_flags run the function in rcx and leave the hook; what
 * they keep besides the registers that the hook has saved is what the function and other threads
 * may change. At a quantum of 1 this happens once a reference. So what may be in use is saved by
 * plain moves: xsave and xrstor take longer than all the rest, and so does asking the processor
 * what is in use. And only the hook's last return is to a place that differs between the threads
 * that a turn ends and begins with, which processors predict wrong.
 */
__asm__(
    ".section hn_hooks, \"ax\", @progbits\n"
    ".macro hn_move_all move, register, size, count, from\n"
    "  .set hn_at, 0\n"
    "  .rept \\count\n"
    "  .altmacro\n"
    "  hn_move_one \\move, \\register, %hn_at, \\size, \\from\n"
    "  .noaltmacro\n"
    "  .set hn_at, hn_at + 1\n"
    "  .endr\n"
    ".endm\n"
    ".macro hn_move_one move, register, at, size, from\n"
    "  .ifeq \\from\n"
    "  \\move %\\register\\at, \\at*\\size(%rsp)\n"
    "  .else\n"
    "  \\move \\at*\\size(%rsp), %\\register\\at\n"
    "  .endif\n"
    ".endm\n"
    ".macro hn_move_masks move, from\n"
    "  .irp at, 0, 1, 2, 3, 4, 5, 6, 7\n"
    "  .ifeq \\from\n"
    "  \\move %k\\at, 2048+\\at*8(%rsp)\n"
    "  .else\n"
    "  \\move 2048+\\at*8(%rsp), %k\\at\n"
    "  .endif\n"
    "  .endr\n"
    ".endm\n"
    ".macro hn_with_vectors move, register, size, count\n"
    "  subq $\\size*\\count, %rsp\n"
    "  andq $-64, %rsp\n"
    "  hn_move_all \\move, \\register, \\size, \\count, 0\n"
    "  call *%rcx\n"
    "  hn_move_all \\move, \\register, \\size, \\count, 1\n"
    ".endm\n"
    ".macro hn_with_masks move\n"
    "  subq $2112, %rsp\n"
    "  andq $-64, %rsp\n"
    "  hn_move_masks \\move, 0\n"
    "  hn_move_all vmovdqa64, zmm, 64, 32, 0\n"
    "  call *%rcx\n"
    "  hn_move_all vmovdqa64, zmm, 64, 32, 1\n"
    "  hn_move_masks \\move, 1\n"
    ".endm\n"

    /* Flags: lahf has all but the overflow flag; adding 127 to 1 sets that. */
    ".macro hn_enter name, keep\n"
    "  .globl __homenode_\\name\n"
    "  .type __homenode_\\name, @function\n"
    "__homenode_\\name:\n"
    "  .if \\keep\n"
    "  pushq %rax; lahf; seto %al; pushq %rax\n"
    "  .endif\n"
    "  pushq %rsi; pushq %rdx; pushq %rcx\n"
    ".endm\n"
    ".macro hn_leave keep\n"
    "  popq %rcx; popq %rdx; popq %rsi\n"
    "  .if \\keep\n"
    "  popq %rax; addb $127, %al; sahf; popq %rax\n"
    "  .endif\n"
    "  ret\n"
    ".endm\n"

    ".macro hn_call_and_leave name, keep\n"
    "hn_call_\\name:\n"
    "  .ifeq \\keep\n"
    "  pushq %rax\n"
    "  .endif\n"
    "  pushq %r8; pushq %r9; pushq %r10; pushq %r11; pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  movl uses(%rip), %r8d\n"
    "  cmpl $1, %r8d\n"
    "  jae 1f\n"
    "  hn_with_vectors movaps, xmm, 16, 8\n"
    "9: movq %rbp, %rsp\n"
    "  popq %rbp; popq %r11; popq %r10; popq %r9; popq %r8\n"
    "  .ifeq \\keep\n"
    "  popq %rax\n"
    "  .endif\n"
    "  hn_leave \\keep\n"
    "1: ja 2f\n"
    "  hn_with_vectors movaps, xmm, 16, 16\n"
    "  jmp 9b\n"
    "2: cmpl $3, %r8d\n"
    "  ja 3f\n"
    "  hn_with_vectors vmovdqa, ymm, 32, 16\n"
    "  jmp 9b\n"
    "3: cmpl $7, %r8d\n"
    "  ja 4f\n"
    "  hn_with_masks kmovq\n"
    "  jmp 9b\n"
    "4: andq $-64, %rsp\n"
    "  call hn_call_rarely\n"
    "  jmp 9b\n"
    ".endm\n"

    /* The direction flag must be clear in C code. The runtime needs an empty x87 stack, and a
     * switch of threads keeps the modes and exceptions; so nearly always that suffices. */
    "hn_call_rarely:\n"
    "  pushfq; pushq %rbp\n"
    "  cld\n"
    "  movq %rsp, %rbp\n"
    "  subq $512, %rsp\n"
    "  andq $-64, %rsp\n"
    "  testl $8, uses(%rip)\n"
    "  je 1f\n"
    "  fxsave64 (%rsp)\n"
    "  cmpb $0, 4(%rsp)\n"              /* registers that are not empty */
    "  jne 2f\n"
    "  testw $0x4700, 2(%rsp)\n"        /* the result of a comparison */
    "  jne 2f\n"
    "1: call hn_call_with_vectors\n"
    "3: movq %rbp, %rsp\n"
    "  popq %rbp; popfq\n"
    "  ret\n"
    "2: fninit\n"
    "  call hn_call_with_vectors\n"
    "  fxrstor64 (%rsp)\n"
    "  jmp 3b\n"

    "hn_call_with_vectors:\n"
    "  pushq %rbp\n"
    "  movq %rsp, %rbp\n"
    "  testl $4, uses(%rip)\n"
    "  jne 2f\n"
    "  testl $2, uses(%rip)\n"
    "  jne 1f\n"
    "  hn_with_vectors movaps, xmm, 16, 16\n"
    "  leave\n"
    "  ret\n"
    "1: hn_with_vectors vmovdqa, ymm, 32, 16\n"
    "  leave\n"
    "  ret\n"
    "2: testl $32, uses(%rip)\n"
    "  jne 3f\n"
    "  hn_with_masks kmovq\n"
    "  leave\n"
    "  ret\n"
    "3: hn_with_masks kmovw\n"
    "  leave\n"
    "  ret\n"

    "  hn_call_and_leave plain, 0\n"
    "  hn_call_and_leave flags, 1\n"

    /* rdx: where to record, rsi: the thread, if there is room for `bytes`; else on to label 1.
     * Functions that choose others for the dynamic linker (ifunc) run before there is
     * thread-local storage, and before this program is relocated. */
    ".macro hn_room bytes\n"
    "  cmpl $0, hn_recording(%rip)\n"
    "  je 2f\n"
    "  movq hn_me@gottpoff(%rip), %rsi\n"
    "  movq %fs:(%rsi), %rsi\n"
    "  movq (%rsi), %rdx\n"
    "  .if \\bytes == 16\n"
    "  cmpq 8(%rsi), %rdx\n"
    "  .else\n"
    "  leaq 16(%rdx), %rcx\n"
    "  cmpq 8(%rsi), %rcx\n"
    "  .endif\n"
    "  jae 1f\n"
    ".endm\n"
    ".macro hn_record at, what, keep\n"
    "  hn_pc rcx, \\keep\n"
    "  orq 16(%rsi), %rcx\n"
    "  movq %rcx, \\at+8(%rdx)\n"
    "  movabsq $\\what, %rcx\n"
    "  orq %rdi, %rcx\n"
    "  movq %rcx, \\at(%rdx)\n"
    ".endm\n"
    /* Nothing is recorded: without a recorder, and in a forked child. */
    ".macro hn_unless_recorded label\n"
    "  cmpl $0, hn_recording(%rip)\n"
    "  je \\label\n"
    "  movq hn_c(%rip), %rdx\n"
    "  cmpl $0, (%rdx)\n"
    "  je \\label\n"
    ".endm\n"
    /* To the slow path, which has its arguments, and leaves the hook. */
    ".macro hn_call function, keep\n"
    "  leaq \\function(%rip), %rcx\n"
    "  .if \\keep\n"
    "  jmp hn_call_flags\n"
    "  .else\n"
    "  jmp hn_call_plain\n"
    "  .endif\n"
    ".endm\n"
    ".macro hn_pc register, keep\n"
    "  movq 24+16*\\keep(%rsp), %\\register\n"
    "  leaq -1(%\\register), %\\register\n"
    ".endm\n"
    ".macro hn_slowly function, what, keep\n"
    "1: hn_unless_recorded 2b\n"
    "  movabsq $\\what, %rsi\n"
    "  hn_pc rdx, \\keep\n"
    "  hn_call \\function, \\keep\n"
    ".endm\n"
    ".macro hn_end name\n"
    "  .size __homenode_\\name, .-__homenode_\\name\n"
    ".endm\n"

    ".macro hn_single name, kind, size, keep\n"
    "  hn_enter \\name, \\keep\n"
    "  hn_room 16\n"
    "  hn_record 0, (\\kind<<55|\\size<<48), \\keep\n"
    "  leaq 16(%rdx), %rdx\n"
    "  movq %rdx, (%rsi)\n"
    "2: hn_leave \\keep\n"
    "  hn_slowly hn_ref_slow, (\\kind<<55|\\size<<48), \\keep\n"
    "  hn_end \\name\n"
    ".endm\n"
    ".macro hn_update name, size, keep\n"
    "  hn_enter \\name, \\keep\n"
    "  hn_room 32\n"
    "  hn_record 0, (\\size<<48), \\keep\n"
    "  hn_record 16, (1<<55|\\size<<48), \\keep\n"
    "  leaq 32(%rdx), %rdx\n"
    "  movq %rdx, (%rsi)\n"
    "2: hn_leave \\keep\n"
    "  hn_slowly slow_update, (\\size<<48), \\keep\n"
    "  hn_end \\name\n"
    ".endm\n"
    /* An atomic operation: the order of the recording decides how. */
    ".macro hn_ordered name, sync, kind, size, keep\n"
    "  hn_enter \\name, \\keep\n"
    "  cmpl $0, hn_logical(%rip)\n"
    "  jne 1f\n"
    "  cmpl $0, hn_directed(%rip)\n"
    "  jne 1f\n"
    "  hn_room 16\n"
    "  hn_record 0, (\\sync<<57|\\kind<<55|\\size<<48), \\keep\n"
    "  leaq 16(%rdx), %rdx\n"
    "  movq %rdx, (%rsi)\n"
    "2: hn_leave \\keep\n"
    "  hn_slowly slow_ordered, (\\sync<<57|\\kind<<55|\\size<<48), \\keep\n"
    "  hn_end \\name\n"
    ".endm\n"
    ".macro hn_sizes size, keep, suffix\n"
    "  hn_single read\\size\\suffix, 0, \\size, \\keep\n"
    "  hn_single write\\size\\suffix, 1, \\size, \\keep\n"
    "  hn_update update\\size\\suffix, \\size, \\keep\n"
    "  hn_ordered atomic\\size\\suffix, 1, 2, \\size, \\keep\n"
    "  hn_ordered atomic_read\\size\\suffix, 1, 0, \\size, \\keep\n"
    "  hn_ordered atomic_write\\size\\suffix, 1, 1, \\size, \\keep\n"
    "  hn_ordered relaxed_atomic\\size\\suffix, 0, 2, \\size, \\keep\n"
    "  hn_ordered relaxed_atomic_read\\size\\suffix, 0, 0, \\size, \\keep\n"
    "  hn_ordered relaxed_atomic_write\\size\\suffix, 0, 1, \\size, \\keep\n"
    ".endm\n"
    ".irp size, 1, 2, 4, 8, 10, 16, 32, 64\n"
    "  hn_sizes \\size, 0\n"
    "  hn_sizes \\size, 1, _flags\n"
    ".endr\n"

    ".macro hn_ranges name, keep, suffix\n"
    "  hn_enter \\name\\suffix, \\keep\n"
    "  hn_unless_recorded 2f\n"
    "  hn_pc rdx, \\keep\n"
    "  hn_call slow_\\name, \\keep\n"
    "2: hn_leave \\keep\n"
    "  hn_end \\name\\suffix\n"
    ".endm\n"
    ".irp name, read_range, write_range, update_range\n"
    "  hn_ranges \\name, 0\n"
    "  hn_ranges \\name, 1, _flags\n"
    ".endr\n"

    ".macro hn_after suffix, keep\n"
    "  hn_enter after\\suffix, \\keep\n"
    "  hn_unless_recorded 2f\n"
    "  testl $1, (%rdx)\n"
    "  je 1f\n"
    "2: hn_leave \\keep\n"
    "  hn_slowly slow_after, 0, \\keep\n"
    "  hn_end after\\suffix\n"
    ".endm\n"
    "  hn_after , 0\n"
    "  hn_after _flags, 1\n"

    /* rdx: where the instrumented code has stored registers. */
    "  hn_enter lanes_flags, 1\n"
    "  hn_unless_recorded 2f\n"
    "  leaq 48(%rsp), %rdx\n"
    "  hn_call record_lanes, 1\n"
    "2: hn_leave 1\n"
    "  hn_end lanes_flags\n"

    /* rdi: the saved registers, rsi: how many elements. */
    ".macro hn_string name, function, repeats\n"
    "  hn_enter \\name\\()_flags, 1\n"
    "  hn_unless_recorded 2f\n"
    "  movq %rsp, %rdi\n"
    "  movq (%rsp), %rsi\n"
    "  pushfq; popq %rdx\n"
    "  .if \\repeats == 0\n"
    "  movl $1, %esi\n"
    "  .endif\n"
    "  hn_call string_\\function, 1\n"
    "2: hn_leave 1\n"
    "  hn_end \\name\\()_flags\n"
    ".endm\n"
    ".macro hn_strings size\n"
    "  hn_string copy\\size, copy\\size, 0\n"
    "  hn_string rep_copy\\size, copy\\size, 1\n"
    "  hn_string fill\\size, fill\\size, 0\n"
    "  hn_string rep_fill\\size, fill\\size, 1\n"
    "  hn_string load\\size, load\\size, 0\n"
    "  hn_string rep_load\\size, load\\size, 1\n"
    "  hn_string scan\\size, scan\\size, 0\n"
    "  hn_string rep_scan\\size, scan\\size, 1\n"
    "  hn_string compare\\size, compare\\size, 0\n"
    "  hn_string rep_compare\\size, compare\\size, 1\n"
    "  hn_string repne_scan\\size, scan_ne\\size, 1\n"
    "  hn_string repne_compare\\size, compare_ne\\size, 1\n"
    ".endm\n"
    ".irp size, 1, 2, 4, 8\n"
    "  hn_strings \\size\n"
    ".endr\n"
    ".text\n");
