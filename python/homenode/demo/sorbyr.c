/* sorbyr: successive over-relaxation, row by row.
 *
 * Computes the steady temperature of a square plate (see sor.h). A thread updates its band one row
 * after the other.
 *
 * Sharing: only the first and last row of a band are used by two threads. All threads are at the
 * top of their bands, reading the last row of the band above, while the owner of that row is far
 * away; it writes it when all are at the bottom. So a shared row changes hands as a whole, twice a
 * half-sweep: the best block is as large as a row, and smaller blocks only multiply the messages.
 *
 * Source: Bolosky's thesis, section 2.2.6 (program by A. Cox and R. Fowler): 406 by 406 doubles,
 * each row on a page, bands, half-sweeps separated by barriers. Ours: own code; the thesis does not
 * say how many iterations, factor or edge temperatures; its run had seven threads (`-p 7`).
 */
#include "sor.h"

static const struct workload sorbyr = {
    .name = "sorbyr",
    .summary = "Red/black successive over-relaxation, each thread row by row",
    .size_help = "rows and columns",
    .size_default = 406, .size_quick = 58, .size_min = 3, .size_max = 8192,
    .iterations_default = 20, .iterations_quick = 4,
};

static void sweep(unsigned colour, unsigned low, unsigned high)
{
    for (unsigned row = low; row < high; row++)
        for (unsigned col = first_column(colour, row); col + 1 < size; col += 2)
            relax(row, col);
}

int main(int argc, char **argv)
{
    return run(&sorbyr, argc, argv);
}
