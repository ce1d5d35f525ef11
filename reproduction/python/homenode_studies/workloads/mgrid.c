/* mgrid: Poisson's equation on the unit cube by multigrid.
 *
 * Solves a periodic Poisson problem on a grid of n by n by n/2 points with the help of two coarser
 * ones. A cycle restricts the residual down to the coarsest grid and comes back up; on each grid it
 * relaxes five times. A relaxation has two half-sweeps, red and black, so the result does not
 * depend on the number of threads.
 *
 * Sharing: each grid is divided into bands of adjacent planes, of which a thread writes its own and
 * reads one beyond either end: sharing is between pairs. Going from one grid to the next it also
 * reads points at the edge of its neighbour's planes. A coarse grid has few planes, so with many
 * threads most of them wait there, and the planes of the finest take nearly all references. The
 * first thread makes the input; each change of grid is a phase.
 *
 * Source: Marchetti, Kontothanassis, Bianchini and Scott, section 3.3 (mgrid, after the NAS kernel
 * MG): 64 by 64 by 32 down to 16 by 16 by 8 points, five relaxations on each grid, two iterations,
 * static blocks. Ours: own code; equation, stencils and input (charges of +1 and -1 at random
 * points) are those that the NAS report describes for MG, the relaxation is ours.
 */
#include "workload.h"

#include <math.h>

static const struct workload mgrid = {
    .name = "mgrid",
    .summary = "Poisson's equation on the unit cube by multigrid",
    .size_help = "planes of the finest grid, a power of two",
    .size_default = 64, .size_quick = 16, .size_min = 16, .size_max = 256,
    .iterations_default = 2, .iterations_quick = 2,
};

enum { GRIDS = 3, RELAXATIONS = 5, CHARGES = 10 };

/* Over-relaxation factor of all grids. */
static const double omega = 1.15;

/* One grid. Unknowns, right-hand side and residual are indexed [x][y][z]. */
struct grid {
    unsigned nx, ny, nz;
    double wx, wy, wz, diagonal; /* weights of the neighbours in each direction, and their sum */
    double *u, *f, *r;
};

/* Indices of a point's neighbours in one direction. */
struct sides {
    unsigned low, high;
};

static struct options o;
static struct grid grids[GRIDS]; /* the finest first */

/* Phases begun so far; only the first thread counts, in memory of its own. */
static _Thread_local unsigned phases;

INLINED struct sides around(unsigned at, unsigned count)
{
    return (struct sides){.low = at > 0 ? at - 1 : count - 1, .high = at + 1 < count ? at + 1 : 0};
}

/* As in the NAS kernel, arrays are two points longer than the grid: planes of a power of two would
 * all begin in the same place of a cache. */
INLINED size_t line_of(const struct grid *g, unsigned x, unsigned y)
{
    return ((size_t)x * (g->ny + 2) + y) * (g->nz + 2);
}

/* --- one line of points ----------------------------------------------------------------------- */

/* A line of points along z and the four beside it. */
struct lines {
    size_t here, west, east, south, north;
};

INLINED struct lines lines_of(const struct grid *g, unsigned x, unsigned y)
{
    struct sides across = around(x, g->nx), along = around(y, g->ny);
    return (struct lines){.here = line_of(g, x, y),
                          .west = line_of(g, across.low, y), .east = line_of(g, across.high, y),
                          .south = line_of(g, x, along.low), .north = line_of(g, x, along.high)};
}

/* Sum of the weighted neighbours of point z of the line. */
INLINED double neighbours(const struct grid *g, const double *u, const struct lines *l, unsigned z)
{
    struct sides up = around(z, g->nz);
    return g->wx * (u[l->west + z] + u[l->east + z]) + g->wy * (u[l->south + z] + u[l->north + z])
           + g->wz * (u[l->here + up.low] + u[l->here + up.high]);
}

/* Relaxes every other point of a line. */
static void relax_line(const struct grid *g, unsigned x, unsigned y, unsigned first)
{
    const struct grid own = *g;
    const struct lines l = lines_of(&own, x, y);
    double *u = own.u;
    const double *f = own.f;
    for (unsigned z = first; z < own.nz; z += 2) {
        double better = (neighbours(&own, u, &l, z) - f[l.here + z]) / own.diagonal;
        u[l.here + z] += omega * (better - u[l.here + z]);
    }
}

