/* Internals of the plugin: state of the emulated program.
 *
 * The plugin is one shared object with two roles. QEMU loads it as a plugin (-plugin), for the
 * callbacks; and it is preloaded into the emulator (LD_PRELOAD), to interpose the functions of the
 * C library by which QEMU gets the program's environment: clocks, random numbers, processors; and
 * the condition variable on which QEMU stops all its processors. Ring, baton and virtual time are
 * the runtime's (../runtime): a host thread of QEMU that runs a thread of the program has a slot
 * there, as a thread of an instrumented program has.
 */
#ifndef HN_GUEST_H
#define HN_GUEST_H

#include <sys/syscall.h>
#include <sys/wait.h>

#include "hn.h"
#include "plugin_api.h"

/* Calls that are more than an event. */
enum call {
    CALL_NONE,          /* the thread is in its own code */
    CALL_OTHER,         /* does not block */
    CALL_OUTSIDE,       /* may block for an unknown time */
    CALL_READ, CALL_ACCEPT, CALL_ACCEPT4, CALL_WRITE, CALL_WRITEV,
    CALL_RECVFROM, CALL_RECVMSG, CALL_SENDTO, CALL_SENDMSG, CALL_RECVMMSG, CALL_SENDMMSG,
    CALL_SENDFILE, CALL_VMSPLICE,
    CALL_POLL, CALL_PPOLL, CALL_SELECT, CALL_PSELECT, CALL_EPOLL,
    CALL_SIGNAL_WAIT, CALL_SUSPEND, CALL_PAUSE,
    CALL_FLOCK, CALL_FCNTL, CALL_MSGRCV, CALL_MSGSND, CALL_SEMOP, CALL_CONNECT,
    CALL_FUTEX, CALL_NANOSLEEP, CALL_CLOCK_NANOSLEEP, CALL_YIELD, CALL_WAIT4, CALL_WAITID,
    CALL_CLONE, CALL_CLONE3, CALL_FORK, CALL_EXIT, CALL_EXIT_GROUP, CALL_EXECVE,
    CALL_MMAP, CALL_MUNMAP, CALL_MREMAP, CALL_BRK, CALL_SHMAT, CALL_SHMDT,
    CALL_TID_ADDRESS, CALL_CLOCK, CALL_RANDOM, CALL_OPEN, CALL_READV, CALL_PREAD,
    CALL_PREADV, CALL_PWRITE, CALL_PWRITEV,
    CALL_KILL, CALL_TGKILL, CALL_TIMER, CALL_SIGACTION,
    CALL_MEMORY,        /* changes the protection or use of memory */
    CALL_NUMBER         /* asks for a process or thread number, which the kernel chooses */
};

/* Makes a system call of the host in place of QEMU; returns its result, or -errno. */
typedef long replacement(struct hn_thread *me, long number, const long a[6]);

enum { PATCHES_MAX = 2, PATCH_BYTES_MAX = 16 };

/* Memory of the program that is changed during one system call. */
struct patch {
    uint64_t address;
    size_t size;
    uint8_t saved[PATCH_BYTES_MAX];
};

/* Progress of a new thread: not there yet, waiting until no other thread is in translated code,
 * allowed to continue, or at its first instruction. */
enum { ARRIVAL_NOT_YET, ARRIVAL_WANTS_ALL, ARRIVAL_HAS_ALL, ARRIVAL_DONE };

/* State of a slot's thread in addition to the runtime's. */
struct guest {
    int in_block;           /* waits in the middle of translated code */
    int draining;           /* has the baton only to reach the end of the block */
    uint32_t arrived;       /* futex: ARRIVAL_ */
    int exiting;
    uint64_t tid_word;      /* cleared when the thread ends */
    uint64_t stack_low, stack_high, tls_low, tls_high;
    enum call call;
    uint64_t arguments[6];
    struct hn_pieces pieces;    /* the buffers that the call fills (guest_transfers.c) */
    replacement *replacement;   /* makes the call in place of QEMU, or null */
    long replaced_number;   /* number of the host's call that is replaced */
    int replaces_all;       /* QEMU makes several for the program's one */
    int tsc_forbidden;      /* to its kernel thread (virtual_tsc.c) */
    struct guest *child;    /* while it is being made */
    struct patch patches[PATCHES_MAX];
    int patched;
    uint64_t paused_at;     /* instructions counted when the call began */
};

extern struct guest hn_guests[HN_THREADS_MAX];
extern __thread uint64_t hn_mark __attribute__((tls_model("initial-exec")));

static inline struct guest *guest_of(const struct hn_thread *me)
{
    return &hn_guests[me - hn_slots];
}

