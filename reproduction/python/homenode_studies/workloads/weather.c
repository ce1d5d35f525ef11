/* weather: an atmosphere of four layers, whose equations are solved on a grid.
 *
 * A belt of atmosphere lies around the globe between two walls. Wind, thickness and moisture of
 * each layer obey the shallow-water equations of a rotating planet, with mountains below, drag, and
 * a force that draws them back to rest; the height of the whole column of air is what drives all of
 * its layers. A step first finds flows, energy and vorticity of all cells from wind and thickness,
 * and then the new wind, thickness and moisture from those.
 *
 * Sharing: the first phase of a step divides the rows of cells into bands of adjacent latitudes,
 * the second the meridians. Longitude is the index that runs fastest in memory, so in the first a
 * thread has whole stretches of memory, and in the second a few adjacent words of every row of
 * every array: 16 bytes with 64 threads and the published size. So nearly every word is used by two
 * threads, one of which writes it, and nearly every block by all. Mountains, drag and the states of
 * rest are only read.
 *
 * Source: Markatos and Chronaki, section 3.1.1 (WEATHER): a grid method for a set of partial
 * differential equations, in FORTRAN, 5.4 MB of data. Ours: own code; the equations and the scheme,
 * which conserves mass, on a staggered grid after Sadourny, are our choice.
 */
#include "workload.h"

#include <math.h>

static const struct workload weather = {
    .name = "weather",
    .summary = "Weather of a layered atmosphere, partial differential equations on a grid",
    .size_help = "cells from wall to wall; twice as many around the globe",
    .size_default = 64, .size_quick = 8, .size_min = 2, .size_max = 1024,
    .iterations_default = 4, .iterations_quick = 3,
};

enum { LAYERS = 4, STEPS_MAX = 500 };

/* By how much single and double precision may differ in a cell after that many steps. */
static const double tolerance = 1e-5;

/* Longest step; moisture lost in a unit of time; pull of the state of rest. */
static const float step_max = 0.05F, rain = 0.1F, restoring = 0.5F;

/* Where a cell and those around it are in an array. There is none north of the last row, nor south
 * of the first, where `north` and `south` are the cell itself. */
struct place {
    size_t here, east, west, north, south;
};

static struct options o;
static unsigned rows, columns;
static size_t level; /* cells in a layer */
static float *east_wind, *north_wind, *thickness, *moisture[2]; /* the state; winds at the faces */
static float *east_flow, *north_flow, *energy, *vorticity;      /* what a step finds from it */
static float *drag, *rest, *source, *mountain, *rotation;       /* only read */
static float *fastest;                                          /* wind of each thread's cells */

/* --- input ------------------------------------------------------------------------------------ */

struct cell {
    float east_wind, north_wind, thickness, moisture, drag, rest, source;
};

static UNRECORDED float fraction(uint64_t bits)
{
    return (float)(bits & 0xffff) / 65536;
}

static UNRECORDED struct cell input(unsigned layer, unsigned row, unsigned column)
{
    uint64_t bits = random_at(o.seed, ((uint64_t)layer * rows + row) * columns + column);
    struct cell c = {.east_wind = 0.2F * fraction(bits) - 0.1F, .moisture = fraction(bits >> 16),
                     .drag = 0.5F + 0.1F * fraction(bits >> 32)};
    c.rest = (1 + 0.1F * fraction(bits >> 48)) / LAYERS;
    c.thickness = c.rest * (1 + 0.1F * (float)row / (float)rows);
    c.source = 0.1F * c.moisture * (float)(layer + 1) / LAYERS;
    return c;
}

static UNRECORDED float height_of(unsigned row, unsigned column)
{
    return 0.05F * fraction(random_at(~o.seed, (uint64_t)row * columns + column));
}

static UNRECORDED float rotation_of(unsigned row)
{
    return 0.2F + 0.6F * (float)row / (float)rows;
}

/* --- one step --------------------------------------------------------------------------------- */

INLINED struct place place_of(unsigned layer, unsigned row, unsigned column)
{
    size_t line = layer * level + (size_t)row * columns, here = line + column;
    return (struct place){.here = here,
                          .east = column + 1 < columns ? here + 1 : line,
                          .west = column > 0 ? here - 1 : line + columns - 1,
                          .north = row + 1 < rows ? here + columns : here,
                          .south = row > 0 ? here - columns : here};
}

/* Flows through the cell's west and south faces, pressure and energy in it, and the vorticity of
 * its southwest corner for a unit of thickness. `weight` is the height of the column. */
