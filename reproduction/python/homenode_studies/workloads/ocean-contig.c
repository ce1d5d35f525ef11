/* ocean-contig: circulation of a two-layer ocean, on tiles that are contiguous in memory.
 *
 * Computes eddies and boundary currents of a square ocean under a steady wind (see ocean.h), with a
 * red/black Gauss-Seidel multigrid solver (ocean-multigrid.h). Each grid is an array of tiles, one
 * a thread, each on pages of its own.
 *
 * Sharing: a thread uses its own tiles only, but for the cells at the edges of its neighbours',
 * which it copies to the border of its own before it computes. So all pages have one owner, who
 * alone writes them, and neighbours read a few rows and, one cell of each row, columns of them.
 *
 * Source: Talbot and Kelly, table 1.3 and section 1.4 (Ocean-Contig of SPLASH-2): 258 by 258, 64
 * processors, partitions allocated contiguously. Ours: own code; model, scheme and input are our
 * choice. q_multi and rhs_multi, which the paper marks for proxies, are grids of the solver.
 */
#include "ocean.h"

static const struct workload ocean_contig = {
    .name = "ocean-contig",
    .summary = "Circulation of a two-layer ocean, on tiles contiguous in memory",
    .size_help = "points along each side, coast included, 2 more than a power of two",
    .size_default = 258, .size_quick = 18, .size_min = 10, .size_max = 514,
    .iterations_default = 2, .iterations_quick = 2,
    .parameters = {{"--page", "bytes in a page; a tile has pages of its own", 4096, 4096, 65536}},
};

/* Numbers in a row of a tile and its border, the same for all tiles of a grid. */
INLINED ptrdiff_t tile_stride(int cells)
{
    return (cells + across - 1) / across + 2;
}

INLINED size_t tile_bytes(int cells)
{
    size_t rows = (size_t)((cells + down - 1) / down + 2);
    return to_pages(rows * (size_t)tile_stride(cells) * sizeof(double));
}

static size_t field_bytes(int cells)
{
    return o.threads * tile_bytes(cells);
}

INLINED struct part part_of(const struct field *f, unsigned id)
{
    ptrdiff_t stride = tile_stride(f->side);
    return (struct part){f->cells + id * (tile_bytes(f->side) / sizeof(double)) + stride + 1,
                         stride};
}

/* Copies the cells of a strip of the border, whose place is relative to the thread's tile, from the
 * one tile that has them; not if it is the thread's own, which then lies at the coast. */
INLINED void copy_strip(const struct field *f, unsigned id, struct tile strip, int colour)
{
    const struct tile t = tile_of(f->side, id);
    const struct part p = part_of(f, id);
    double *to = p.origin + strip.row * p.stride + strip.column;
    const double *from = cell_of(f, t.row + strip.row, t.column + strip.column);
    int parity = t.row + strip.row + t.column + strip.column;
    if (from == to)
        return;
    for (int row = 0; row < strip.rows; row++)
        for (int c = 0; c < strip.columns; c++)
            if (colour == BOTH || ((parity + row + c) & 1) == colour)
                to[row * p.stride + c] = from[row * p.stride + c];
}

static void exchange(const struct field *f, unsigned id, int colour)
{
    const struct tile t = tile_of(f->side, id);
    for (int down_by = -1; down_by <= 1; down_by++)
        for (int right_by = -1; right_by <= 1; right_by++) {
            struct tile strip = {.row = down_by > 0 ? t.rows : down_by,
                                 .column = right_by > 0 ? t.columns : right_by,
                                 .rows = down_by ? 1 : t.rows,
                                 .columns = right_by ? 1 : t.columns};
            if ((down_by || right_by) && strip.rows > 0 && strip.columns > 0)
                copy_strip(f, id, strip, colour);
        }
}

int main(int argc, char **argv)
{
    return run(&ocean_contig, argc, argv);
}
