/* hyd: flow of a compressible gas on a square mesh, line by line in private memory.
 *
 * Solves Euler's equations for an ideal gas between walls: a cell holds mass, momentum in two
 * directions, and energy. A step advances every row, and then every column, by the second-order
 * method of MUSCL and Hancock with the fluxes of Harten, Lax and van Leer. A thread copies a line
 * into private memory, computes there, and copies it back.
 *
 * Sharing: loop iterations, here lines, are divided into bands of adjacent ones. Cells of a row
 * band are written by one thread in the first half of a step and, piecewise, by all in the second,
 * so nearly all shared memory changes hands twice a step in pieces of a row. The length of a step
 * comes from the fastest signal, which all threads find together. Most references are private.
 *
 * Source: Bolosky's thesis, section 2.2.1 (e-hyd, an EPEX program from IBM, "a hydrodynamics
 * program"): every processor runs the same code, loops are divided, all that is not declared
 * shared is private, and ten references in eleven are. Ours: own code, written from the name; the
 * equations and the method are our choice.
 */
#include "workload.h"

#include <math.h>

static const struct workload hyd = {
    .name = "hyd",
    .summary = "Flow of a compressible gas on a square mesh, rows and then columns",
    .size_help = "cells in a row and in a column",
    .size_default = 96, .size_quick = 16, .size_min = 4, .size_max = 2048,
    .iterations_default = 16, .iterations_quick = 4,
};

enum { GHOSTS = 2 }; /* cells beyond either end of a line, mirrored at the wall */

/* Ratio of specific heats, and the part of a cell that a signal may cross in a step. */
static const double gas_gamma = 1.4, courant = 0.4;

struct cell {
    double mass, along, across, energy; /* along and across the line: momentum */
};

/* Private memory of a thread: one line. */
struct line {
    struct cell *cells;         /* size + 2 GHOSTS */
    struct cell *left, *right;  /* at the ends of each cell, half a step later */
    struct cell *flux;          /* through the left end of each cell */
};

static struct options o;
static unsigned size;
static struct cell *mesh;       /* row after row; along means along the row */
static double *fastest;         /* of each thread */
static double *step_length;     /* of each step, for the check */

/* --- the physics: functions of values --------------------------------------------------------- */

static UNRECORDED double random_between(uint64_t index, double low, double high)
{
    return low + (high - low) * (double)(random_at(o.seed, index) >> 40) / 16777216;
}

/* Gas at rest; a square of it has a high pressure, and so have single cells. */
static UNRECORDED struct cell input(unsigned row, unsigned col)
{
    bool hot = row < size / 2 && col < size / 3;
    double pressure = (hot ? 4 : 1) * random_between((uint64_t)row * size + col, 0.9, 1.1);
    return (struct cell){.mass = hot ? 2 : 1, .energy = pressure / (gas_gamma - 1)};
}

INLINED double pressure_of(struct cell c)
{
    double motion = (c.along * c.along + c.across * c.across) / (2 * c.mass);
    return (gas_gamma - 1) * (c.energy - motion);
}

/* Speed of the fastest signal in a cell, in either direction. */
INLINED double signal_speed(struct cell c)
{
    double along = fabs(c.along / c.mass), across = fabs(c.across / c.mass);
    return fmax(along, across) + sqrt(gas_gamma * pressure_of(c) / c.mass);
}

/* x + factor * y */
INLINED struct cell plus(struct cell x, double factor, struct cell y)
{
    return (struct cell){x.mass + factor * y.mass, x.along + factor * y.along,
                         x.across + factor * y.across, x.energy + factor * y.energy};
}

INLINED struct cell flux_of(struct cell c)
{
    double speed = c.along / c.mass, pressure = pressure_of(c);
    return (struct cell){c.along, c.along * speed + pressure, c.across * speed,
                         (c.energy + pressure) * speed};
}

INLINED double limited(double left, double right)
{
    if (left * right <= 0)
        return 0;
    return fabs(left) < fabs(right) ? left : right;
}

/* Slope of a cell: the smaller of the differences to its neighbours, 0 at an extreme. */
INLINED struct cell slope(struct cell before, struct cell c, struct cell after)
{
    return (struct cell){limited(c.mass - before.mass, after.mass - c.mass),
                         limited(c.along - before.along, after.along - c.along),
                         limited(c.across - before.across, after.across - c.across),
                         limited(c.energy - before.energy, after.energy - c.energy)};
}