static inline void diagnose(unsigned layer, unsigned row, unsigned column, float weight)
{
    struct place p = place_of(layer, row, column);
    size_t corner = p.west - p.here + p.south; /* southwest; unsigned arithmetic wraps as it must */
    float u = east_wind[p.here], v = north_wind[p.here], h = thickness[p.here];
    float west = thickness[p.west], south = thickness[p.south];
    float u_east = east_wind[p.east], v_north = row + 1 < rows ? north_wind[p.north] : 0;
    float turning = rotation[row] + (v - north_wind[p.west]) - (u - east_wind[p.south]);
    east_flow[p.here] = u * (h + west) / 2;
    north_flow[p.here] = v * (h + south) / 2;
    energy[p.here] = weight + (u * u + u_east * u_east + v * v + v_north * v_north) / 4;
    vorticity[p.here] = turning * 4 / (h + west + south + thickness[corner]);
}

static inline void advance_winds(const struct place *p, unsigned row, float step)
{
    bool top = row + 1 == rows;
    size_t northwest = p->north + p->west - p->here, southeast = p->south + p->east - p->here;
    float slowed = 1 - step * drag[p->here];
    float across = north_flow[p->here] + north_flow[p->west];
    if (!top)
        across += north_flow[p->north] + north_flow[northwest];
    float turned = (vorticity[p->here] + vorticity[p->north]) / 8 * across;
    float pushed = energy[p->here] - energy[p->west];
    east_wind[p->here] = east_wind[p->here] * slowed + step * (turned - pushed);
    if (row == 0)
        return; /* the wall */
    across = east_flow[p->here] + east_flow[p->east] + east_flow[p->south] + east_flow[southeast];
    turned = (vorticity[p->here] + vorticity[p->east]) / 8 * across;
    pushed = energy[p->here] - energy[p->south];
    north_wind[p->here] = north_wind[p->here] * slowed - step * (turned + pushed);
}

static inline void advance_air(const struct place *p, unsigned row, float step, unsigned number)
{
    const float *was = moisture[number % 2];
    float from_west = east_flow[p->here], to_east = east_flow[p->east];
    float from_south = north_flow[p->here];
    float to_north = row + 1 < rows ? north_flow[p->north] : 0;
    float h = thickness[p->here], q = was[p->here];
    float brought = fmaxf(from_west, 0) * (was[p->west] - q)
                    - fminf(to_east, 0) * (was[p->east] - q)
                    + fmaxf(from_south, 0) * (was[p->south] - q)
                    - fminf(to_north, 0) * (was[p->north] - q);
    moisture[1 - number % 2][p->here] = q + step * (brought / h + source[p->here] - rain * q);
    thickness[p->here] = h + step * (from_west - to_east + from_south - to_north
                                     + restoring * (rest[p->here] - h));
}

/* --- threads ---------------------------------------------------------------------------------- */

static void fill(unsigned low, unsigned high)
{
    for (unsigned layer = 0; layer < LAYERS; layer++)
        for (unsigned row = low; row < high; row++)
            for (unsigned column = 0; column < columns; column++) {
                size_t at = layer * level + (size_t)row * columns + column;
                struct cell c = input(layer, row, column);
                east_wind[at] = c.east_wind;
                north_wind[at] = c.north_wind;
                thickness[at] = c.thickness;
                moisture[0][at] = c.moisture;
                drag[at] = c.drag;
                rest[at] = c.rest;
                source[at] = c.source;
                if (layer == 0)
                    mountain[at] = height_of(row, column);
            }
}

/* Diagnoses rows of cells, whole columns of air; notes the fastest wind in them. */
static void diagnose_band(unsigned id, unsigned low, unsigned high)
{
    float most = 0;
    for (unsigned row = low; row < high; row++)
        for (unsigned column = 0; column < columns; column++) {
            size_t at = (size_t)row * columns + column;
            float weight = mountain[at];
            for (unsigned layer = LAYERS; layer-- > 0;)
                weight += thickness[layer * level + at];
            for (unsigned layer = 0; layer < LAYERS; layer++) {
                size_t here = layer * level + at;
                diagnose(layer, row, column, weight);
                most = fmaxf(most, fmaxf(fabsf(east_wind[here]), fabsf(north_wind[here])));
            }
        }
    fastest[id] = most;
}

/* The length of the step, the same for all threads. */
static float common_step(void)
{
    float most = 0;
    for (unsigned id = 0; id < o.threads; id++)
        most = fmaxf(most, fastest[id]);
    return step_max / (1 + most);
}

