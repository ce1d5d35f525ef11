/* simple-columns: simple with its arrays stored as FORTRAN stores them.
 *
 * Computes what simple computes, line for line (see simple.c), and differs in where things are and
 * who does them:
 *
 * Sharing: arrays are stored column after column, and rows are dealt out to threads like cards. So
 * adjacent words belong to different threads, and with 64 threads every block of 64 numbers or more
 * to all of them; in the flow of heat along columns the same words belong to the columns' threads.
 * Rows are read where they are instead of being copied into private memory first.
 *
 * Source: Markatos and Chronaki, section 3.1.1 (SIMPLE), a FORTRAN program with 64 processors.
 * Their table 3 shows what it does to memory: a page of 16 words has 14 copies, one of 256 words
 * nearly 60. Ours: own code.
 */
enum { BY_COLUMNS = 1 };
#include "simple.h"

static const struct workload simple_columns = {
    .name = "simple-columns",
    .summary = "The same as simple, with arrays stored by columns and rows dealt out like cards",
    .size_help = "zones in a row and in a column",
    .size_default = 96, .size_quick = 16, .size_min = 2, .size_max = 2048,
    .iterations_default = 14, .iterations_quick = 4,
};

int main(int argc, char **argv)
{
    return run(&simple_columns, argc, argv);
}