static inline struct hn_thread *slot_of(const struct guest *g)
{
    return &hn_slots[g - hn_guests];
}

static inline int recording(const struct hn_thread *me)
{
    return me != &hn_no_thread && hn_c->order != 0;
}

/* api.c. hn_count is where the thread's instructions are counted: with version 1 of the interface
 * hn_instructions, for all threads; with later versions that remains zero. */
enum { CODE_BYTES_MAX = 16 };
extern uint64_t hn_instructions;
extern __thread uint64_t *hn_count __attribute__((tls_model("initial-exec")));
void api_choose(void);
void api_begin(const qemu_info_t *info);
void instruction_code(const struct qemu_plugin_insn *insn, uint8_t code[CODE_BYTES_MAX]);
void count_block(struct qemu_plugin_tb *tb, size_t length);
void count_on(unsigned cpu);
void count_again(void);
unsigned processors_of_system(void);
int api_confuses_processors(void);
int repeats_are_executed_again(void);

/* guest_isa.c */
enum machine { X86_64, AARCH64, RISCV64, MACHINES };
enum { CALL_BYTES_MAX = 8 };
int elf_machine(void);
int is_plain_exec(int64_t number);
int is_behind_call(const uint8_t before[CALL_BYTES_MAX]);
enum call guest_call(int64_t number);
int guest_machine(const char *name);
int is_system_call(const uint8_t *code, size_t size);
enum { MARK_BYTES_MAX = 8 };
size_t mark_size(void);
int is_mark(const uint8_t *code, size_t size);
enum { ZERO_REGISTER = 31 };
int is_aarch64(void);
int clears_block(const uint8_t code[4], unsigned *operand);
int accesses_by_sve(const uint8_t code[4]);
int is_wide(const uint8_t *code, size_t size);
int is_atomic(const uint8_t *code, size_t size, int *synchronises);
int reads_tsc(const uint8_t *code, size_t size);
void clone_of_machine(const uint64_t a[6], uint64_t to[5]);
uint64_t tid_word_to_tls(uint64_t tid_word, uint64_t *size);

/* guest_registers.c */
void registers_of(enum machine machine);

/* translate.c */
void translate_register(qemu_plugin_id_t id);
void translate_fetches(void);

/* Whether the calling thread may record now (translate.c). */
int come_in(unsigned cpu);

/* program_marks.c */
int behind_mark(uint64_t address);
void on_mark(unsigned cpu, qemu_plugin_meminfo_t info, uint64_t address, void *data);

/* unshown.c */
void unshown_begin(int argc, char **argv);

/* layout.c */
void layout_begin(void);
void layout_loaded(void);

/* environment.c */
void environment_fill(int argc, char **argv);
void environment_restore(uint64_t low, uint64_t high);

/* turns.c */
void settle(struct hn_thread *me);
void yield_in_block(struct hn_thread *me);
void exact_turn_in_block(struct hn_thread *me);
void park(struct hn_thread *me);
int lend(struct hn_thread *me);

/* system.c */
int system_install(qemu_plugin_id_t id, int with_fetches);

/* processors.c */
void processors_begin(unsigned cpus);
void processors_watch(struct qemu_plugin_tb *tb);
unsigned processor_now(unsigned cpu);

/* tasks.c */
enum { SYSTEM_CPUS_MAX = 256, PAGE_BYTES_OF_GUEST = 4096 };

/* Linux on x86-64 without randomisation: all memory, the kernel's own image, and its modules
 * (Documentation/x86/x86_64/mm.rst). */
#define ALL_MEMORY UINT64_C(0xffff888000000000)
#define BEHIND_ALL_MEMORY UINT64_C(0xffffc88000000000)
#define KERNEL_IMAGE UINT64_C(0xffffffff80000000)
#define BEHIND_KERNEL_IMAGE UINT64_C(0xffffffffc0000000)

/* Whether a virtual address is in a direct mapping, which determines its physical address. */
static inline int is_direct(uint64_t address)
{
    return (address >= ALL_MEMORY && address < BEHIND_ALL_MEMORY) ||
           (address >= KERNEL_IMAGE && address < BEHIND_KERNEL_IMAGE);
}
void tasks_learn(uint64_t physical);
void tasks_report(struct hn_thread *me, uint64_t physical);
void page_noted(struct hn_thread *me, uint64_t physical, uint64_t address);
extern uint64_t *hn_pages, hn_page_count;
int physical_of_host(const void *address, uint64_t *physical);
void tasks_begin(struct hn_thread *me, unsigned cpus);
unsigned task_processor(uint64_t own_data, unsigned cpus);
void task_switched(struct hn_thread *me, unsigned cpu);
extern uint64_t hn_current_task[SYSTEM_CPUS_MAX];

