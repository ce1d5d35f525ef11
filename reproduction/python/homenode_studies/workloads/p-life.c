/* p-life: Conway's game of life.
 *
 * Computes generations of a small square world whose edges are joined. A cell is two words of 4
 * bytes, what it is and what it will be: all threads find the latter, and then take it over.
 *
 * Sharing: each thread has a band of adjacent rows; a band is a few rows, and its first and last
 * are read by a neighbour while their owner writes beside what is read. A row is 336 bytes and
 * bands are not aligned, so large blocks hold several bands, all written in every generation.
 * Variables of loops are on the thread's stack, which under Presto is shared memory, though no
 * other thread reads it; neighbours are counted in private memory.
 *
 * Source: Bolosky's thesis, section 2.2.14 (a Presto program, written at Rice University): 42 by 42
 * cells, 500 generations, bands, one thread a processor as no other of its Presto programs. Ours:
 * own code; the thesis does not say what is beyond the edges nor what a cell is. Its trace has 63
 * references for a cell in each generation and 9 private ones (table 2.1), and with 4 KB blocks the
 * price of eight of them is that of remote ones (table 6.5): that variables of loops are in memory,
 * that where rows are is looked up, and that a cell's two words lie side by side follows from that.
 */
#include "workload.h"

static const struct workload p_life = {
    .name = "p-life",
    .summary = "Conway's game of life in a small world",
    .size_help = "rows and columns",
    .size_default = 42, .size_quick = 20, .size_min = 3, .size_max = 4096,
    .iterations_default = 500, .iterations_quick = 30,
};

static struct options o;
static unsigned size;
/* Alive is 1. */
struct cell {
    uint32_t now, next;
};

static struct cell *world; /* row after row */

/* Where rows of the world begin, in place of pointers of four bytes. Volatile, as a thread's
 * variables are, because that program loads and stores them each time. */
static volatile uint32_t *places;

/* A thread's variables, on its stack. */
struct frame {
    volatile uint32_t down, right;
    uint32_t unused[PAGE_BYTES / sizeof(uint32_t) - 2]; /* it has a page of its own */
};

static UNRECORDED uint32_t input(unsigned at)
{
    return random_at(o.seed, at) % 3 == 0;
}

/* One of the three places around `at`, the first of them before it; edges are joined. */
INLINED unsigned around(unsigned at, unsigned step)
{
    unsigned found = at + step;
    return found == 0 ? size - 1 : found > size ? 0 : found - 1;
}

/* How many of the cells around one are alive, and it itself; counted in private memory. */
static uint32_t alive_around(unsigned row, unsigned col, struct frame *f, volatile uint32_t *alive)
{
    *alive = 0;
    for (f->down = 0; f->down < 3; f->down++) {
        uint32_t place = places[around(row, f->down)], in_row = 0;
        for (f->right = 0; f->right < 3; f->right++)
            in_row += world[place + around(col, f->right)].now;
        *alive += in_row;
    }
    return *alive;
}

static void find_next(unsigned row, struct frame *f, volatile uint32_t *alive)
{
    for (unsigned col = 0; col < size; col++) {
        uint32_t count = alive_around(row, col, f, alive);
        struct cell *cell = &world[places[row] + col];
        cell->next = count == 3 || (count == 4 && cell->now);
    }
}

static void take_over(unsigned row)
{
    for (unsigned col = 0; col < size; col++) {
        struct cell *cell = &world[places[row] + col];
        cell->now = cell->next;
    }
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    struct frame *frame = allocated(aligned_alloc(PAGE_BYTES, sizeof *frame));
    uint32_t *alive = allocated(aligned_alloc(PAGE_BYTES, PAGE_BYTES));
    homenode_private(alive, PAGE_BYTES);
    for (unsigned at = low * size; at < high * size; at++)
        world[at].now = input(at);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned generation = 0; generation < o.iterations; generation++) {
        for (unsigned row = low; row < high; row++)
            find_next(row, frame, alive);
        meet();
        for (unsigned row = low; row < high; row++)
            take_over(row);
        meet();
    }
    free(frame);
    free(alive);
}

/* The same generations, each cell adding itself to its neighbours; counts cells that differ. */
static UNRECORDED uint64_t wrong_cells(void)
{
    unsigned cells = size * size;
    uint8_t *alive = allocated(calloc(cells, 1));
    uint64_t wrong = 0;
    for (unsigned at = 0; at < cells; at++)
        alive[at] = (uint8_t)input(at);
    for (unsigned generation = 0; generation < o.iterations; generation++) {
        uint8_t *around = allocated(calloc(cells, 1));
        for (unsigned at = 0; at < cells; at++)
            for (unsigned k = 0; k < 9 && alive[at]; k++) {
                unsigned row = (at / size + size + k / 3 - 1) % size;
                unsigned col = (at % size + size + k % 3 - 1) % size;
                around[row * size + col]++; /* itself included */
            }
        for (unsigned at = 0; at < cells; at++)
            alive[at] = around[at] == 3 || (around[at] == 4 && alive[at]);
        free(around);
    }
    for (unsigned at = 0; at < cells; at++)
        wrong += alive[at] != world[at].now;
    free(alive);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned at = 0; at < size * size; at++)
        sum = mix(sum, world[at].now);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_life, argc, argv);
    size = o.size;
    world = allocated(malloc((size_t)size * size * sizeof *world));
    places = allocated(aligned_alloc(PAGE_BYTES, whole_pages(size * sizeof *places)));
    for (unsigned row = 0; row < size; row++)
        places[row] = row * size;
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        world[size + 1].now ^= 1;
    begin_check();
    int status = verdict(&p_life, wrong_cells(), checksum());
    free((void *)(uintptr_t)places);
    free(world);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
