/* The instruction sets: numbers of system calls, and which instructions are atomic or marks. */
#include "registers.h"
#include "sites.h"

#include <elf.h>
#include <string.h>

static enum machine machine;

static const char *const names[MACHINES] = {"x86_64", "aarch64", "riscv64"};

/* Numbers on x86-64, and on the other machines, which share theirs; -1: no such call. */
static const struct {
    enum call call;
    int x86, generic;
} numbers[] = {
    {CALL_READ, 0, 63}, {CALL_READV, 19, 65}, {CALL_RECVFROM, 45, 207},
    {CALL_RECVMSG, 47, 212}, {CALL_ACCEPT, 43, 202}, {CALL_ACCEPT4, 288, 242},
    {CALL_RECVMMSG, 299, 243}, {CALL_SENDMMSG, 307, 269}, {CALL_SENDFILE, 40, 71},
    {CALL_VMSPLICE, 278, 75},
    {CALL_WRITE, 1, 64}, {CALL_WRITEV, 20, 66},
    {CALL_SENDTO, 44, 206}, {CALL_SENDMSG, 46, 211}, {CALL_POLL, 7, -1}, {CALL_PPOLL, 271, 73},
    {CALL_SELECT, 23, -1}, {CALL_PSELECT, 270, 72}, {CALL_EPOLL, 232, -1}, {CALL_EPOLL, 281, 22},
    {CALL_FUTEX, 202, 98}, {CALL_NANOSLEEP, 35, 101}, {CALL_CLOCK_NANOSLEEP, 230, 115},
    {CALL_YIELD, 24, 124}, {CALL_WAIT4, 61, 260}, {CALL_WAITID, 247, 95}, {CALL_CLONE, 56, 220},
    {CALL_CLONE3, 435, 435}, {CALL_FORK, 57, -1}, {CALL_FORK, 58, -1}, {CALL_EXIT, 60, 93},
    {CALL_EXIT_GROUP, 231, 94}, {CALL_EXECVE, 59, 221}, {CALL_EXECVE, 322, 281},
    {CALL_MMAP, 9, 222},
    {CALL_MUNMAP, 11, 215}, {CALL_MREMAP, 25, 216}, {CALL_BRK, 12, 214}, {CALL_SHMAT, 30, 196},
    {CALL_SHMDT, 67, 197}, {CALL_TID_ADDRESS, 218, 96}, {CALL_CLOCK, 228, 113},
    {CALL_CLOCK, 96, 169}, {CALL_CLOCK, 201, -1}, {CALL_RANDOM, 318, 278},
    {CALL_OPEN, 2, -1}, {CALL_OPEN, 257, 56}, {CALL_OPEN, 437, 437}, {CALL_PREAD, 17, 67},
    {CALL_PREADV, 295, 69}, {CALL_PWRITE, 18, 68}, {CALL_PWRITEV, 296, 70},
    /* kill, tkill, rt_sigqueueinfo; tgkill, rt_tgsigqueueinfo */
    {CALL_KILL, 62, 129}, {CALL_KILL, 200, 130}, {CALL_KILL, 129, 138},
    {CALL_TGKILL, 234, 131}, {CALL_TGKILL, 297, 240},
    {CALL_TIMER, 286, 86},      /* timerfd_settime; other timers send signals */
    /* getpid, gettid, getppid, getpgrp, getpgid, getsid */
    {CALL_NUMBER, 39, 172}, {CALL_NUMBER, 186, 178}, {CALL_NUMBER, 110, 173},
    {CALL_NUMBER, 111, -1}, {CALL_NUMBER, 121, 155}, {CALL_NUMBER, 124, 156},
    {CALL_SIGACTION, 13, 134}, {CALL_MEMORY, 10, 226}, {CALL_MEMORY, 28, 233},
    {CALL_FLOCK, 73, 32}, {CALL_FCNTL, 72, 25}, {CALL_MSGRCV, 70, 188}, {CALL_MSGSND, 69, 189},
    {CALL_SEMOP, 65, 193}, {CALL_SEMOP, 220, 192}, {CALL_CONNECT, 42, 203},
    {CALL_PAUSE, 34, -1}, {CALL_SUSPEND, 130, 133}, {CALL_SIGNAL_WAIT, 128, 137},
    /* mq_timedreceive, mq_timedsend, splice, tee */
    {CALL_OUTSIDE, 243, 183}, {CALL_OUTSIDE, 242, 182}, {CALL_OUTSIDE, 275, 76},
    {CALL_OUTSIDE, 276, 77},
};

/* Whether the emulated machine is supported. */
int guest_machine(const char *name)
{
    for (int i = 0; i < MACHINES; i++) {
        if (strcmp(name, names[i]) == 0) {
            machine = (enum machine)i;
            registers_of(machine);
            return 1;
        }
    }
    return 0;
}

enum call guest_call(int64_t number)
{
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (number == (machine == X86_64 ? numbers[i].x86 : numbers[i].generic))
            return numbers[i].call;
    return CALL_OTHER;
}