static void residual_line(const struct grid *g, unsigned x, unsigned y)
{
    const struct grid own = *g;
    const struct lines l = lines_of(&own, x, y);
    for (unsigned z = 0; z < own.nz; z++)
        own.r[l.here + z] = own.f[l.here + z] + own.diagonal * own.u[l.here + z]
                            - neighbours(&own, own.u, &l, z);
}

/* Right-hand side of a coarse line: the mean of the residual around each point, with weights 4, 2
 * and 1 a direction nearer to it; the coarse correction starts from 0. */
static void restrict_line(const struct grid *fine, const struct grid *coarse, unsigned x,
                          unsigned y)
{
    size_t here = line_of(coarse, x, y);
    struct sides across = around(2 * x, fine->nx), along = around(2 * y, fine->ny);
    const unsigned xs[3] = {across.low, 2 * x, across.high};
    const unsigned ys[3] = {along.low, 2 * y, along.high};
    for (unsigned z = 0; z < coarse->nz; z++) {
        struct sides up = around(2 * z, fine->nz);
        double sum = 0;
        for (unsigned i = 0; i < 3; i++)
            for (unsigned j = 0; j < 3; j++) {
                const double *r = fine->r + line_of(fine, xs[i], ys[j]);
                double weight = (i == 1 ? 0.5 : 0.25) * (j == 1 ? 0.5 : 0.25);
                sum += weight * (0.25 * (r[up.low] + r[up.high]) + 0.5 * r[2 * z]);
            }
        coarse->f[here + z] = sum;
        coarse->u[here + z] = 0;
    }
}

/* Adds the coarse correction to a fine line, linearly between coarse points. */
static void interpolate_line(const struct grid *fine, const struct grid *coarse, unsigned x,
                             unsigned y)
{
    unsigned x0 = x / 2, y0 = y / 2;
    unsigned x1 = x % 2 ? around(x0, coarse->nx).high : x0;
    unsigned y1 = y % 2 ? around(y0, coarse->ny).high : y0;
    const double *a = coarse->u + line_of(coarse, x0, y0), *b = coarse->u + line_of(coarse, x1, y0);
    const double *c = coarse->u + line_of(coarse, x0, y1), *d = coarse->u + line_of(coarse, x1, y1);
    double *u = fine->u + line_of(fine, x, y);
    double last = (a[0] + b[0] + c[0] + d[0]) / 4;
    for (unsigned z = 0; z < coarse->nz; z++) {
        unsigned next = around(z, coarse->nz).high;
        double following = (a[next] + b[next] + c[next] + d[next]) / 4;
        u[2 * z] += last;
        u[2 * z + 1] += (last + following) / 2;
        last = following;
    }
}

/* --- grids ------------------------------------------------------------------------------------ */

static void phase(unsigned id)
{
    if (id == 0)
        homenode_phase(++phases);
}

static void relax(const struct grid *g, unsigned id)
{
    unsigned low = first_of(id, o.threads, g->nx), high = first_of(id + 1, o.threads, g->nx);
    for (unsigned half = 0; half < 2 * RELAXATIONS; half++) {
        for (unsigned x = low; x < high; x++)
            for (unsigned y = 0; y < g->ny; y++)
                relax_line(g, x, y, (x + y + half) & 1);
        meet();
    }
}

/* From the grid `from` to the next coarser one. */
static void descend(unsigned from, unsigned id)
{
    const struct grid *fine = &grids[from], *coarse = &grids[from + 1];
    unsigned low = first_of(id, o.threads, fine->nx), high = first_of(id + 1, o.threads, fine->nx);
    for (unsigned x = low; x < high; x++)
        for (unsigned y = 0; y < fine->ny; y++)
            residual_line(fine, x, y);
    meet();
    phase(id);
    low = first_of(id, o.threads, coarse->nx);
    high = first_of(id + 1, o.threads, coarse->nx);
    for (unsigned x = low; x < high; x++)
        for (unsigned y = 0; y < coarse->ny; y++)
            restrict_line(fine, coarse, x, y);
    meet();
}

