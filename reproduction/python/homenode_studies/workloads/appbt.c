/* appbt: flow of a viscous gas in a cube, by block tridiagonal systems.
 *
 * Takes steps of the compressible Navier-Stokes equations (five unknowns a point) towards a steady
 * flow that is known, with the implicit scheme of Beam and Warming: the change of a step is found
 * by three sweeps, along x, y and z, in each of which every line of points is a block tridiagonal
 * system with blocks of five by five.
 *
 * Sharing: each thread has a box of points, as near to a cube as the number of threads lets it be.
 * Blocks of all points are shared arrays, as in the original: a thread fills those of its points
 * before each sweep and eliminates them line by line, but for the last of the box before its own,
 * which it reads when that thread is so far; then back again. So the change, the unknowns and a
 * third of the blocks cross the sides of boxes; most references are to a thread's own points. Boxes
 * lie one after the other, each in pages of its own; or, as an option, points lie row by row, and
 * pages have rows of several threads. The first thread makes the input.
 *
 * Source: Marchetti, Kontothanassis, Bianchini and Scott, section 3.3 (appbt of the NAS Parallel
 * Benchmarks): 16 by 16 by 16 points, five steps, 64 processors. Ours: own code from the equations
 * and Beam and Warming's paper (AIAA Journal 16, 1978); cross derivatives of the viscous terms are
 * left out, and a forcing makes a given flow steady, as the NAS report does for BT.
 */
#include "workload.h"

#include <math.h>
#include <semaphore.h>

static const struct workload appbt = {
    .name = "appbt",
    .summary = "Flow of a viscous gas in a cube, by block tridiagonal systems",
    .size_help = "points along each side",
    .size_default = 16, .size_quick = 6, .size_min = 4, .size_max = 64,
    .iterations_default = 5, .iterations_quick = 2,
    .flag = "--rows", .flag_help = "points row by row in memory, not box by box",
};

enum { UNKNOWNS = 5, BLOCK = UNKNOWNS * UNKNOWNS, DIRECTIONS = 3, BAND = 2 * UNKNOWNS - 1 };

/* Units: side of the cube, density of the gas, and about its speed of sound. */
static const double gas_gamma = 1.4, viscosity = 0.02, conductivity = 0.03, smoothing = 0.01;
static const double step = 0.02;

/* A signal between neighbours in a sweep, a block of its own. */
union gate {
    sem_t semaphore;
    char block[64];
};

/* What a thread has: the points from `low` to below `high`, and neighbours along each direction:
 * their numbers, or its own where there is none. */
struct part {
    size_t low[DIRECTIONS], high[DIRECTIONS];
    unsigned id, before[DIRECTIONS], after[DIRECTIONS];
};

static struct options o;
static size_t size; /* points along a side */
static double *unknowns, *change, *force; /* five numbers a point */
static double *lower, *middle, *upper;    /* a block a point */
static union gate *forward, *backward;    /* of each thread */

/* How boxes and their points lie along a direction: numbers of a box's width in points, and of how
 * far apart boxes and points are. */
static struct axis {
    unsigned parts;
    size_t wide, box, point;
} axes[DIRECTIONS];
static size_t numbers; /* in the arrays of unknowns */

/* What the coordinate `p` in direction `d` adds to the number of a point's first unknown. */
INLINED size_t along_axis(size_t p, int d)
{
    const struct axis *axis = &axes[d];
    return p / axis->wide * axis->box + p % axis->wide * axis->point;
}

INLINED size_t point_at(size_t x, size_t y, size_t z)
{
    return along_axis(x, 0) + along_axis(y, 1) + along_axis(z, 2);
}

/* The block of the point whose unknowns begin at `at`. */
INLINED double *block_at(double *blocks, size_t at)
{
    return blocks + at * UNKNOWNS;
}

/* --- equations -------------------------------------------------------------------------------- */

/* Viscosity that acts on the velocity `k` where it varies in direction `d`. */
INLINED double viscosity_of(int k, int d)
{
    return k == d ? viscosity * 4 / 3 : viscosity;
}

/* Adds to `sum` the flux in direction `d` times `along`, and what viscosity, conduction and
 * smoothing act on times `across`, at a point with the unknowns q: density, momenta, energy. */