/* Flux between two states, from the slowest and the fastest signal between them. */
INLINED struct cell flux_between(struct cell l, struct cell r)
{
    double sound_l = sqrt(gas_gamma * pressure_of(l) / l.mass);
    double sound_r = sqrt(gas_gamma * pressure_of(r) / r.mass);
    double slow = fmin(l.along / l.mass - sound_l, r.along / r.mass - sound_r);
    double fast = fmax(l.along / l.mass + sound_l, r.along / r.mass + sound_r);
    if (slow >= 0)
        return flux_of(l);
    if (fast <= 0)
        return flux_of(r);
    struct cell zero = {0, 0, 0, 0}, mean = plus(zero, fast, flux_of(l));
    mean = plus(mean, -slow, flux_of(r));
    mean = plus(mean, slow * fast, plus(r, -1, l));
    return plus(zero, 1 / (fast - slow), mean);
}

/* The same cell, so that a copy of it is four references and not one of 32 bytes. */
INLINED struct cell by_numbers(struct cell c)
{
    return (struct cell){c.mass, c.along, c.across, c.energy};
}

INLINED struct cell mirrored(struct cell c)
{
    c.along = -c.along;
    return c;
}

INLINED struct cell turned(struct cell c)
{
    return (struct cell){c.mass, c.across, c.along, c.energy};
}

/* --- one line, in private memory -------------------------------------------------------------- */

static struct line make_line(void)
{
    size_t cells = size + 2 * GHOSTS, bytes = whole_pages(4 * cells * sizeof(struct cell));
    struct cell *memory = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(memory, bytes);
    return (struct line){memory, memory + cells, memory + 2 * cells, memory + 3 * cells};
}

static void mirror_ends(struct cell *cells)
{
    for (unsigned g = 0; g < GHOSTS; g++) {
        cells[GHOSTS - 1 - g] = mirrored(cells[GHOSTS + g]);
        cells[GHOSTS + size + g] = mirrored(cells[GHOSTS + size - 1 - g]);
    }
}

/* Advances the line; `ratio` is the length of the step over that of a cell. */
static void advance(struct line line, double ratio)
{
    mirror_ends(line.cells);
    for (unsigned i = 1; i + 1 < size + 2 * GHOSTS; i++) {
        struct cell rise = slope(line.cells[i - 1], line.cells[i], line.cells[i + 1]);
        struct cell left = plus(line.cells[i], -0.5, rise);
        struct cell right = plus(line.cells[i], 0.5, rise);
        struct cell change = plus(flux_of(left), -1, flux_of(right));
        line.left[i] = plus(left, ratio / 2, change);
        line.right[i] = plus(right, ratio / 2, change);
    }
    for (unsigned i = GHOSTS; i <= size + GHOSTS; i++)
        line.flux[i] = flux_between(line.right[i - 1], line.left[i]);
    for (unsigned i = GHOSTS; i < size + GHOSTS; i++)
        line.cells[i] = plus(line.cells[i], ratio, plus(line.flux[i], -1, line.flux[i + 1]));
}

static void advance_row(struct line line, unsigned row, double ratio)
{
    struct cell *cells = mesh + (size_t)row * size;
    for (unsigned col = 0; col < size; col++)
        line.cells[GHOSTS + col] = by_numbers(cells[col]);
    advance(line, ratio);
    for (unsigned col = 0; col < size; col++)
        cells[col] = by_numbers(line.cells[GHOSTS + col]);
}

static void advance_column(struct line line, unsigned col, double ratio)
{
    for (unsigned row = 0; row < size; row++)
        line.cells[GHOSTS + row] = turned(mesh[(size_t)row * size + col]);
    advance(line, ratio);
    for (unsigned row = 0; row < size; row++)
        mesh[(size_t)row * size + col] = turned(line.cells[GHOSTS + row]);
}

/* Every thread takes the largest speed that any has found. */
static double ratio_of_step(void)
{
    double speed = 0;
    for (unsigned id = 0; id < o.threads; id++)
        speed = fastest[id] > speed ? fastest[id] : speed;
    return courant / speed;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    struct line line = make_line();
    for (unsigned row = low; row < high; row++)
        for (unsigned col = 0; col < size; col++) {
            struct cell c = input(row, col);
            mesh[(size_t)row * size + col] = by_numbers(c);
        }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 0; step < o.iterations; step++) {
        double speed = 0;
        for (size_t at = (size_t)low * size; at < (size_t)high * size; at++)
            speed = fmax(speed, signal_speed(mesh[at]));
        fastest[id] = speed;
        if (id == 0)
            homenode_phase(2 * step + 1);
        meet();
        double ratio = ratio_of_step();
        for (unsigned row = low; row < high; row++)
            advance_row(line, row, ratio);
        if (id == 0) {
            step_length[step] = ratio;
            homenode_phase(2 * step + 2);
        }
        meet();
        for (unsigned col = low; col < high; col++)
            advance_column(line, col, ratio);
        meet();
    }
    free(line.cells);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Cell `at` of a line of `cells` that lie `stride` apart; beyond the ends, its mirror image. */