/* The number in the header of its ELF files. */
int elf_machine(void)
{
    static const int numbers_of_elf[MACHINES] = {EM_X86_64, EM_AARCH64, EM_RISCV};

    return numbers_of_elf[machine];
}

/* Whether a call is execve, not execveat. */
int is_plain_exec(int64_t number)
{
    return number == (machine == X86_64 ? 59 : 221);
}

static uint32_t word_of(const uint8_t *code)
{
    uint32_t word;

    memcpy(&word, code, sizeof word);
    return word;
}

int is_system_call(const uint8_t *code, size_t size)
{
    if (machine == X86_64)
        return size == 2 && code[0] == 0x0f && code[1] == 0x05;
    if (size != 4)
        return 0;
    return machine == AARCH64 ? (word_of(code) & 0xffe0001f) == 0xd4000001
                              : word_of(code) == 0x00000073;
}

/* Whether the bytes before an address may end with a call. On x86-64, where instructions cannot be
 * read backward, also a few others: only the lengths of calls are tried. */
int is_behind_call(const uint8_t before[CALL_BYTES_MAX])
{
    const uint8_t *end = before + CALL_BYTES_MAX;
    const uint32_t word = word_of(end - sizeof word);

    switch (machine) {
    case X86_64:
        if (end[-5] == 0xe8)
            return 1;
        for (int size = 2; size <= CALL_BYTES_MAX; size++)
            if (end[-size] == 0xff && (end[1 - size] & 0x38) == 0x10)
                return 1;
        return 0;
    case AARCH64:           /* bl, blr, and blr with authentication */
        return (word & 0xfc000000) == 0x94000000 || (word & 0xfefff000) == 0xd63f0000;
    default:                /* jal and jalr that set ra or t0; c.jalr */
        return (((word & 0x7f) == 0x6f || (word & 0x707f) == 0x67) &&
                ((word >> 7 & 31) == 1 || (word >> 7 & 31) == 5)) ||
               ((word >> 16 & 0xf07f) == 0x9002 && (word >> 23 & 31) != 0);
    }
}

/* The no-op instructions of homenode.h. */
size_t mark_size(void)
{
    return machine == X86_64 ? MARK_BYTES_MAX : sizeof(uint32_t);
}

int is_mark(const uint8_t *code, size_t size)
{
    static const uint8_t of_x86[MARK_BYTES_MAX] = {0x0f, 0x1f, 0x84, 0x00,
                                                   0x01, 0x4d, 0x6e, 0x48};

    if (size != mark_size())
        return 0;
    if (machine == X86_64)
        return memcmp(code, of_x86, sizeof of_x86) == 0;
    return word_of(code) == (machine == AARCH64 ? 0xd2890ddf : 0x48e02013);
}

/* Number of prefixes of an x86 instruction; REX is none. `repeated` is set if one repeats it, and
 * `narrow` if its addresses have 32 bits. */
static size_t x86_prefixes(const uint8_t *code, size_t size, int *repeated, int *narrow)
{
    size_t i = 0;

    *repeated = *narrow = 0;
    for (; i < size; i++) {
        if (code[i] == 0xf2 || code[i] == 0xf3)
            *repeated = 1;
        else if (code[i] == 0x67)
            *narrow = 1;
        else if (code[i] != 0x66 && code[i] != 0x2e && code[i] != 0x36 && code[i] != 0x3e &&
                 code[i] != 0x26 && code[i] != 0x64 && code[i] != 0x65)
            break;
    }
    return i;
}

uint32_t repeats_of(const uint8_t *code, size_t size)
{
    int repeated, narrow;
    size_t i;

    if (machine != X86_64)
        return 0;
    i = x86_prefixes(code, size, &repeated, &narrow);
    if (i < size && (code[i] & 0xf0) == 0x40)
        i++;
    if (!repeated || narrow || i + 1 != size)
        return 0;
    switch (code[i] & 0xfe) {
    case 0xa4: case 0xaa:           /* movs, stos */
        return SITE_REPEATS | SITE_STORES;
    case 0xac:                      /* lods */
        return SITE_REPEATS;
    default:
        return 0;
    }
}

int is_aarch64(void)
{
    return machine == AARCH64;
}

/* Whether an instruction of aarch64 clears a block, and which register has its address: `dc zva`,
 * `dc gzva`. */
int clears_block(const uint8_t code[4], unsigned *operand)
{
    const uint32_t word = word_of(code);

    *operand = word & 31;
    return (word & 0xffffffe0) == 0xd50b7420 || (word & 0xffffffe0) == 0xd50b7480;
}

/* Whether an instruction of aarch64 is among the loads, stores and prefetches of SVE. */
int accesses_by_sve(const uint8_t code[4])
{
    const uint32_t group = word_of(code) >> 25;

    return group == 0x42 || group == 0x52 || group == 0x62 || group == 0x72;
}

