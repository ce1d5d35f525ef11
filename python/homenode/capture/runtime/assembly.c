/* The hooks that homenode inserts into the assembly of a program, one before each access.
 *
 * They keep every register, and the flags where the program still needs them. The address is in
 * rdi; the program counter recorded is inside the calling instruction, which has the source line of
 * the access. The fast path is that of hn_ref.
 */
#include "hn.h"

#include <cpuid.h>

static uint32_t has_xsave __attribute__((used));
/* Whether the processor says which registers are in use, and has moves for all that may be. */
static uint32_t knows_in_use __attribute__((used));

__attribute__((constructor(101))) static void choose_save(void)
{
    enum { ASKS_IN_USE = 4 };
    unsigned a, b, c, d;

    has_xsave = __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_OSXSAVE) != 0;
    if (has_xsave == 0 || (c & bit_AVX) == 0 || __get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 ||
        ((b & bit_AVX512F) != 0 && (b & bit_AVX512BW) == 0))
        return;
    knows_in_use = __get_cpuid_count(13, 1, &a, &b, &c, &d) != 0 && (a & ASKS_IN_USE) != 0;
}

/* What the hooks call when the fast path does not do. */

__attribute__((used)) static void slow_update(const void *address, uint64_t what, uintptr_t pc)
{
    begin();
    if (!hn_recording)
        return;
    hn_me->no_yield++;
    hn_ref(address, what, pc);
    hn_ref(address, what | (uint64_t)HN_WRITE << HN_KIND_SHIFT, pc);
    hn_me->no_yield--;
}

__attribute__((used)) static void slow_ordered(const void *address, uint64_t what, uintptr_t pc)
{
    hn_ref_ordered(address, what, pc);
}

__attribute__((used)) static void slow_after(void)
{
    if (hn_me->limit != NULL && !hn_deterministic())
        hn_stamp(hn_me);
}

__attribute__((used)) static void slow_read_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_READ, pc);
}

__attribute__((used)) static void slow_write_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_WRITE, pc);
}

__attribute__((used)) static void slow_update_range(const void *start, size_t size, uintptr_t pc)
{
    begin();
    touch(start, size, HN_READ, pc);
    touch(start, size, HN_WRITE, pc);
}

/* Where the hook of a gather, scatter or masked access finds its registers. */
struct lane_registers {
    union {
        int32_t four[16];
        int64_t eight[8];
    } index;
    union {
        int32_t four[16];
        int64_t eight[8];
        uint64_t bits;
    } mask;
};

/* Records the elements that are accessed, with no turn between them. */
__attribute__((used)) static void record_lanes(const char *base, uint64_t what,
                                               const struct lane_registers *now)
{
    const unsigned count = what & 0xff, size = what >> 8 & 0xf, indexed = what >> 12 & 0xf;
    const unsigned scale = what >> 16 & 0xf, masked = what >> 20 & 0xf;
    const uint64_t kind = what >> 24 & 1 ? HN_WRITE : HN_READ;
    const int packed = what >> 25 & 1;
    const uintptr_t pc = ((const uintptr_t *)now)[-1] - 1;
    unsigned done = 0;

    begin();
    for (unsigned i = 0; i < count; i++) {
        const int active = masked == 4   ? now->mask.four[i] < 0
                           : masked == 8 ? now->mask.eight[i] < 0
                                         : (now->mask.bits >> i & 1) != 0;
        const int64_t offset = indexed == 4   ? now->index.four[i] * (int64_t)scale
                               : indexed == 8 ? now->index.eight[i] * (int64_t)scale
                                              : (int64_t)(packed ? done : i) * size;

        if (active) {
            touch(base + offset, size, kind, pc);
            done++;
        }
    }
}

/* The direction flag. */
#define BACKWARDS 0x400

/* The registers of a string instruction, as its hook has saved them. */
struct string_registers {
    uint64_t value;             /* rax */
    uint64_t count;             /* rcx */
    uint64_t rdx;
    const char *from;           /* rsi */
    uint64_t flags[2];
    uintptr_t next_pc;
    const char *to;             /* rdi, saved by the instrumented code */
};

/* Elements that a search or comparison reads: up to and including the one that decides. */
#define DECIDED(type, size, differs)                                                            \
    static size_t decided_##differs##size(const type *a, const type *b, type value,            \
                                          size_t count, int step)                               \
    {                                                                                           \
        for (size_t i = 0; i < count; i++, a += step, b += b != NULL ? step : 0)                \
            if ((*a == (b != NULL ? *b : value)) == (differs))                                  \
                return (i + 1) * (size);                                                        \
        return count * (size);                                                                  \
    }

/* With the direction flag the elements are below the first one. */
static const char *lowest(const char *first, size_t bytes, size_t size, uint64_t flags)
{
    return (flags & BACKWARDS) != 0 && bytes != 0 ? first - (bytes - size) : first;
}

