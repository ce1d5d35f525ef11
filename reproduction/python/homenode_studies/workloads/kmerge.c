/* kmerge: heapsort of pieces, merged by all threads together.
 *
 * Each thread sorts its piece of an array of 4-byte integers by heapsort. Then neighbouring pieces
 * are merged two by two, from one array into another. All threads whose pieces are in the two runs
 * take part: each makes an equal part of the result, and finds by binary search where in either
 * run its part begins.
 *
 * Sharing: in each phase a thread reads parts of two runs, most of them written by other threads
 * in the phase before, and writes a part that others read in the next. Data migrate in large runs.
 * A part begins anywhere in a run, so the blocks at its ends are read by two threads; those of the
 * result are written by two unless parts end at blocks. The searches read single words far apart.
 *
 * Source: Bolosky's thesis, section 2.2.4 (by R. Fowler after J. Mellor-Crummey): 81920 integers,
 * so that each of eight pieces is 10 pages of 4 KB; a merge from which no processor drops out.
 * Ours: own code; that threads divide a merge by its result is our choice (merge path).
 */
#include "merge.h"

static const struct workload kmerge = {
    .name = "kmerge",
    .summary = "Heapsort of pieces, which all threads merge together",
    .size_help = "integers",
    .size_default = 81920, .size_quick = 2000, .size_min = 1, .size_max = 100000000,
};

/* How many of the first `rank` elements of the merged result come from `left`. */
static unsigned share_of_left(unsigned rank, const uint32_t *left, unsigned left_size,
                              const uint32_t *right, unsigned right_size)
{
    unsigned low = rank > right_size ? rank - right_size : 0;
    unsigned high = rank < left_size ? rank : left_size;
    while (low < high) {
        unsigned middle = low + (high - low) / 2;
        if (left[middle] <= right[rank - middle - 1])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* The threads of two neighbouring runs make equal parts of what the runs are merged to. */
static void merge_runs(unsigned id, unsigned reach, const uint32_t *from, uint32_t *to)
{
    unsigned leader = id / (2 * reach) * (2 * reach);
    unsigned team = o.threads - leader < 2 * reach ? o.threads - leader : 2 * reach;
    struct run left = run_of(leader, reach), right = run_of(leader + reach, reach);
    unsigned left_size = left.high - left.low, right_size = right.high - right.low;
    unsigned begin = first_of(id - leader, team, left_size + right_size);
    unsigned end = first_of(id - leader + 1, team, left_size + right_size);
    const uint32_t *x = from + left.low, *y = from + right.low;
    unsigned x_begin = share_of_left(begin, x, left_size, y, right_size);
    unsigned x_end = share_of_left(end, x, left_size, y, right_size);
    merge(x + x_begin, x + x_end, y + begin - x_begin, y + end - x_end, to + left.low + begin);
}

int main(int argc, char **argv)
{
    return run(&kmerge, argc, argv);
}