/* virtual_env.c */
struct hn_thread *guest_thread(void);
void random_bytes(void *to, size_t size);
void random_after_fork(int in_child);

/* virtual_tsc.c */
void on_tsc_read(unsigned cpu, void *data);
void tsc_before_exec(void);
int tsc_read_emulated(const siginfo_t *info, void *context);

/* guest_files.c */
void file_opened(struct hn_thread *me, int fd);
void file_read(enum call call, const uint64_t a[6], uint64_t bytes);
void child_waited_for(enum call call, const uint64_t a[6]);

/* syscall_dispatch.c, host_waits.c */
int dispatch_possible(void);
int dispatch_catches(void);
void dispatch_over(void);
void dispatch_mask(const uint64_t *wanted, uint64_t *old);
void dispatch_call(long number, replacement *make, int all);
long make_call(long number, const long a[6]);
long interrupted(int may_restart);
int is_from_outside(const siginfo_t *info);
void choose_replacement(struct guest *g, enum call call, int midway);

/* guest_signals.c */
void signal_sent(struct hn_thread *me, enum call call, const uint64_t a[6]);

/* deferred_signals.c */
extern int hn_signals_deferred;
int defer_signal(int number, const siginfo_t *info);
void deliver_deferred_signals(struct hn_thread *me);
int is_home_request(const siginfo_t *info);
void signals_after_fork(void);

/* start.c */
void pass_signal_on(int number, siginfo_t *info, void *context);
int signal_restarts(void);

/* guest_syscalls.c */
void guest_syscalls_register(qemu_plugin_id_t id);

/* guest_threads.c */
void guest_threads_begin(void);
int guest_thread_is_new(void);
void guest_thread_wants_all(void);
void arrive(unsigned cpu);
void guest_thread_expect(struct hn_thread *me, const uint64_t clone[5]);
void guest_thread_made(struct hn_thread *me, int64_t result);
void guest_thread_exits(struct hn_thread *me);
void guest_thread_tid_word(struct hn_thread *me, uint64_t address);
void guest_threads_alone(const struct guest *was);
void guest_threads_unmapped(uint64_t start, uint64_t size);

/* processes.c */
void processes_begin(void);
void process_expect(struct hn_thread *me);
void process_made(struct hn_thread *me, int64_t result);
int process_offer_exec(struct hn_thread *me);
void process_withdraw(int fd);

/* program_exec.c */
void exec_begin(int argc, char **argv, const char *preload);
void exec_follow(struct hn_thread *me, int64_t number, const uint64_t a[6]);

/* regions.c */
struct region {
    uint64_t start, end;
    int shared;
    char *name;             /* of shared memory, else null */
};
void regions_inherited(struct hn_thread *me);
const struct region *region_at(uint64_t address);
void region_mmap(struct hn_thread *me, const uint64_t a[6], uint64_t start);
void region_munmap(struct hn_thread *me, uint64_t start, uint64_t size);
void region_mremap(struct hn_thread *me, const uint64_t a[6], uint64_t start);
void region_brk(struct hn_thread *me, uint64_t end);
void region_attach(struct hn_thread *me, uint64_t segment, uint64_t start);
void region_detach(struct hn_thread *me, uint64_t start);
int main_stack_of_guest(uint64_t *low, uint64_t *high);
uint64_t region_end(uint64_t address);

/* guest_transfers.c */
void guest_note_buffers(struct guest *g);
void guest_transfer(struct hn_thread *me, enum call call, const uint64_t a[6], uint64_t bytes);

/* guest_memory.c */
int peek(uint64_t address, void *to, size_t size);
int poke(uint64_t address, const void *from, size_t size);
int patch(struct guest *g, uint64_t address, const void *bytes, size_t size);
void unpatch(struct guest *g);

/* guest_futex.c */
enum { WAITS_FOR_FUTEX = HN_W_SEMAPHORE };      /* to a simulation a futex is a semaphore */
void futex_wake(struct hn_thread *me, uint64_t word, int count);
void guest_futex(struct hn_thread *me, const uint64_t a[6]);
long replace_futex(struct hn_thread *me, long number, const long a[6]);

/* Bytes that the kernel reads and writes of one of select's sets. */
static inline size_t bytes_of_set(long descriptors)
{
    return ((size_t)descriptors + 63) / 64 * 8;
}

/* guest_waits.c */
int64_t timespec_ns(const struct timespec *t);
int child_ready(idtype_t type, id_t id, int options);
void guest_sleep(struct hn_thread *me, clockid_t clock, int absolute, uint64_t request);
enum hn_fd_use use_of_fd(enum call call);
void guest_wait(struct hn_thread *me, enum call call, const uint64_t a[6]);

#endif