INLINED void add_fluxes(double *sum, const double *q, int d, double along, double across)
{
    double density = q[0], energy = q[4], half = 0, work = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        double speed = q[1 + k] / density;
        half += speed * speed / 2;
        work += viscosity_of(k, d) * speed * speed / 2;
    }
    double pressure = (gas_gamma - 1) * (energy - density * half), through = q[1 + d] / density;
    sum[0] += along * q[1 + d] + across * smoothing * density;
    for (int k = 0; k < DIRECTIONS; k++)
        sum[1 + k] += along * (q[1 + k] * through + (k == d ? pressure : 0))
                      + across * (viscosity_of(k, d) / density + smoothing) * q[1 + k];
    sum[4] += along * (energy + pressure) * through
              + across * (work + conductivity * (energy / density - half) + smoothing * energy);
}

/* Rates of change of the unknowns at `here`; `beside` has the two neighbours in each direction. */
INLINED void find_rates(double *rates, const double *here, const double *beside[DIRECTIONS][2])
{
    double space = 1 / ((double)size - 1), along = -1 / (2 * space), across = 1 / (space * space);
    for (int k = 0; k < UNKNOWNS; k++)
        rates[k] = 0;
    for (int d = 0; d < DIRECTIONS; d++) {
        add_fluxes(rates, beside[d][0], d, -along, across);
        add_fluxes(rates, here, d, 0, -2 * across);
        add_fluxes(rates, beside[d][1], d, along, across);
    }
}

/* The derivative of what add_fluxes() adds, by the unknowns: row after row. */
static void fill_block(double *block, const double *q, int d, double along, double across)
{
    const double g = gas_gamma - 1, density = q[0], energy = q[4] / density;
    double speed[DIRECTIONS], half = 0, work = 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        speed[k] = q[1 + k] / density;
        half += speed[k] * speed[k] / 2;
        work += viscosity_of(k, d) * speed[k] * speed[k];
    }
    const double through = speed[d], enthalpy = gas_gamma * energy - g * half;
    for (int k = 0; k < UNKNOWNS; k++)
        block[k] = k == 1 + d ? along : 0;
    for (int k = 0; k < DIRECTIONS; k++) {
        double *row = block + (size_t)(1 + k) * UNKNOWNS, resist = viscosity_of(k, d);
        double push = k == d ? g : 0;
        row[0] = along * (push * half - speed[k] * through) - across * resist * speed[k] / density;
        for (int j = 0; j < DIRECTIONS; j++)
            row[1 + j] = along * ((j == d ? speed[k] : 0) + (j == k ? through : 0)
                                  - push * speed[j])
                         + (j == k ? across * resist / density : 0);
        row[4] = along * push;
    }
    double *row = block + 4 * UNKNOWNS;
    row[0] = along * through * (g * half - enthalpy)
             - across / density * (work + conductivity * (energy - 2 * half));
    for (int j = 0; j < DIRECTIONS; j++)
        row[1 + j] = along * ((j == d ? enthalpy : 0) - g * speed[j] * through)
                     + across * (viscosity_of(j, d) - conductivity) * speed[j] / density;
    row[4] = along * gas_gamma * through + across * conductivity / density;
    for (size_t k = 0; k < BLOCK; k += UNKNOWNS + 1)
        block[k] += across * smoothing;
}

/* --- sweeps ----------------------------------------------------------------------------------- */

/* to -= a b, where `b` and `to` have `columns` columns. */
static void subtract_product(double *to, const double *a, const double *b, size_t columns)
{
    for (size_t row = 0; row < UNKNOWNS; row++)
        for (size_t column = 0; column < columns; column++) {
            double sum = to[row * columns + column];
            for (size_t k = 0; k < UNKNOWNS; k++)
                sum -= a[row * UNKNOWNS + k] * b[k * columns + column];
            to[row * columns + column] = sum;
        }
}

/* Replaces `after` and `right` by the solutions of block times x equals them; spoils the block.
 * Steps are short enough for the block to be near to 1, so no pivots need be sought. */
