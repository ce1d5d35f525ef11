/* ocean-noncontig: circulation of a two-layer ocean, on two-dimensional arrays.
 *
 * Computes eddies and boundary currents of a square ocean under a steady wind (see ocean.h), with a
 * red/black Gauss-Seidel multigrid solver (ocean-multigrid.h). Each grid is one array, row after
 * row.
 *
 * Sharing: a thread owns a rectangular tile of each grid, a piece of each of its rows, so a page
 * holds pieces of several threads' rows and none is local to all who use it. At the edges of tiles
 * neighbours read each other's cells in place: in rows where tiles lie above each other, and word
 * by word, one of each row, where they lie side by side; there blocks are falsely shared.
 *
 * Source: Talbot and Kelly, table 1.3 and section 1.4 (Ocean-Non-Contig of SPLASH-2): 258 by 258,
 * 64 processors, two-dimensional arrays. Ours: own code; model, scheme and input are our choice.
 * The groups of arrays (fields, fields2, wrk, frcng) are named as the paper names those of the
 * original, so that one can mark the same ones.
 */
#include "ocean.h"

static const struct workload ocean_noncontig = {
    .name = "ocean-noncontig",
    .summary = "Circulation of a two-layer ocean, on two-dimensional arrays",
    .size_help = "points along each side, coast included, 2 more than a power of two",
    .size_default = 258, .size_quick = 18, .size_min = 10, .size_max = 514,
    .iterations_default = 2, .iterations_quick = 2,
    .parameters = {{"--page", "bytes in a page; a grid begins with one", 4096, 4096, 65536}},
};

static size_t field_bytes(int cells)
{
    return to_pages((size_t)(cells + 2) * (size_t)(cells + 2) * sizeof(double));
}

INLINED struct part part_of(const struct field *f, unsigned id)
{
    const struct tile t = tile_of(f->side, id);
    ptrdiff_t stride = f->side + 2;
    return (struct part){f->cells + (t.row + 1) * stride + t.column + 1, stride};
}

/* The neighbours' cells lie beside the thread's own as they are. */
static void exchange(const struct field *f, unsigned id, int colour)
{
    (void)f;
    (void)id;
    (void)colour;
}

int main(int argc, char **argv)
{
    return run(&ocean_noncontig, argc, argv);
}
