/* bsort: heapsort of pieces, merged by fewer and fewer threads.
 *
 * Each thread sorts its piece of an array of 4-byte integers by heapsort. Then neighbouring pieces
 * are merged two by two, from one array into another: of the two threads one merges and the other
 * drops out, until one thread merges the last two pieces.
 *
 * Sharing: a piece belongs to one thread until the merge, where half of what a thread reads was
 * written by another, in one large run from end to end, and is not used by that one again. So data
 * migrate in large pieces, and large blocks are good. Only the blocks at the ends of pieces are
 * falsely shared, as the pieces, though whole pages long, do not begin on pages (merge.h).
 *
 * Source: Bolosky's thesis, section 2.2.4 (by R. Fowler): 163840 integers, so that each of eight
 * pieces is 20 pages of 4 KB; twice the memory, since no merge is in place. Ours: own code. That
 * pieces begin behind a header is our reading of its being dear under ACE, and not under Delay.
 */
#include "merge.h"

static const struct workload bsort = {
    .name = "bsort",
    .summary = "Heapsort of pieces, which fewer and fewer threads merge",
    .size_help = "integers",
    .size_default = 163840, .size_quick = 2000, .size_min = 1, .size_max = 100000000,
};

/* Thread `id` of every `2 * reach` merges its run with that of thread `id + reach`. */
static void merge_runs(unsigned id, unsigned reach, const uint32_t *from, uint32_t *to)
{
    if (id % (2 * reach) != 0)
        return;
    struct run left = run_of(id, reach), right = run_of(id + reach, reach);
    merge(from + left.low, from + left.high, from + right.low, from + right.high, to + left.low);
}

int main(int argc, char **argv)
{
    return run(&bsort, argc, argv);
}
