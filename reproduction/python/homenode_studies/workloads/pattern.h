/* What the programs of one sharing pattern share: objects of a given size, adjacent or apart. */
#ifndef PATTERN_H
#define PATTERN_H

#include "workload.h"

enum { WORD_BYTES = 8, APART_BYTES = 128 };

/* Adjacent objects of `words` words each. Volatile: every reference is made where it stands. */
struct objects {
    volatile uint64_t *memory;
    unsigned count, words;
    size_t stride; /* words from an object to the next */
};

/* Objects of `bytes`, a multiple of 8 after rounding up; `apart` in lines of their own. */
static inline struct objects make_objects(unsigned count, unsigned bytes, bool apart)
{
    size_t unit = apart ? APART_BYTES : WORD_BYTES;
    size_t stride_bytes = (bytes + unit - 1) / unit * unit;
    return (struct objects){
        .memory = allocated(aligned_alloc(PAGE_BYTES, whole_pages(count * stride_bytes))),
        .count = count,
        .words = (bytes + WORD_BYTES - 1) / WORD_BYTES,
        .stride = stride_bytes / WORD_BYTES,
    };
}

static inline volatile uint64_t *object_at(const struct objects *objects, unsigned number)
{
    return objects->memory + number * objects->stride;
}

/* Sets the objects to zero, thread `id` a band of them. */
static inline void clear_band(const struct objects *objects, unsigned id, unsigned threads)
{
    unsigned end = first_of(id + 1, threads, objects->count);
    for (unsigned k = first_of(id, threads, objects->count); k < end; k++)
        for (unsigned word = 0; word < objects->words; word++)
            object_at(objects, k)[word] = 0;
}

static inline UNRECORDED uint64_t checksum_of_objects(const struct objects *objects)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned k = 0; k < objects->count; k++)
        for (unsigned word = 0; word < objects->words; word++)
            sum = mix(sum, object_at(objects, k)[word]);
    return sum;
}

#endif
