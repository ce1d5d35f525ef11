/* The grids of ocean-contig and ocean-noncontig, and the elliptic equations they solve.
 *
 * A grid is divided into rectangular tiles, one a thread. A thread writes only its tile and reads
 * one cell beyond each side. Red/black Gauss-Seidel multigrid: a half-sweep does not depend on the
 * order of its updates, and the largest residual not on the order in which threads report theirs,
 * so the result is the same for any number of threads.
 */
#ifndef OCEAN_MULTIGRID_H
#define OCEAN_MULTIGRID_H

#include "workload.h"

#include <math.h>

enum { LEVELS_MAX = 9, COARSEST = 4, COARSEST_RELAXATIONS = 8, CYCLES_MAX = 30 };
enum { RED, BLACK, BOTH }; /* colours of cells */

/* Of the residual of an elliptic equation. */
static const double tolerance = 1e-7;

/* A square grid of numbers, with a border one cell wide around it that stands for the coast. */
struct field {
    double *cells;
    int side; /* cells along a side, border not included */
};

/* Part of a grid: its first row and column, and how many of each. */
struct tile {
    int row, column, rows, columns;
};

/* How a thread addresses a grid: cell (0, 0) of its tile, and from one row to the next. Cells one
 * step outside the tile can be read this way after exchange(). */
struct part {
    double *origin;
    ptrdiff_t stride;
};

static struct options o;
static int down, across; /* threads by rows and by columns of tiles */
static size_t page;      /* bytes in a page of the machine */
static int levels;       /* grids of the elliptic equations, each of half the side of the last */
static struct field q_multi[LEVELS_MAX], rhs_multi[LEVELS_MAX], residual[LEVELS_MAX];

static pthread_mutex_t error_lock = PTHREAD_MUTEX_INITIALIZER;
static double largest[CYCLES_MAX]; /* residual of each cycle, of all threads; under the lock */

/* A size in bytes rounded up to whole pages of the machine. */
INLINED size_t to_pages(size_t bytes)
{
    return (bytes + page - 1) / page * page;
}

/* --- what the including program decides ------------------------------------------------------- */

/* Bytes that a grid with this many cells along a side takes. */
static size_t field_bytes(int side);

INLINED struct part part_of(const struct field *f, unsigned id);

/* Makes the neighbours' cells of one colour readable beside the thread's own. Others may write
 * cells of the other colour meanwhile. */
static void exchange(const struct field *f, unsigned id, int colour);

/* --- tiles ------------------------------------------------------------------------------------ */

/* The check also looks cells up. What it calls for that is inlined: a function proper would be
 * recorded there, too. */

INLINED int cut(int number, int parts, int side)
{
    return (int)first_of((unsigned)number, (unsigned)parts, (unsigned)side);
}

INLINED struct tile tile_of(int side, unsigned id)
{
    int row = (int)id / across, column = (int)id % across;
    int top = cut(row, down, side), left = cut(column, across, side);
    return (struct tile){.row = top, .column = left, .rows = cut(row + 1, down, side) - top,
                         .columns = cut(column + 1, across, side) - left};
}

/* Sets the border next to the tile so that the field vanishes half a cell outside the grid. */
static void mirror(const struct field *f, unsigned id)
{
    const struct tile t = tile_of(f->side, id);
    const struct part p = part_of(f, id);
    bool west = t.column == 0, east = t.column + t.columns == f->side;
    for (int row = 0; row < t.rows; row++) {
        double *here = p.origin + row * p.stride;
        if (west)
            here[-1] = -here[0];
        if (east)
            here[t.columns] = -here[t.columns - 1];
    }
    int left = west ? -1 : 0, right = east ? t.columns + 1 : t.columns;
    double *first = p.origin, *last = p.origin + (t.rows - 1) * p.stride;
    for (int column = left; column < right && t.row == 0; column++)
        first[column - p.stride] = -first[column];
    for (int column = left; column < right && t.row + t.rows == f->side; column++)
        last[column + p.stride] = -last[column];
}

/* The cell in this row and column, in the tile it belongs to; coast belongs to the tile beside. */
INLINED double *cell_of(const struct field *f, int row, int column)
{
    int inner_row = row < 0 ? 0 : row < f->side ? row : f->side - 1;
    int inner_column = column < 0 ? 0 : column < f->side ? column : f->side - 1;
    int id = ((inner_row + 1) * down - 1) / f->side * across
             + ((inner_column + 1) * across - 1) / f->side;
    const struct tile t = tile_of(f->side, (unsigned)id);
    const struct part p = part_of(f, (unsigned)id);
    return p.origin + (row - t.row) * p.stride + column - t.column;
}

/* --- elliptic equations ----------------------------------------------------------------------- */

/* Sides of a cell that are coast. */
INLINED int coasts(int at, int side)
{
    return (at == 0) + (at + 1 == side);
}

/* Gauss-Seidel for cells of one colour: Laplacian minus `lambda` times q equals the right side. */
static void sweep(int level, unsigned id, int colour, double lambda)
{
    const int side = q_multi[level].side;
    const struct tile t = tile_of(side, id);
    const struct part q = part_of(&q_multi[level], id), rhs = part_of(&rhs_multi[level], id);
    const double area = 1 / ((double)side * side);
    for (int row = 0; row < t.rows; row++) {
        double *here = q.origin + row * q.stride;
        const double *above = here - q.stride, *below = here + q.stride;
        const double *right = rhs.origin + row * rhs.stride;
        int walls = 4 + coasts(t.row + row, side);
        for (int c = (t.row + row + t.column + colour) & 1; c < t.columns; c += 2) {
            double sum = above[c] + below[c] + here[c - 1] + here[c + 1];
            here[c] = (sum - area * right[c])
                      / (walls + coasts(t.column + c, side) + area * lambda);
        }
    }
}