static void solve_block(double *block, double *after, double *right)
{
    for (size_t pivot = 0; pivot < UNKNOWNS; pivot++) {
        double scale = 1 / block[pivot * UNKNOWNS + pivot];
        for (size_t k = pivot + 1; k < UNKNOWNS; k++)
            block[pivot * UNKNOWNS + k] *= scale;
        for (size_t k = 0; k < UNKNOWNS; k++)
            after[pivot * UNKNOWNS + k] *= scale;
        right[pivot] *= scale;
        for (size_t row = 0; row < UNKNOWNS; row++) {
            double factor = block[row * UNKNOWNS + pivot];
            if (row == pivot)
                continue;
            for (size_t k = pivot + 1; k < UNKNOWNS; k++)
                block[row * UNKNOWNS + k] -= factor * block[pivot * UNKNOWNS + k];
            for (size_t k = 0; k < UNKNOWNS; k++)
                after[row * UNKNOWNS + k] -= factor * after[pivot * UNKNOWNS + k];
            right[row] -= factor * right[pivot];
        }
    }
}

/* The blocks of the thread's points for a sweep in direction `d`. */
static void fill_blocks(const struct part *part, int d)
{
    const double space = 1 / ((double)size - 1);
    const double along = step / (2 * space), across = step / (space * space);
    for (size_t x = part->low[0]; x < part->high[0]; x++)
        for (size_t y = part->low[1]; y < part->high[1]; y++)
            for (size_t z = part->low[2]; z < part->high[2]; z++) {
                const size_t at = point_at(x, y, z), p = d == 0 ? x : d == 1 ? y : z;
                const size_t line = at - along_axis(p, d);
                const double *before = unknowns + line + along_axis(p - 1, d);
                const double *after = unknowns + line + along_axis(p + 1, d);
                double *here = block_at(middle, at);
                fill_block(block_at(lower, at), before, d, -along, -across);
                fill_block(here, unknowns + at, d, 0, 2 * across);
                fill_block(block_at(upper, at), after, d, along, -across);
                for (size_t k = 0; k < BLOCK; k += UNKNOWNS + 1)
                    here[k] += 1;
            }
}

/* Eliminates the points from `low` to below `high` of a line in direction `d`; `line` would be the
 * one at 0. */
static void eliminate(size_t line, size_t low, size_t high, int d)
{
    for (size_t p = low; p < high; p++) {
        const size_t at = line + along_axis(p, d), last = line + along_axis(p - 1, d);
        double *here = block_at(middle, at);
        if (p > 1) {
            const double *below = block_at(lower, at);
            subtract_product(here, below, block_at(upper, last), UNKNOWNS);
            subtract_product(change + at, below, change + last, 1);
        }
        solve_block(here, block_at(upper, at), change + at);
    }
}

/* Inserts the solution of the next point, from the last to the first. */
static void substitute(size_t line, size_t low, size_t high, int d)
{
    for (size_t p = high; p-- > low;) {
        const size_t at = line + along_axis(p, d), next = line + along_axis(p + 1, d);
        if (p + 2 < size)
            subtract_product(change + at, block_at(upper, at), change + next, 1);
    }
}

static void pass(unsigned from, unsigned to, union gate *gates)
{
    if (from != to)
        must(sem_post(&gates[to].semaphore) ? errno : 0, "sem_post");
}

static void await(unsigned from, unsigned me, union gate *gates)
{
    if (from == me)
        return;
    while (sem_wait(&gates[me].semaphore) != 0)
        must(errno == EINTR ? 0 : errno, "sem_wait");
}

/* Solves for the change along all lines of the thread in direction `d`, line by line: neighbours
 * work on different lines at a time. */