/* To the grid `to` from the next coarser one. */
static void ascend(unsigned to, unsigned id)
{
    const struct grid *fine = &grids[to], *coarse = &grids[to + 1];
    unsigned low = first_of(id, o.threads, fine->nx), high = first_of(id + 1, o.threads, fine->nx);
    phase(id);
    for (unsigned x = low; x < high; x++)
        for (unsigned y = 0; y < fine->ny; y++)
            interpolate_line(fine, coarse, x, y);
    meet();
    relax(fine, id);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Where the `k`th charge is. */
static UNRECORDED size_t charge_at(unsigned k)
{
    const struct grid *g = &grids[0];
    uint64_t point = random_at(o.seed, k) % ((uint64_t)g->nx * g->ny * g->nz);
    unsigned line = (unsigned)(point / g->nz), z = (unsigned)(point % g->nz);
    return line_of(g, line / g->ny, line % g->ny) + z;
}

static void initialise(void)
{
    for (unsigned k = 0; k < GRIDS; k++)
        for (size_t at = 0; at < line_of(&grids[k], grids[k].nx, 0); at++)
            grids[k].u[at] = grids[k].f[at] = grids[k].r[at] = 0;
    for (unsigned k = 0; k < 2 * CHARGES; k++)
        grids[0].f[charge_at(k)] += k % 2 ? 1 : -1;
    homenode_init_done();
}

static void work(unsigned id)
{
    if (id == 0)
        initialise();
    meet();
    phase(id);
    for (unsigned number = 0; number < o.iterations; number++) {
        for (unsigned k = 0; k + 1 < GRIDS; k++)
            descend(k, id);
        relax(&grids[GRIDS - 1], id);
        for (unsigned k = GRIDS - 1; k-- > 0;)
            ascend(k, id);
    }
}

/* --- check: the same cycles by one thread, point by point ------------------------------------- */

static UNRECORDED double again_at(const struct grid *g, const double *u, unsigned x, unsigned y,
                                  unsigned z)
{
    return u[line_of(g, x % g->nx, y % g->ny) + z % g->nz];
}

/* What `u` falls short of its neighbours' mean, times the diagonal. */
static UNRECORDED double laplacian(const struct grid *g, const double *u, unsigned x, unsigned y,
                                   unsigned z)
{
    unsigned w = x + g->nx - 1, s = y + g->ny - 1, d = z + g->nz - 1;
    return g->wx * (again_at(g, u, w, y, z) + again_at(g, u, x + 1, y, z))
           + g->wy * (again_at(g, u, x, s, z) + again_at(g, u, x, y + 1, z))
           + g->wz * (again_at(g, u, x, y, d) + again_at(g, u, x, y, z + 1))
           - g->diagonal * again_at(g, u, x, y, z);
}

static UNRECORDED void relax_again(const struct grid *g, double *u, const double *f, unsigned half)
{
    for (unsigned x = 0; x < g->nx; x++)
        for (unsigned y = 0; y < g->ny; y++)
            for (unsigned z = 0; z < g->nz; z++) {
                double short_of = laplacian(g, u, x, y, z) - f[line_of(g, x, y) + z];
                if ((x + y + z + half) % 2 == 0)
                    u[line_of(g, x, y) + z] += omega * short_of / g->diagonal;
            }
}

/* Weight of the fine point 2c + offset - 1 in coarse point c, offset from 0 to 2. */
static UNRECORDED double share(unsigned offset)
{
    return offset == 1 ? 0.5 : 0.25;
}

/* One cycle from grid k on; `u` and `f` are the grid's numbers. */
static UNRECORDED void cycle_again(unsigned k, double *u, const double *f)
{
    const struct grid *g = &grids[k], *c = &grids[k + 1];
    if (k + 1 < GRIDS) {
        /* New ones each time, as a call of memset would be recorded. */
        size_t points = line_of(c, c->nx, 0);
        double *coarse_u = allocated(calloc(points, sizeof(double)));
        double *coarse_f = allocated(calloc(points, sizeof(double)));
        for (unsigned x = 0; x < c->nx * 3; x++)
            for (unsigned y = 0; y < c->ny * 3; y++)
                for (unsigned z = 0; z < c->nz * 3; z++) {
                    unsigned i = (x / 3 * 2 + x % 3 + g->nx - 1) % g->nx;
                    unsigned j = (y / 3 * 2 + y % 3 + g->ny - 1) % g->ny;
                    unsigned l = (z / 3 * 2 + z % 3 + g->nz - 1) % g->nz;
                    double r = f[line_of(g, i, j) + l] - laplacian(g, u, i, j, l);
                    coarse_f[line_of(c, x / 3, y / 3) + z / 3] +=
                        share(x % 3) * share(y % 3) * share(z % 3) * r;
                }
        cycle_again(k + 1, coarse_u, coarse_f);
        for (unsigned x = 0; x < g->nx; x++)
            for (unsigned y = 0; y < g->ny; y++)
                for (unsigned z = 0; z < g->nz; z++)
                    for (unsigned corner = 0; corner < 8; corner++)
                        u[line_of(g, x, y) + z] +=
                            again_at(c, coarse_u, (x + corner % 2) / 2, (y + corner / 2 % 2) / 2,
                                     (z + corner / 4) / 2) / 8;
        free(coarse_u);
        free(coarse_f);
    }
    for (unsigned half = 0; half < 2 * RELAXATIONS; half++)
        relax_again(g, u, f, half);
}

/* The largest residual of the finest grid. */
static UNRECORDED double largest_residual(const double *u, const double *f)
{
    const struct grid *g = &grids[0];
    double most = 0;
    for (unsigned x = 0; x < g->nx; x++)
        for (unsigned y = 0; y < g->ny; y++)
            for (unsigned z = 0; z < g->nz; z++)
                most = fmax(most, fabs(f[line_of(g, x, y) + z] - laplacian(g, u, x, y, z)));
    return most;
}

/* Counts the points that differ, and all of them if the cycles do not solve the equation. */
static UNRECORDED uint64_t wrong_points(void)
{
    size_t points = line_of(&grids[0], grids[0].nx, 0);
    double *u = allocated(calloc(points, sizeof(double)));
    double *f = allocated(calloc(points, sizeof(double)));
    uint64_t wrong = 0;
    for (unsigned k = 0; k < 2 * CHARGES; k++)
        f[charge_at(k)] += k % 2 ? 1 : -1;
    /* Two cycles leave at most 1/470 of it in 60 inputs; without coarse grids, 1/190 at least. */
    double left = largest_residual(u, f) / (o.iterations > 1 ? 250 : 30);
    for (unsigned number = 0; number < o.iterations; number++)
        cycle_again(0, u, f);
    bool solved = largest_residual(u, f) < left;
    for (size_t at = 0; at < points; at++)
        wrong += !(solved && fabs(u[at] - grids[0].u[at]) < 1e-12);
    free(u);
    free(f);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < line_of(&grids[0], grids[0].nx, 0); at++)
        sum = mix(sum, (uint64_t)(int64_t)floor(grids[0].u[at] * 1e9 + 0.5));
    return sum;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void make_grids(void)
{
    for (unsigned k = 0; k < GRIDS; k++) {
        struct grid *g = &grids[k];
        g->nx = g->ny = o.size >> k;
        g->nz = g->nx / 2;
        g->wx = (double)g->nx * g->nx;
        g->wy = (double)g->ny * g->ny;
        g->wz = (double)g->nz * g->nz;
        g->diagonal = 2 * (g->wx + g->wy + g->wz);
        size_t bytes = whole_pages(line_of(g, g->nx, 0) * sizeof(double));
        g->u = allocated(aligned_alloc(PAGE_BYTES, bytes));
        g->f = allocated(aligned_alloc(PAGE_BYTES, bytes));
        g->r = allocated(aligned_alloc(PAGE_BYTES, bytes));
    }
}

int main(int argc, char **argv)
{
    o = parse_options(&mgrid, argc, argv);
    if (o.size & (o.size - 1))
        refuse(&mgrid, "the size must be a power of two", "-n");
    make_grids();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        grids[0].u[o.size + 1] += 0.001;
    begin_check();
    int status = verdict(&mgrid, wrong_points(), checksum());
    for (unsigned k = 0; k < GRIDS; k++) {
        free(grids[k].u);
        free(grids[k].f);
        free(grids[k].r);
    }
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
