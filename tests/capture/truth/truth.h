/* What programs of the corpus share. */
#pragma once
#include <homenode.h>
#include <stdio.h>

/* No compiler may move an access out of such a function, or leave it out. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* What memory holds may have changed: a value read before must be read again. */
#define barrier() __asm__ volatile("" ::: "memory")

/* Says where an object without a symbol is: a block on the heap, a local variable. */
#define announce(name, address, size) \
    (printf("object %s %p %zu\n", name, (void *)(address), (size_t)(size)), fflush(stdout))

/* References count between the two. */
#define count_from_here() homenode_marker("begin")
#define count_to_here() homenode_marker("done")