/* Whether an atomic instruction accesses 16 bytes: cmpxchg16b; pairs of 64 bits of aarch64. */
int is_wide(const uint8_t *code, size_t size)
{
    size_t i = 0;

    if (machine == X86_64) {
        while (i + 2 < size && (code[i] & 0xf8) != 0x48)
            i++;
        return i + 2 < size && code[i + 1] == 0x0f && code[i + 2] == 0xc7;
    }
    if (machine != AARCH64 || size != sizeof(uint32_t))
        return 0;
    /* stxp and stlxp; casp and its kin */
    return (word_of(code) & 0xffe00000) == 0xc8200000 ||
           (word_of(code) & 0xffa00000) == 0x48200000;
}

/* A LOCK prefix, or xchg with memory, which locks by itself. */
static int x86_atomic(const uint8_t *code, size_t size)
{
    size_t i = 0;
    int locked = 0;

    for (; i < size; i++) {
        const uint8_t byte = code[i];

        if (byte == 0xf0)
            locked = 1;
        else if (byte != 0x66 && byte != 0x67 && byte != 0xf2 && byte != 0xf3 && byte != 0x2e &&
                 byte != 0x36 && byte != 0x3e && byte != 0x26 && byte != 0x64 && byte != 0x65)
            break;
    }
    if (locked)
        return 1;
    if (i < size && (code[i] & 0xf0) == 0x40)
        i++;
    return i + 1 < size && (code[i] == 0x86 || code[i] == 0x87) && code[i + 1] < 0xc0;
}

/* Load-exclusive and store-exclusive, compare-and-swap, and the large system extensions; acquire
 * and release are bits 22 and 23 (exclusives: 15). Acquiring loads and releasing stores are
 * plain references that synchronise. */
static int aarch64_atomic(uint32_t word, int *synchronises)
{
    if ((word & 0x3f000000) == 0x08000000) {
        const int ordered = (word >> 23 & 1) != 0;
        const int loads = (word >> 22 & 1) != 0;
        const int pair = (word >> 21 & 1) != 0;

        if (ordered && pair) {              /* CAS and its kin */
            *synchronises = loads || (word >> 15 & 1) != 0;
            return 1;
        }
        if (!ordered && pair && (word >> 31 & 1) == 0) {    /* CASP */
            *synchronises = loads || (word >> 15 & 1) != 0;
            return 1;
        }
        *synchronises = (word >> 15 & 1) != 0;
        return !ordered && !loads;          /* the storing half of an exclusive pair */
    }
    if ((word & 0x3f200c00) == 0x38200000) {
        *synchronises = (word >> 22 & 3) != 0;
        return 1;
    }
    return 0;
}

/* The A extension: lr is a read, sc and the amos are atomic; aq and rl are bits 26 and 25. */
static int riscv_atomic(uint32_t word, int *synchronises)
{
    if ((word & 0x7f) != 0x2f)
        return 0;
    *synchronises = (word >> 25 & 3) != 0;
    return word >> 27 != 2;
}

/* Whether an instruction is an atomic read-modify-write; `synchronises` is also set if it only
 * orders other references. */
int is_atomic(const uint8_t *code, size_t size, int *synchronises)
{
    *synchronises = 0;
    if (machine == X86_64)
        return *synchronises = x86_atomic(code, size);
    if (size != 4)
        return 0;
    return machine == AARCH64 ? aarch64_atomic(word_of(code), synchronises)
                              : riscv_atomic(word_of(code), synchronises);
}

/* Whether an instruction reads a counter that QEMU implements by the host's: rdtsc, rdtscp; cycle,
 * time and instret of RISC-V. (For aarch64 QEMU uses a clock of the C library.) */
int reads_tsc(const uint8_t *code, size_t size)
{
    uint32_t word;

    if (machine == X86_64)
        return (size == 2 && memcmp(code, "\x0f\x31", 2) == 0) ||
               (size == 3 && memcmp(code, "\x0f\x01\xf9", 3) == 0);
    if (machine != RISCV64 || size != 4)
        return 0;
    word = word_of(code);
    return (word & 0x7f) == 0x73 && (word >> 12 & 3) != 0 && word >> 20 >= 0xc00 &&
           word >> 20 <= 0xc02;
}

/* glibc has the kernel clear a word of the thread's descriptor, next to which is the thread-local
 * storage: below it on x86-64, above it elsewhere. Only the main thread's is found in this way. A
 * claim that is too large is harmless: memory that another thread references is shared. */
uint64_t tid_word_to_tls(uint64_t tid_word, uint64_t *size)
{
    enum { X86_TID = 0x2d0, OTHER_TID = 0xd0, DESCRIPTOR = 0x900, STATIC = 4096 };

    *size = DESCRIPTOR + STATIC;
    return machine == X86_64 ? tid_word - X86_TID - STATIC : tid_word - OTHER_TID;
}

/* Arguments of clone: flags, stack pointer, the parent's word, then the child's word and the
 * thread-local storage on x86-64, in reverse order elsewhere. */
void clone_of_machine(const uint64_t a[6], uint64_t to[5])
{
    to[0] = a[0];
    to[1] = a[1];
    to[2] = a[2];
    to[3] = machine == X86_64 ? a[3] : a[4];
    to[4] = machine == X86_64 ? a[4] : a[3];
}