#define STRING_HOOK(name, size, ...)                                                            \
    __attribute__((used)) static void string_##name##size(const struct string_registers *now,   \
                                                          size_t count, uint64_t flags)         \
    {                                                                                           \
        const uintptr_t pc = now->next_pc - 1;                                                  \
        const int step = (flags & BACKWARDS) != 0 ? -1 : 1;                                     \
        size_t bytes = count * (size);                                                          \
                                                                                                \
        begin();                                                                                \
        (void)step;                                                                             \
        __VA_ARGS__                                                                             \
    }
#define TOUCH(at, size, kind) touch(lowest(now->at, bytes, size, flags), bytes, kind, pc);
#define SCAN(type, size, differs)                                                               \
    bytes = decided_##differs##size((const type *)now->to, NULL, (type)now->value, count, step); \
    TOUCH(to, size, HN_READ)
#define COMPARE_BOTH(type, size, differs)                                                       \
    bytes = decided_##differs##size((const type *)now->from, (const type *)now->to, 0, count,   \
                                    step);                                                      \
    TOUCH(from, size, HN_READ)                                                                  \
    TOUCH(to, size, HN_READ)

#define STRING_HOOKS(size, type)                                                                \
    DECIDED(type, size, 0)                                                                      \
    DECIDED(type, size, 1)                                                                      \
    STRING_HOOK(copy, size, TOUCH(from, size, HN_READ) TOUCH(to, size, HN_WRITE))               \
    STRING_HOOK(fill, size, TOUCH(to, size, HN_WRITE))                                          \
    STRING_HOOK(load, size, TOUCH(from, size, HN_READ))                                         \
    STRING_HOOK(scan, size, SCAN(type, size, 1))                                                \
    STRING_HOOK(scan_ne, size, SCAN(type, size, 0))                                             \
    STRING_HOOK(compare, size, COMPARE_BOTH(type, size, 1))                                     \
    STRING_HOOK(compare_ne, size, COMPARE_BOTH(type, size, 0))

STRING_HOOKS(1, uint8_t)
STRING_HOOKS(2, uint16_t)
STRING_HOOKS(4, uint32_t)
STRING_HOOKS(8, uint64_t)

