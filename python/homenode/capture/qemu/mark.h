/* Interface of the mark program in a recorded system and the plugin. */
#ifndef HN_MARK_H
#define HN_MARK_H

#include <stdint.h>

/* The marks: eight-byte nops with a number. */
#define MARK_START 0x006e4801
#define MARK_STOP 0x006e4802
#define MARK_PAGE 0x006e4803

#define MARK_TEXT_OF(number) #number
#define MARK_NOP(number) ".byte 0x0f, 0x1f, 0x84, 0x00\n.long " MARK_TEXT_OF(number) "\n"

#define MARK_MAGIC UINT64_C(0x6b72616d65646f6e)

struct mark_table {
    uint64_t magic;
    uint64_t own_data;  /* the kernel's table of per-CPU data */
    uint64_t current;   /* in it, the pointer to the running task */
    uint64_t process;   /* in a task, the process's number */
    uint64_t leader;    /* in a task, the task of the process's first thread */
    uint64_t name;      /* in a task, its name */
};

enum { MARK_PAGE_BYTES = 4096 };

/* A page of the report. */
struct mark_page {
    uint32_t used;
    char text[MARK_PAGE_BYTES - sizeof(uint32_t)];
};

#endif