static void sweep(const struct part *part, int d)
{
    const int a = d == 0 ? 1 : 0, b = d == 2 ? 1 : 2;
    const size_t low = part->low[d], high = part->high[d];
    for (size_t i = part->low[a]; i < part->high[a]; i++)
        for (size_t j = part->low[b]; j < part->high[b]; j++) {
            await(part->before[d], part->id, forward);
            eliminate(along_axis(i, a) + along_axis(j, b), low, high, d);
            pass(part->id, part->after[d], forward);
        }
    for (size_t i = part->low[a]; i < part->high[a]; i++)
        for (size_t j = part->low[b]; j < part->high[b]; j++) {
            await(part->after[d], part->id, backward);
            substitute(along_axis(i, a) + along_axis(j, b), low, high, d);
            pass(part->id, part->before[d], backward);
        }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Divides the threads among directions so that boxes have small sides. */
static void divide_threads(void)
{
    unsigned best = UINT32_MAX;
    for (unsigned x = 1; x <= o.threads; x++)
        for (unsigned y = 1; y <= o.threads / x; y++) {
            unsigned z = o.threads / x / y;
            if (x * y * z != o.threads || x + y + z >= best)
                continue;
            best = x + y + z;
            axes[0].parts = x;
            axes[1].parts = y;
            axes[2].parts = z;
        }
    for (int d = 0; d < DIRECTIONS; d++)
        axes[d].wide = (size + axes[d].parts - 1) / axes[d].parts;
}

/* Boxes one after the other, each in pages of its own in all arrays: 512 points of 40 or of 200
 * bytes are whole pages. Or points row by row, through all boxes. */
static void lay_out(void)
{
    size_t points = 1, boxes = UNKNOWNS;
    for (int d = 2; d >= 0; d--) {
        axes[d].point = points * UNKNOWNS;
        points *= o.flag ? size : axes[d].wide;
    }
    boxes *= (points + 511) / 512 * 512;
    for (int d = 2; d >= 0; d--) {
        axes[d].box = o.flag ? axes[d].wide * axes[d].point : boxes;
        boxes *= axes[d].parts;
    }
    numbers = o.flag ? points * UNKNOWNS : boxes;
}

static struct part part_of(unsigned id)
{
    const unsigned ny = axes[1].parts, nz = axes[2].parts;
    const unsigned place[] = {id / nz / ny, id / nz % ny, id % nz}, away[] = {ny * nz, nz, 1};
    struct part part = {.id = id};
    for (int d = 0; d < DIRECTIONS; d++) {
        const size_t low = place[d] * axes[d].wide, high = low + axes[d].wide;
        part.low[d] = low > 1 ? low : 1;
        part.high[d] = high < size - 1 ? high : size - 1;
        part.before[d] = place[d] > 0 ? id - away[d] : id;
        part.after[d] = place[d] + 1 < axes[d].parts ? id + away[d] : id;
    }
    return part;
}

/* Rates of change at a point, times the step. */
static void start_change(const size_t place[DIRECTIONS])
{
    const size_t at = point_at(place[0], place[1], place[2]);
    const double *beside[DIRECTIONS][2];
    double rates[UNKNOWNS];
    for (int d = 0; d < DIRECTIONS; d++) {
        const double *line = unknowns + at - along_axis(place[d], d);
        beside[d][0] = line + along_axis(place[d] - 1, d);
        beside[d][1] = line + along_axis(place[d] + 1, d);
    }
    find_rates(rates, unknowns + at, beside);
    for (size_t k = 0; k < UNKNOWNS; k++)
        change[at + k] = step * (rates[k] + force[at + k]);
}

static void add_change(const size_t place[DIRECTIONS])
{
    const size_t at = point_at(place[0], place[1], place[2]);
    for (size_t k = 0; k < UNKNOWNS; k++)
        unknowns[at + k] += change[at + k];
}

static void at_each_point(const struct part *part, void (*action)(const size_t *place))
{
    for (size_t x = part->low[0]; x < part->high[0]; x++)
        for (size_t y = part->low[1]; y < part->high[1]; y++)
            for (size_t z = part->low[2]; z < part->high[2]; z++)
                action((const size_t[]){x, y, z});
}

static void initialise(void);

static void phase(unsigned id, unsigned number)
{
    if (id == 0)
        homenode_phase(number);
}

static void work(unsigned id)
{
    const struct part part = part_of(id);
    if (id == 0)
        initialise();
    meet();
    for (unsigned number = 0; number < o.iterations; number++) {
        phase(id, 4 * number + 1);
        at_each_point(&part, start_change);
        meet();
        for (int d = 0; d < DIRECTIONS; d++) {
            phase(id, 4 * number + 2 + (unsigned)d);
            fill_blocks(&part, d);
            sweep(&part, d);
            meet();
        }
        at_each_point(&part, add_change);
        meet();
    }
}

/* --- input ------------------------------------------------------------------------------------ */

/* A number between -1 and 1. */
static UNRECORDED double random_number(uint64_t index)
{
    return (double)(random_at(o.seed, index) >> 40) / 8388608 - 1;
}

/* The steady flow: each unknown a polynomial of the place. */
static UNRECORDED void steady_at(double *q, size_t x, size_t y, size_t z)
{
    static const double base[UNKNOWNS] = {1, 0.3, 0.2, 0.1, 2.5};
    const double at[DIRECTIONS] = {(double)x / ((double)size - 1), (double)y / ((double)size - 1),
                                   (double)z / ((double)size - 1)};
    for (uint64_t k = 0; k < UNKNOWNS; k++) {
        q[k] = base[k];
        for (uint64_t d = 0; d < DIRECTIONS; d++) {
            double linear = random_number(6 * k + d), square = random_number(6 * k + 3 + d);
            q[k] += 0.05 * at[d] * (linear + square * at[d]);
        }
    }
}

/* The flow at the start: steady at the walls, and off by a few per cent within. */
static UNRECORDED double start_at(size_t x, size_t y, size_t z, size_t k)
{
    const size_t last = size - 1;
    double q[UNKNOWNS], bump = (double)(x * y * z) * (double)((last - x) * (last - y) * (last - z));
    steady_at(q, x, y, z);
    return q[k] + 0.1 * random_number(100 + k) * 64 * bump / pow((double)last, 6);
}

/* The force that keeps the steady flow steady: the negative of its rates. */
static UNRECORDED void force_at(double *push, size_t x, size_t y, size_t z)
{
    double here[UNKNOWNS], around[DIRECTIONS][2][UNKNOWNS];
    const double *beside[DIRECTIONS][2];
    steady_at(here, x, y, z);
    for (size_t d = 0; d < DIRECTIONS; d++) {
        steady_at(around[d][0], x - (d == 0), y - (d == 1), z - (d == 2));
        steady_at(around[d][1], x + (d == 0), y + (d == 1), z + (d == 2));
        beside[d][0] = around[d][0];
        beside[d][1] = around[d][1];
    }
    find_rates(push, here, beside);
    for (size_t k = 0; k < UNKNOWNS; k++)
        push[k] = -push[k];
}

static void initialise(void)
{
    for (size_t number = 0; number < size * size * size; number++) {
        size_t x = number / size / size, y = number / size % size, z = number % size;
        bool wall = x == 0 || y == 0 || z == 0 || x + 1 == size || y + 1 == size || z + 1 == size;
        double push[UNKNOWNS] = {0};
        if (!wall)
            force_at(push, x, y, z);
        for (size_t k = 0; k < UNKNOWNS; k++) {
            size_t at = point_at(x, y, z) + k;
            unknowns[at] = start_at(x, y, z, k);
            change[at] = 0;
            force[at] = push[k];
        }
    }
    homenode_init_done();
}

#include "appbt-check.h"

static double *array_of(size_t count)
{
    return allocated(aligned_alloc(PAGE_BYTES, whole_pages(count * sizeof(double))));
}

int main(int argc, char **argv)
{
    o = parse_options(&appbt, argc, argv);
    size = o.size;
    divide_threads();
    lay_out();
    double **arrays[] = {&unknowns, &change, &force, &lower, &middle, &upper};
    for (unsigned k = 0; k < 6; k++)
        *arrays[k] = array_of(k < 3 ? numbers : numbers * UNKNOWNS);
    forward = allocated(aligned_alloc(64, o.threads * sizeof *forward));
    backward = allocated(aligned_alloc(64, o.threads * sizeof *backward));
    for (unsigned id = 0; id < o.threads; id++) {
        must(sem_init(&forward[id].semaphore, 0, 0) ? errno : 0, "sem_init");
        must(sem_init(&backward[id].semaphore, 0, 0) ? errno : 0, "sem_init");
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        unknowns[point_at(1, 1, 1)] += 0.001;
    begin_check();
    int status = verdict(&appbt, wrong_unknowns(), checksum());
    for (unsigned k = 0; k < 6; k++)
        free(*arrays[k]);
    free(forward);
    free(backward);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
