/* What all workloads share: options, threads, random numbers, verdict.
 *
 * Every program is ordinary C11 with POSIX threads. The first thread of the program is worker 0, so
 * a run with `-p 8` has exactly eight threads. Work that only checks the result is marked
 * UNRECORDED: the compiler leaves it uninstrumented, so that a trace of `homenode record` holds
 * the computation and not its check.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#ifndef _POSIX_C_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <homenode.h>

enum { THREADS_DEFAULT = 8, THREADS_MAX = 1024, PAGE_BYTES = 4096 };

#define UNRECORDED HOMENODE_UNRECORDED

/* For a function of values that references no memory: it becomes part of its caller and is as
 * recorded as that is. A call proper would copy arguments and results of a structure's type
 * between memory and registers behind the recorder's back. */
#define INLINED static inline __attribute__((always_inline))

/* For a function that allocates one data structure. It stays a function of its own, also beside one
 * that does the same, because a trace names heap blocks by the function that allocates them. */
#ifdef __clang__
#define ALLOCATES static __attribute__((noinline))
#else
#define ALLOCATES static __attribute__((noinline, no_icf))
#endif

/* A number that a program takes besides `-n` and `-i`. */
struct parameter {
    const char *name; /* "--bytes" */
    const char *help;
    unsigned initial, low, high;
};

enum { PARAMETERS_MAX = 4 };

/* What a program says about itself; the numbers are its `-n` and `-i`. */
struct workload {
    const char *name;
    const char *summary;
    const char *size_help;
    unsigned size_default, size_quick, size_min, size_max;
    unsigned iterations_default, iterations_quick; /* 0: the program has no `-i` */
    const char *flag;                              /* its own flag, or NULL */
    const char *flag_help;
    struct parameter parameters[PARAMETERS_MAX]; /* those that have a name */
};

struct options {
    unsigned threads;
    unsigned size;
    unsigned iterations;
    uint64_t seed;
    bool flag;
    bool corrupt;
    unsigned values[PARAMETERS_MAX]; /* of the parameters, in their order */
};

/* --- options ---------------------------------------------------------------------------------- */

static inline void print_help(const struct workload *w)
{
    printf("Usage: %s [-p THREADS] [-n SIZE]%s [-s SEED] [--quick]%s%s\n\n%s.\n\n"
           "  -p THREADS  threads, the first one included (default %u)\n"
           "  -n SIZE     %s (default %u)\n",
           w->name, w->iterations_default ? " [-i ITERATIONS]" : "", w->flag ? " " : "",
           w->flag ? w->flag : "", w->summary, (unsigned)THREADS_DEFAULT, w->size_help,
           w->size_default);
    if (w->iterations_default)
        printf("  -i NUMBER   iterations (default %u)\n", w->iterations_default);
    printf("  -s SEED     seed of the input, any number (default 1)\n"
           "  --quick     the size for tests: -n %u", w->size_quick);
    if (w->iterations_quick)
        printf(" -i %u", w->iterations_quick);
    printf("\n");
    for (unsigned k = 0; k < PARAMETERS_MAX && w->parameters[k].name; k++)
        printf("  %-11s NUMBER  %s (default %u)\n", w->parameters[k].name, w->parameters[k].help,
               w->parameters[k].initial);
    if (w->flag)
        printf("  %-11s %s\n", w->flag, w->flag_help);
    printf("  --corrupt   spoil one element of the result, to see that the check finds it\n");
}

static inline _Noreturn void refuse(const struct workload *w, const char *what, const char *value)
{
    fprintf(stderr, "%s: %s: %s; see %s --help\n", w->name, value, what, w->name);
    exit(2);
}

/* The number in `text`, which must lie between `low` and `high`. */
static inline uint64_t number_or_refuse(const struct workload *w, const char *text, uint64_t low,
                                        uint64_t high)
{
    char *end = NULL;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 0);
    if (errno || end == text || *end != '\0' || text[0] == '-' || value < low || value > high) {
        char range[80];
        snprintf(range, sizeof range, "expected a number from %" PRIu64 " to %" PRIu64, low, high);
        refuse(w, range, text);
    }
    return value;
}

/* Takes a parameter of the program's own, if `argument` is one; `value` may be NULL. */
static inline bool take_parameter(const struct workload *w, const char *argument,
                                  const char *value, struct options *o)
{
    for (unsigned k = 0; k < PARAMETERS_MAX && w->parameters[k].name; k++) {
        const struct parameter *p = &w->parameters[k];
        if (strcmp(argument, p->name))
            continue;
        if (!value)
            refuse(w, "a number must follow", argument);
        o->values[k] = (unsigned)number_or_refuse(w, value, p->low, p->high);
        return true;
    }
    return false;
}