static void work(unsigned id)
{
    unsigned south = first_of(id, o.threads, rows), north = first_of(id + 1, o.threads, rows);
    unsigned west = first_of(id, o.threads, columns), east = first_of(id + 1, o.threads, columns);
    fill(south, north);
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned number = 0; number < o.iterations; number++) {
        if (id == 0)
            homenode_phase(number + 1);
        diagnose_band(id, south, north);
        meet();
        float step = common_step();
        for (unsigned layer = 0; layer < LAYERS; layer++)
            for (unsigned row = 0; row < rows; row++)
                for (unsigned column = west; column < east; column++) {
                    struct place p = place_of(layer, row, column);
                    advance_winds(&p, row, step);
                    advance_air(&p, row, step, number);
                }
        meet();
    }
}

/* --- check: the same steps in double precision, by faces instead of cells --------------------- */

struct world {
    double *u, *v, *h, *q, *energy, *turning, *gained, *brought;
};

enum { ARRAYS = sizeof(struct world) / sizeof(double *) };

/* The cell `right` steps east and `up` steps north of `at`, which must be inside the walls. */
static UNRECORDED size_t beside(size_t at, int right, int up)
{
    size_t line = at / columns * columns;
    size_t column = (at % columns + columns + (size_t)right) % columns;
    return line + column + (size_t)up * columns;
}

static UNRECORDED unsigned row_of(size_t at)
{
    return (unsigned)(at % level / columns);
}

static UNRECORDED double east_flow_again(const struct world *w, size_t at)
{
    return w->u[at] * (w->h[at] + w->h[beside(at, -1, 0)]) / 2;
}

static UNRECORDED double north_flow_again(const struct world *w, size_t at)
{
    return row_of(at) ? w->v[at] * (w->h[at] + w->h[beside(at, 0, -1)]) / 2 : 0;
}

/* Air flows through a face from one cell, with its moisture, to another, if `flow` > 0. */
static UNRECORDED void pass(const struct world *w, size_t from, size_t to, double flow)
{
    w->gained[from] -= flow;
    w->gained[to] += flow;
    if (flow > 0)
        w->brought[to] += flow * (w->q[from] - w->q[to]);
    else
        w->brought[from] -= flow * (w->q[to] - w->q[from]);
}

static UNRECORDED void diagnose_again(const struct world *w, size_t at)
{
    unsigned row = row_of(at);
    size_t west = beside(at, -1, 0), east = beside(at, 1, 0);
    double v_north = row + 1 < rows ? w->v[beside(at, 0, 1)] : 0;
    double height = height_of(row, (unsigned)(at % columns));
    for (unsigned layer = 0; layer < LAYERS; layer++)
        height += w->h[layer * level + at % level];
    w->energy[at] = height + (w->u[at] * w->u[at] + w->u[east] * w->u[east] + w->v[at] * w->v[at]
                              + v_north * v_north) / 4;
    double turning = rotation_of(row) + w->v[at] - w->v[west], air = w->h[at] + w->h[west];
    if (row > 0) {
        turning -= w->u[at] - w->u[beside(at, 0, -1)];
        air = (air + w->h[beside(at, 0, -1)] + w->h[beside(at, -1, -1)]) / 2;
    }
    w->turning[at] = turning / (air / 2);
    pass(w, west, at, east_flow_again(w, at));
    if (row > 0)
        pass(w, beside(at, 0, -1), at, north_flow_again(w, at));
}

/* What the winds of a cell gain in a unit of time, but for drag. */
static UNRECORDED void forces(const struct world *w, size_t at, double *eastward, double *northward)
{
    unsigned row = row_of(at);
    size_t west = beside(at, -1, 0), east = beside(at, 1, 0);
    double across = north_flow_again(w, at) + north_flow_again(w, west), above = w->turning[at];
    if (row + 1 < rows) {
        across += north_flow_again(w, beside(at, 0, 1)) + north_flow_again(w, beside(at, -1, 1));
        above = w->turning[beside(at, 0, 1)];
    }
    *eastward = (w->turning[at] + above) / 2 * across / 4 + w->energy[west] - w->energy[at];
    *northward = 0;
    if (row == 0)
        return;
    across = east_flow_again(w, at) + east_flow_again(w, east)
             + east_flow_again(w, beside(at, 0, -1)) + east_flow_again(w, beside(at, 1, -1));
    *northward = w->energy[beside(at, 0, -1)] - w->energy[at]
                 - (w->turning[at] + w->turning[east]) / 2 * across / 4;
}

