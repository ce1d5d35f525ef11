/* p-life: Conway's game of life.
 *
 * Computes generations of a small square world whose edges are joined, from one array of 4-byte
 * cells into another.
 *
 * Sharing: each thread has a band of adjacent rows; a band is a few rows, and its first and last
 * are read by a neighbour while others write theirs. A row is 168 bytes and bands are not aligned,
 * so large blocks hold several bands, all of them written in every generation.
 *
 * Source: Bolosky's thesis, section 2.2.14 (a Presto program, written at Rice University): 42 by 42
 * cells, 500 generations, bands, one thread a processor as no other of its Presto programs. Ours:
 * own code; the thesis does not say what is beyond the edges nor how large a cell is.
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
static uint32_t *worlds[2]; /* row after row: 1 is alive */

static UNRECORDED uint32_t input(unsigned at)
{
    return random_at(o.seed, at) % 3 == 0;
}

static void update_row(const uint32_t *from, uint32_t *to, unsigned row)
{
    const uint32_t *above = from + (row + size - 1) % size * size;
    const uint32_t *here = from + row * size;
    const uint32_t *below = from + (row + 1) % size * size;
    for (unsigned col = 0; col < size; col++) {
        unsigned left = col > 0 ? col - 1 : size - 1, right = col + 1 < size ? col + 1 : 0;
        uint32_t alive = above[left] + above[col] + above[right] + here[left] + here[right]
                         + below[left] + below[col] + below[right];
        to[row * size + col] = alive == 3 || (alive == 2 && here[col]);
    }
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    for (unsigned at = low * size; at < high * size; at++)
        worlds[0][at] = input(at);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned generation = 0; generation < o.iterations; generation++) {
        for (unsigned row = low; row < high; row++)
            update_row(worlds[generation % 2], worlds[(generation + 1) % 2], row);
        meet();
    }
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
        wrong += alive[at] != worlds[o.iterations % 2][at];
    free(alive);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned at = 0; at < size * size; at++)
        sum = mix(sum, worlds[o.iterations % 2][at]);
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&p_life, argc, argv);
    size = o.size;
    for (unsigned k = 0; k < 2; k++)
        worlds[k] = allocated(malloc((size_t)size * size * sizeof(uint32_t)));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        worlds[o.iterations % 2][size + 1] ^= 1;
    begin_check();
    int status = verdict(&p_life, wrong_cells(), checksum());
    free(worlds[0]);
    free(worlds[1]);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