static UNRECORDED struct cell mirrored_at(const struct cell *cells, size_t stride, int at)
{
    int end = (int)size;
    if (at < 0)
        return mirrored(cells[(size_t)(-1 - at) * stride]);
    if (at < end)
        return cells[(size_t)at * stride];
    return mirrored(cells[(size_t)(2 * end - 1 - at) * stride]);
}

/* State at one end of a cell half a step later; `end` is -0.5 or 0.5. */
static UNRECORDED struct cell at_end(const struct cell *cells, size_t stride, int at, double end,
                                     double ratio)
{
    struct cell c = mirrored_at(cells, stride, at);
    struct cell rise = slope(mirrored_at(cells, stride, at - 1), c,
                             mirrored_at(cells, stride, at + 1));
    struct cell change = plus(flux_of(plus(c, -0.5, rise)), -1, flux_of(plus(c, 0.5, rise)));
    return plus(plus(c, end, rise), ratio / 2, change);
}

/* Advances all lines, cell by cell, from one array to another. */
static UNRECORDED void advance_all(const struct cell *from, struct cell *to, size_t stride,
                                   double ratio)
{
    for (unsigned number = 0; number < size; number++) {
        size_t start = stride == 1 ? (size_t)number * size : number;
        for (int i = 0; i < (int)size; i++) {
            struct cell flux[2];
            for (int k = 0; k < 2; k++)
                flux[k] = flux_between(at_end(from + start, stride, i + k - 1, 0.5, ratio),
                                       at_end(from + start, stride, i + k, -0.5, ratio));
            to[start + (size_t)i * stride] =
                plus(from[start + (size_t)i * stride], ratio, plus(flux[0], -1, flux[1]));
        }
    }
}

static UNRECORDED double distance(struct cell x, struct cell y)
{
    return fabs(x.mass - y.mass) + fabs(x.along - y.along) + fabs(x.across - y.across)
           + fabs(x.energy - y.energy);
}

/* The same steps without lines or threads, and what must not change; counts what is wrong. */
static UNRECORDED uint64_t wrong_cells(void)
{
    size_t cells = (size_t)size * size;
    struct cell *now = allocated(calloc(2 * cells, sizeof *now)), *next = now + cells;
    double mass = 0, energy = 0;
    uint64_t wrong = 0;
    for (size_t at = 0; at < cells; at++)
        now[at] = input((unsigned)(at / size), (unsigned)(at % size));
    for (unsigned step = 0; step < o.iterations; step++) {
        double speed = 0;
        for (size_t at = 0; at < cells; at++)
            speed = fmax(speed, signal_speed(now[at]));
        wrong += !(fabs(courant / speed - step_length[step]) < 1e-9);
        advance_all(now, next, 1, courant / speed);
        for (size_t at = 0; at < cells; at++)
            next[at] = turned(next[at]);
        advance_all(next, now, size, courant / speed);
        for (size_t at = 0; at < cells; at++)
            now[at] = turned(now[at]);
    }
    for (size_t at = 0; at < cells; at++) {
        struct cell first = input((unsigned)(at / size), (unsigned)(at % size));
        mass += mesh[at].mass - first.mass;
        energy += mesh[at].energy - first.energy;
        wrong += !(distance(now[at], mesh[at]) < 1e-8);
    }
    free(now);
    return wrong + !(fabs(mass) < 1e-6) + !(fabs(energy) < 1e-6);
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < (size_t)size * size; at++) {
        sum = mix(sum, (uint64_t)(int64_t)floor(mesh[at].mass * 65536 + 0.5));
        sum = mix(sum, (uint64_t)(int64_t)floor(mesh[at].energy * 65536 + 0.5));
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&hyd, argc, argv);
    size = o.size;
    mesh = allocated(aligned_alloc(PAGE_BYTES, whole_pages((size_t)size * size * sizeof *mesh)));
    fastest = allocated(calloc(o.threads, sizeof *fastest));
    step_length = allocated(calloc(o.iterations, sizeof *step_length));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        mesh[size + 1].energy += 0.001;
    begin_check();
    int status = verdict(&hyd, wrong_cells(), checksum());
    free(mesh);
    free(fastest);
    free(step_length);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