static UNRECORDED void step_again(const struct world *w, double *gains)
{
    size_t all = LAYERS * level;
    double most = 0;
    for (size_t at = 0; at < all; at++) {
        w->gained[at] = w->brought[at] = 0;
        most = fmax(most, fmax(fabs(w->u[at]), fabs(w->v[at])));
    }
    for (size_t at = 0; at < all; at++)
        diagnose_again(w, at);
    for (size_t at = 0; at < all; at++)
        forces(w, at, &gains[2 * at], &gains[2 * at + 1]);
    double step = (double)step_max / (1 + most);
    for (size_t at = 0; at < all; at++) {
        struct cell c = input((unsigned)(at / level), row_of(at), (unsigned)(at % columns));
        w->u[at] += step * (gains[2 * at] - (double)c.drag * w->u[at]);
        w->v[at] += step * (gains[2 * at + 1] - (double)c.drag * w->v[at]);
        w->q[at] += step * (w->brought[at] / w->h[at] + (double)c.source - (double)rain * w->q[at]);
        w->h[at] += step * (w->gained[at] + (double)restoring * ((double)c.rest - w->h[at]));
    }
}

static UNRECORDED uint64_t wrong_cells(const float *wet)
{
    size_t all = LAYERS * level;
    double *memory = allocated(calloc((ARRAYS + 2) * all, sizeof *memory));
    struct world w = {memory, memory + all, memory + 2 * all, memory + 3 * all, memory + 4 * all,
                      memory + 5 * all, memory + 6 * all, memory + 7 * all};
    uint64_t wrong = 0;
    for (size_t at = 0; at < all; at++) {
        struct cell c = input((unsigned)(at / level), row_of(at), (unsigned)(at % columns));
        w.u[at] = (double)c.east_wind;
        w.v[at] = (double)c.north_wind;
        w.h[at] = (double)c.thickness;
        w.q[at] = (double)c.moisture;
    }
    for (unsigned number = 0; number < o.iterations; number++)
        step_again(&w, memory + ARRAYS * all);
    for (size_t at = 0; at < all; at++) {
        double error = fabs(w.u[at] - (double)east_wind[at])
                       + fabs(w.v[at] - (double)north_wind[at])
                       + fabs(w.h[at] - (double)thickness[at]) + fabs(w.q[at] - (double)wet[at]);
        wrong += !(error < tolerance);
    }
    free(memory);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(const float *wet)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < LAYERS * level; at++) {
        sum = mix(sum, (uint64_t)(int64_t)floorf(thickness[at] * 65536 + 0.5F));
        sum = mix(sum, (uint64_t)(int64_t)floorf(wet[at] * 65536 + 0.5F));
    }
    return sum;
}

/* --- memory ----------------------------------------------------------------------------------- */

static float *zeros(size_t count)
{
    size_t bytes = whole_pages(count * sizeof(float));
    return memset(allocated(aligned_alloc(PAGE_BYTES, bytes)), 0, bytes);
}

static void make_arrays(void)
{
    float **layered[] = {&east_wind, &north_wind, &thickness, &moisture[0], &moisture[1],
                         &east_flow, &north_flow, &energy, &vorticity, &drag, &rest, &source};
    for (unsigned k = 0; k < sizeof layered / sizeof *layered; k++)
        *layered[k] = zeros(LAYERS * level);
    mountain = zeros(level);
    rotation = zeros(rows);
    fastest = zeros(o.threads);
    for (unsigned row = 0; row < rows; row++)
        rotation[row] = rotation_of(row);
}

static void free_arrays(void)
{
    float *all[] = {east_wind, north_wind, thickness, moisture[0], moisture[1], east_flow,
                    north_flow, energy, vorticity, drag, rest, source, mountain, rotation, fastest};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

int main(int argc, char **argv)
{
    o = parse_options(&weather, argc, argv);
    if (o.iterations > STEPS_MAX)
        refuse(&weather, "rounding errors may add up after more than 500 steps", "-i");
    rows = o.size;
    columns = 2 * rows;
    level = (size_t)rows * columns;
    make_arrays();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    const float *wet = moisture[o.iterations % 2];
    if (o.corrupt)
        thickness[columns + 1] += 0.001F;
    begin_check();
    int status = verdict(&weather, wrong_cells(wet), checksum(wet));
    free_arrays();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