static void relax(int level, unsigned id, double lambda)
{
    for (int colour = RED; colour <= BLACK; colour++) {
        exchange(&q_multi[level], id, BLACK - colour);
        sweep(level, id, colour, lambda);
        meet();
    }
}

/* What is missing of the right side; returns the largest of the thread's cells. */
static double find_residual(int level, unsigned id, double lambda)
{
    const int side = q_multi[level].side;
    const struct tile t = tile_of(side, id);
    const struct part q = part_of(&q_multi[level], id), rhs = part_of(&rhs_multi[level], id);
    const struct part r = part_of(&residual[level], id);
    const double area = 1 / ((double)side * side);
    double most = 0;
    exchange(&q_multi[level], id, BOTH);
    for (int row = 0; row < t.rows; row++) {
        const double *here = q.origin + row * q.stride;
        const double *above = here - q.stride, *below = here + q.stride;
        int walls = 4 + coasts(t.row + row, side);
        for (int c = 0; c < t.columns; c++) {
            double middle = here[c];
            double sum = above[c] + below[c] + here[c - 1] + here[c + 1]
                         - (walls + coasts(t.column + c, side)) * middle;
            double left = rhs.origin[row * rhs.stride + c] + lambda * middle - sum / area;
            r.origin[row * r.stride + c] = left;
            most = fmax(most, fabs(left));
        }
    }
    return most;
}

/* Right side of the next grid: the mean of the residuals of four cells; its solution is 0. */
static void restrict_from(int level, unsigned id)
{
    const struct tile fine = tile_of(residual[level].side, id);
    const struct tile t = tile_of(q_multi[level + 1].side, id);
    const struct part r = part_of(&residual[level], id);
    const struct part q = part_of(&q_multi[level + 1], id);
    const struct part rhs = part_of(&rhs_multi[level + 1], id);
    exchange(&residual[level], id, BOTH);
    for (int row = 0; row < t.rows; row++) {
        const double *first = r.origin + (2 * (t.row + row) - fine.row) * r.stride
                              + 2 * t.column - fine.column;
        const double *second = first + r.stride;
        for (int c = 0; c < t.columns; c++) {
            double sum = first[2 * c] + first[2 * c + 1] + second[2 * c] + second[2 * c + 1];
            rhs.origin[row * rhs.stride + c] = sum / 4;
            q.origin[row * q.stride + c] = 0;
        }
    }
    meet();
}

/* A cell's parent in the next grid and the parent's neighbour nearest to the cell. Beyond the coast
 * the neighbour is the parent with the opposite sign. */
struct parents {
    int near, far;
    double sign;
};

INLINED struct parents parents_of(int at, int side)
{
    int near = at / 2, far = at % 2 ? near + 1 : near - 1;
    bool coast = far < 0 || 2 * far >= side;
    return (struct parents){near, coast ? near : far, coast ? -1 : 1};
}

/* Adds the solution of the next grid, linearly between the centres of its cells. */
static void interpolate_to(int level, unsigned id)
{
    const int side = q_multi[level].side;
    const struct tile t = tile_of(side, id), coarse = tile_of(q_multi[level + 1].side, id);
    const struct part q = part_of(&q_multi[level], id), from = part_of(&q_multi[level + 1], id);
    exchange(&q_multi[level + 1], id, BOTH);
    for (int row = 0; row < t.rows; row++) {
        const struct parents rows = parents_of(t.row + row, side);
        const double *near = from.origin + (rows.near - coarse.row) * from.stride - coarse.column;
        const double *far = from.origin + (rows.far - coarse.row) * from.stride - coarse.column;
        double *here = q.origin + row * q.stride;
        for (int c = 0; c < t.columns; c++) {
            const struct parents columns = parents_of(t.column + c, side);
            double inner = 3 * near[columns.near] + columns.sign * near[columns.far];
            double outer = 3 * far[columns.near] + columns.sign * far[columns.far];
            here[c] += (3 * inner + rows.sign * outer) / 16;
        }
    }
    meet();
}

/* From one grid down to the coarsest and up again; the residual of the first has been found. */
static void cycle(int level, unsigned id, double lambda)
{
    restrict_from(level, id);
    relax(level + 1, id, lambda);
    if (level + 2 < levels) {
        find_residual(level + 1, id, lambda);
        meet();
        cycle(level + 1, id, lambda);
    } else {
        for (int k = 0; k < COARSEST_RELAXATIONS; k++)
            relax(level + 1, id, lambda);
    }
    interpolate_to(level, id);
    relax(level, id, lambda);
}

/* Solves for the finest q_multi, which holds a first guess, until the residual is small. */
static void solve(unsigned id, double lambda)
{
    meet();
    for (int k = 0; k < CYCLES_MAX; k++) {
        relax(0, id, lambda);
        double most = find_residual(0, id, lambda);
        must(pthread_mutex_lock(&error_lock), "pthread_mutex_lock");
        largest[k] = fmax(largest[k], most);
        must(pthread_mutex_unlock(&error_lock), "pthread_mutex_unlock");
        meet();
        if (largest[k] < tolerance)
            break;
        cycle(0, id, lambda);
    }
    meet();
    for (int k = 0; id == 0 && k < CYCLES_MAX; k++)
        largest[k] = 0;
}

#endif