/* Calls the function in rax, and keeps what it may change, besides rax to rdi. At a quantum of 1 it
 * runs once a reference, and xsave and xrstor would take most of the time: while the x87 registers
 * are in their initial state, plain moves do, and fninit takes back what another thread left there.
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
    ".macro hn_move_masks from\n"
    "  .irp at, 0, 1, 2, 3, 4, 5, 6, 7\n"
    "  .ifeq \\from\n"
    "  kmovq %k\\at, 2048+\\at*8(%rsp)\n"
    "  .else\n"
    "  kmovq 2048+\\at*8(%rsp), %k\\at\n"
    "  .endif\n"
    "  .endr\n"
    ".endm\n"
    "hn_call_saved:\n"
    "  pushq %r8; pushq %r9; pushq %r10; pushq %r11; pushfq; pushq %rbp\n"
    "  cld\n"
    "  movq %rsp, %rbp\n"
    "  subq $2752, %rsp\n"
    "  andq $-64, %rsp\n"
    "  movq %rax, %r10\n"
    "  cmpl $0, knows_in_use(%rip)\n"
    "  je 4f\n"
    "  movq %rdx, %r11\n"
    "  movl $1, %ecx\n"
    "  xgetbv\n"
    "  movq %r11, %rdx\n"
    "  testl $1, %eax\n"
    "  jne 4f\n"
    "  stmxcsr 2112(%rsp)\n"
    "  testl $0xe0, %eax\n"
    "  jne 5f\n"
    "  hn_move_all vmovdqa, ymm, 32, 16, 0\n"
    "  call *%r10\n"
    "  hn_move_all vmovdqa, ymm, 32, 16, 1\n"
    "  jmp 6f\n"
    "5: hn_move_all vmovdqa64, zmm, 64, 32, 0\n"
    "  hn_move_masks 0\n"
    "  call *%r10\n"
    "  hn_move_all vmovdqa64, zmm, 64, 32, 1\n"
    "  hn_move_masks 1\n"
    "6: ldmxcsr 2112(%rsp)\n"
    "  movl $1, %ecx\n"
    "  xgetbv\n"
    "  testl $1, %eax\n"
    "  je 2f\n"
    "  fninit\n"
    "  jmp 2f\n"
    "4: cmpl $0, has_xsave(%rip)\n"
    "  je 1f\n"
    "  movq %rdx, %r11\n"
    "  xorl %eax, %eax\n"
    "  movq %rax, 512(%rsp); movq %rax, 520(%rsp); movq %rax, 528(%rsp); movq %rax, 536(%rsp)\n"
    "  movq %rax, 544(%rsp); movq %rax, 552(%rsp); movq %rax, 560(%rsp); movq %rax, 568(%rsp)\n"
    "  movl $0xe7, %eax\n"
    "  xorl %edx, %edx\n"
    "  xsave64 (%rsp)\n"
    "  movq %r11, %rdx\n"
    "  call *%r10\n"
    "  movl $0xe7, %eax\n"
    "  xorl %edx, %edx\n"
    "  xrstor64 (%rsp)\n"
    "  jmp 2f\n"
    "1: fxsave64 (%rsp)\n"
    "  call *%r10\n"
    "  fxrstor64 (%rsp)\n"
    "2: movq %rbp, %rsp\n"
    "  popq %rbp; popfq; popq %r11; popq %r10; popq %r9; popq %r8\n"
    "  ret\n"

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
    ".macro hn_leave name, keep\n"
    "  popq %rcx; popq %rdx; popq %rsi\n"
    "  .if \\keep\n"
    "  popq %rax; addb $127, %al; sahf; popq %rax\n"
    "  .endif\n"
    "  ret\n"
    "  .size __homenode_\\name, .-__homenode_\\name\n"
    ".endm\n"

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
    "  movq 24+16*\\keep(%rsp), %rcx\n"
    "  leaq -1(%rcx), %rcx\n"
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
    ".macro hn_slowly function, what, keep\n"
    "1: hn_unless_recorded 2b\n"
    "  pushq %rax\n"
    "  movabsq $\\what, %rsi\n"
    "  movq 32+16*\\keep(%rsp), %rdx\n"
    "  leaq -1(%rdx), %rdx\n"
    "  leaq \\function(%rip), %rax\n"
    "  call hn_call_saved\n"
    "  popq %rax\n"
    ".endm\n"

    ".macro hn_single name, kind, size, keep\n"
    "  hn_enter \\name, \\keep\n"
    "  hn_room 16\n"
    "  hn_record 0, (\\kind<<55|\\size<<48), \\keep\n"
    "  leaq 16(%rdx), %rdx\n"
    "  movq %rdx, (%rsi)\n"
    "2: hn_leave \\name, \\keep\n"
    "  hn_slowly hn_ref_slow, (\\kind<<55|\\size<<48), \\keep\n"
    "  jmp 2b\n"
    ".endm\n"
    ".macro hn_update name, size, keep\n"
    "  hn_enter \\name, \\keep\n"
    "  hn_room 32\n"
    "  hn_record 0, (\\size<<48), \\keep\n"
    "  hn_record 16, (1<<55|\\size<<48), \\keep\n"
    "  leaq 32(%rdx), %rdx\n"
    "  movq %rdx, (%rsi)\n"
    "2: hn_leave \\name, \\keep\n"
    "  hn_slowly slow_update, (\\size<<48), \\keep\n"
    "  jmp 2b\n"
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
    "2: hn_leave \\name, \\keep\n"
    "  hn_slowly slow_ordered, (\\sync<<57|\\kind<<55|\\size<<48), \\keep\n"
    "  jmp 2b\n"
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
    "  pushq %rax\n"
    "  movq 32+16*\\keep(%rsp), %rdx\n"
    "  leaq -1(%rdx), %rdx\n"
    "  leaq slow_\\name(%rip), %rax\n"
    "  call hn_call_saved\n"
    "  popq %rax\n"
    "2: hn_leave \\name\\suffix, \\keep\n"
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
    "2: hn_leave after\\suffix, \\keep\n"
    "  hn_slowly slow_after, 0, \\keep\n"
    "  jmp 2b\n"
    ".endm\n"
    "  hn_after , 0\n"
    "  hn_after _flags, 1\n"

    /* rdx: where the instrumented code has stored registers. */
    "  hn_enter lanes_flags, 1\n"
    "  hn_unless_recorded 2f\n"
    "  pushq %rax\n"
    "  leaq 56(%rsp), %rdx\n"
    "  leaq record_lanes(%rip), %rax\n"
    "  call hn_call_saved\n"
    "  popq %rax\n"
    "2: hn_leave lanes_flags, 1\n"

    /* rdi: the saved registers, rsi: how many elements. */
    ".macro hn_string name, function, repeats\n"
    "  hn_enter \\name\\()_flags, 1\n"
    "  hn_unless_recorded 2f\n"
    "  pushq %rax\n"
    "  movq 40(%rsp), %rax\n"
    "  movq %rax, (%rsp)\n"
    "  movq %rsp, %rdi\n"
    "  movq 8(%rsp), %rsi\n"
    "  pushfq; popq %rdx\n"
    "  .if \\repeats == 0\n"
    "  movl $1, %esi\n"
    "  .endif\n"
    "  leaq string_\\function(%rip), %rax\n"
    "  call hn_call_saved\n"
    "  popq %rax\n"
    "2: hn_leave \\name\\()_flags, 1\n"
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
