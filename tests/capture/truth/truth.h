/* What programs of the corpus share. */
#pragma once
#include <stdio.h>

/* No compiler may move an access out of such a function, or leave it out. */
#ifdef __clang__
#define NOINLINE __attribute__((noinline))
#else
#define NOINLINE __attribute__((noipa))
#endif

/* Says where an object without a symbol is: a block on the heap, a local variable. */
#define announce(name, address, size) \
    (printf("object %s %p %zu\n", name, (void *)(address), (size_t)(size)), fflush(stdout))
