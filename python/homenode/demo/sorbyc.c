/* sorbyc: successive over-relaxation, column by column within a band.
 *
 * Computes the steady temperature of a square plate (see sor.h). A thread updates the first column
 * of its band from top to bottom, then the second, and so on.
 *
 * Sharing: the same rows as in sorbyr are used by two threads, but now both use them all the time:
 * while one thread reads the points of the row above its band, the row's owner is writing points a
 * few columns away. References from the two alternate, so that every block of a shared row goes
 * back and forth throughout a half-sweep: false sharing, the more the larger the block.
 *
 * Source: Bolosky's thesis, section 2.2.6 (program by A. Cox and R. Fowler). Ours: own code, as in
 * sorbyr.
 */
#include "sor.h"

static const struct workload sorbyc = {
    .name = "sorbyc",
    .summary = "Red/black successive over-relaxation, each thread column by column",
    .size_help = "rows and columns",
    .size_default = 406, .size_quick = 58, .size_min = 3, .size_max = 8192,
    .iterations_default = 20, .iterations_quick = 4,
};

static void sweep(unsigned colour, unsigned low, unsigned high)
{
    for (unsigned col = 1; col + 1 < size; col++)
        for (unsigned row = low + ((low + col + colour) & 1); row < high; row += 2)
            relax(row, col);
}

int main(int argc, char **argv)
{
    return run(&sorbyc, argc, argv);
}