static inline struct options parse_options(const struct workload *w, int argc, char **argv)
{
    struct options o = {.threads = THREADS_DEFAULT, .size = w->size_default, .seed = 1,
                        .iterations = w->iterations_default};
    for (unsigned k = 0; k < PARAMETERS_MAX; k++)
        o.values[k] = w->parameters[k].initial;
    for (int i = 1; i < argc; i++) {
        const char *argument = argv[i];
        bool numeric = strlen(argument) == 2 && argument[0] == '-'
                       && strchr(w->iterations_default ? "pnsi" : "pns", argument[1]);
        if (numeric && i + 1 == argc)
            refuse(w, "a number must follow", argument);
        if (!strcmp(argument, "--help")) {
            print_help(w);
            exit(0);
        } else if (!strcmp(argument, "--quick")) {
            o.size = w->size_quick;
            o.iterations = w->iterations_quick;
        } else if (!strcmp(argument, "--corrupt")) {
            o.corrupt = true;
        } else if (w->flag && !strcmp(argument, w->flag)) {
            o.flag = true;
        } else if (take_parameter(w, argument, i + 1 < argc ? argv[i + 1] : NULL, &o)) {
            i++;
        } else if (!numeric) {
            refuse(w, "no such option", argument);
        } else if (argument[1] == 'p') {
            o.threads = (unsigned)number_or_refuse(w, argv[++i], 1, THREADS_MAX);
        } else if (argument[1] == 'n') {
            o.size = (unsigned)number_or_refuse(w, argv[++i], w->size_min, w->size_max);
        } else if (argument[1] == 'i') {
            o.iterations = (unsigned)number_or_refuse(w, argv[++i], 1, 1000000);
        } else {
            o.seed = number_or_refuse(w, argv[++i], 0, UINT64_MAX);
        }
    }
    return o;
}

/* --- memory and threads ----------------------------------------------------------------------- */

/* Passes an allocation on, or ends the program. The call to malloc stays in the program's own
 * line, which is what a trace names heap blocks by. */
static inline void *allocated(void *memory)
{
    if (!memory) {
        fprintf(stderr, "out of memory; choose a smaller size\n");
        exit(1);
    }
    return memory;
}

/* A size in bytes rounded up to whole pages, as aligned_alloc() wants it. */
static inline size_t whole_pages(size_t bytes)
{
    return (bytes + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
}

static inline void must(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "%s: %s\n", what, strerror(error));
        exit(1);
    }
}

struct worker {
    pthread_t thread;
    unsigned id;
    void (*body)(unsigned id);
};

static inline void *start_worker(void *argument)
{
    const struct worker *worker = argument;
    worker->body(worker->id);
    return NULL;
}

/* Runs body(0) in this thread and body(1) .. body(threads - 1) in new ones, until all are done. */
static inline void run_threads(unsigned threads, void (*body)(unsigned id))
{
    struct worker *workers = allocated(calloc(threads, sizeof *workers));
    for (unsigned id = 1; id < threads; id++) {
        workers[id] = (struct worker){.id = id, .body = body};
        must(pthread_create(&workers[id].thread, NULL, start_worker, &workers[id]),
             "pthread_create");
    }
    body(0);
    for (unsigned id = 1; id < threads; id++)
        must(pthread_join(workers[id].thread, NULL), "pthread_join");
    free(workers);
}

/* First of the `size` items that belong to worker `id`; those of worker id + 1 follow. */
static inline unsigned first_of(unsigned id, unsigned threads, unsigned size)
{
    return (unsigned)((uint64_t)size * id / threads);
}

static pthread_barrier_t all_workers __attribute__((unused));

/* Waits until every worker is here. */
static inline void meet(void)
{
    int result = pthread_barrier_wait(&all_workers);
    if (result != PTHREAD_BARRIER_SERIAL_THREAD)
        must(result, "pthread_barrier_wait");
}

/* --- random numbers and checksums ------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood 2014) as a function of seed and position: element `index` of the
 * input is the same however many threads make it, and can be made again for the check. */
static inline UNRECORDED uint64_t random_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed * UINT64_C(0xd1342543de82ef95) + (index + 1) * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* FNV-1a, eight bytes at a time. */
static inline UNRECORDED uint64_t mix(uint64_t checksum, uint64_t word)
{
    return (checksum ^ word) * UINT64_C(0x100000001b3);
}

#define CHECKSUM_START UINT64_C(0xcbf29ce484222325)

/* --- verdict ---------------------------------------------------------------------------------- */

/* The computation is over and what follows only checks it. */
static inline void begin_check(void)
{
    homenode_marker("check");
}

/* Says how it went and gives the exit status: 0 if `wrong`, the number of wrong elements, is 0. */
static inline int verdict(const struct workload *w, uint64_t wrong, uint64_t checksum)
{
    if (wrong) {
        fprintf(stderr, "%s: FAILED: %" PRIu64 " elements are wrong\n", w->name, wrong);
        return 1;
    }
    printf("%s: ok, checksum %016" PRIx64 "\n", w->name, checksum);
    return 0;
}

#endif
