/* What the mark program in a recorded system tells the plugin. */
#ifndef HN_MARK_H
#define HN_MARK_H

#include <stdint.h>

/* Instructions that do nothing: an eight-byte nop with a number in it. */
#define MARK_START 0x006e4801
#define MARK_STOP 0x006e4802

#define MARK_MAGIC UINT64_C(0x6b72616d65646f6e)

struct mark_table {
    uint64_t magic;
    uint64_t own_data;  /* the kernel's table of each processor's own data */
    uint64_t current;   /* in it, the pointer to the running task */
    uint64_t process;   /* in a task, the process's number */
    uint64_t leader;    /* in a task, the task of the process's first thread */
    uint64_t name;      /* in a task, its name */
};

#endif
