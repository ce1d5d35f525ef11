/* Tables for walks of the stack: .eh_frame and .debug_frame (DWARF 5, 6.4, and the Linux Standard
 * Base's chapter on exception frames).
 */
#ifndef HN_UNWIND_H
#define HN_UNWIND_H

#include "registers.h"

/* Bytes that are being read, and the address of the first unread one. */
struct reader {
    const uint8_t *at, *end;
    uint64_t address;
    int failed;
};

/* frame_reader.c */
uint64_t take(struct reader *r, size_t size);
uint64_t take_uleb(struct reader *r);
int64_t take_sleb(struct reader *r);
void skip(struct reader *r, uint64_t size);
uint64_t take_encoded(struct reader *r, uint8_t encoding, uint64_t table);

/* What the functions of a compilation have in common. */
struct common {
    uint64_t code_step;
    int64_t data_step;
    uint64_t link;              /* column of the return address */
    uint8_t encoding;
    int augmented;
    struct reader rules;
};

/* The entry of a function. */
struct frame_entry {
    uint64_t begin, size;       /* in the file's own addresses */
    struct common common;
    struct reader rules;
};

/* frame_entries.c */
int frame_entry(struct loaded_file *file, uint64_t pc, struct frame_entry *entry);

#endif
