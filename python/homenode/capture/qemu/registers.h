/* The program's registers, and the files with its code. */
#ifndef HN_REGISTERS_H
#define HN_REGISTERS_H

#include <string.h>

#include "guest.h"

enum { NO_REGISTER = 0xff, REGISTERS_MAX = 32 };

/* Places in the processor's state, and numbers of registers there. */
struct register_layout {
    size_t first;                   /* byte offset of register 0 */
    uint8_t result, second;         /* of a function; in Go, whose second is a result too */
    uint8_t stack, frame;
    uint8_t link;                   /* the return address, or NO_REGISTER: it is on the stack */
    uint8_t arguments[4];
    uint8_t go_argument;
    uint8_t frame_distance;         /* of the frame pointer from the end of what it has saved */
    uint8_t call_arguments[6];      /* of a system call */
    uint8_t dwarf_count;            /* general registers in debug information */
    uint8_t dwarf_link;             /* column of the return address */
    uint8_t of_dwarf[REGISTERS_MAX];
};

extern const struct register_layout *hn_registers;

static inline uint64_t register_value(const void *state, unsigned number)
{
    uint64_t value;

    memcpy(&value, (const char *)state + hn_registers->first + number * sizeof value, sizeof value);
    return value;
}

unsigned register_of_dwarf(unsigned number);
int registers_are_possible(void);
int registers_are_right(void);
void registers_check(const void *state, const uint64_t arguments[6]);

/* A table for walks of the stack, with an index of its entries if one was made. */
struct frame_table {
    const uint8_t *bytes;           /* null: the file has none */
    size_t size;
    uint64_t address;
    int is_debug, is_indexed;
    struct indexed_entry {
        uint64_t begin, offset;
    } *index;
    size_t count;
};

/* guest_elf.c: a file with code of the program. */
struct loaded_file {
    struct loaded_file *next;
    const uint8_t *bytes;
    size_t size;
    uint64_t moved;                 /* address in memory less address in the file */
    uint64_t code_low, code_high;   /* in memory */
    uint64_t frames_address;        /* of .eh_frame_hdr in the file's own addresses, or 0 */
    int tables_found, has_index;
    struct frame_table tables[2];   /* .eh_frame and .debug_frame */
};

struct loaded_file *file_with_code(uint64_t pc);
void find_section(const struct loaded_file *file, const char *name, struct frame_table *table);
const uint8_t *bytes_at(const struct loaded_file *file, uint64_t address, size_t *left);
void files_loaded_first(void);
void file_mapped(int fd, uint64_t start, uint64_t offset);

/* What an allocation function gets and returns. */
enum allocator {
    NO_ALLOCATOR,
    OF_SIZE,            /* size */
    OF_PRODUCT,         /* count, size */
    OF_OLD,             /* old block, size */
    OF_OLD_PRODUCT,     /* old block, count, size */
    OF_OLD_ALIGNED,     /* old block, its size, alignment, size */
    OF_ALIGNED,         /* alignment, size */
    TO_PLACE,           /* place of the result, alignment, size */
    FREES,              /* block */
    MAPS,               /* makes a mapping, which the system call announces */
    GO_BLOCK,           /* size; in Go's registers */
    GO_STACK            /* returns both ends */
};

enum allocator allocator_at(uint64_t address);

/* unwind.c: how to get from a function to its caller. */
struct unwind_row {
    uint64_t pc;
    int64_t base_offset;            /* of the caller's stack pointer from a register */
    uint8_t base;                   /* that register; NO_REGISTER: unknown */
    uint8_t is_guess;               /* that the function has a frame pointer */
    uint8_t count;                  /* registers on the stack */
    uint8_t saved[REGISTERS_MAX + 1];   /* their numbers; LINK_COLUMN: the return address */
    int32_t offset[REGISTERS_MAX + 1];  /* of each from the caller's stack pointer */
};

enum { LINK_COLUMN = REGISTERS_MAX };

const struct unwind_row *unwind_row(uint64_t pc);

/* call_stacks.c */
uint32_t call_stack(struct hn_thread *me, const void *state, uint64_t caller);
void call_stacks_begin(void);
void call_stacks_after_fork(void);

/* allocations.c */
void on_allocator(unsigned cpu, void *data) __attribute__((visibility("hidden")));
void on_return_place(unsigned cpu, void *data) __attribute__((visibility("hidden")));
void watch_allocations(struct qemu_plugin_tb *tb);
const void *state_of_thread(void);
void allocations_call(const uint64_t arguments[6]);
uint32_t stack_of_mapping(void);
int go_stack_at(uint64_t address, uint64_t *low, uint64_t *high);

#endif
