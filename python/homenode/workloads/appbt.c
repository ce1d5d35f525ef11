/* appbt: flow of a viscous gas in a cube, by block tridiagonal systems.
 *
 * Takes steps of the compressible Navier-Stokes equations (five unknowns a point) towards a steady
 * flow that is known, with the implicit scheme of Beam and Warming: the change of a step is found
 * by three sweeps, along x, y and z, in each of which every line of points is a block tridiagonal
 * system with blocks of five by five.
 *
 * Sharing: the lines of a sweep are divided among the threads, adjacent ones to one thread, so that
 * 64 threads have work on a small cube. Along z a line is contiguous in memory and a thread has
 * whole planes and parts of planes; along x it has a few adjacent points of every plane, so the
 * sweeps along x and y take the change of a point from one owner to the next, transposed. Unknowns
 * are written by the owner of their line along z and read by four others. Blocks are private to a
 * thread and take most references. The first thread makes the input.
 *
 * Source: Marchetti, Kontothanassis, Bianchini and Scott, section 3.3 (appbt of the NAS Parallel
 * Benchmarks): 16 by 16 by 16 points, five steps, 64 processors. Ours: own code from the equations
 * and Beam and Warming's paper (AIAA Journal 16, 1978); cross derivatives of the viscous terms are
 * left out, and a forcing makes a given flow steady, as the NAS report does for BT.
 */
#include "workload.h"

#include <math.h>

static const struct workload appbt = {
    .name = "appbt",
    .summary = "Flow of a viscous gas in a cube, by block tridiagonal systems",
    .size_help = "points along each side",
    .size_default = 16, .size_quick = 6, .size_min = 4, .size_max = 64,
    .iterations_default = 5, .iterations_quick = 2,
};

enum { UNKNOWNS = 5, BLOCK = UNKNOWNS * UNKNOWNS, DIRECTIONS = 3, BAND = 2 * UNKNOWNS - 1 };

/* Units: side of the cube, density of the gas, and about its speed of sound. */
static const double gas_gamma = 1.4, viscosity = 0.02, conductivity = 0.03, smoothing = 0.01;
static const double step = 0.02;

/* Private memory of a thread: what it needs to solve a line. */
struct own {
    double *lower, *middle; /* a block each */
    double *upper;          /* a block a point, eliminated */
    double *right;          /* right side, then solution: five numbers a point */
};

static struct options o;
static size_t size, inner; /* points along a side, without the walls */
static double *unknowns, *change, *force; /* [x][y][z][unknown] */

INLINED size_t point_at(size_t x, size_t y, size_t z)
{
    return ((x * size + y) * size + z) * UNKNOWNS;
}

/* Distance in memory of neighbours in direction `d`: 0 is x, 1 is y, 2 is z. */
INLINED size_t stride_of(int d)
{
    return d == 0 ? size * size * UNKNOWNS : d == 1 ? size * UNKNOWNS : UNKNOWNS;
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

/* --- one line --------------------------------------------------------------------------------- */

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

/* Replaces `upper` and `right` by the solutions of block times x equals them; spoils the block.
 * Steps are short enough for the block to be near to 1, so no pivots need be sought. */
static void solve_block(double *block, double *upper, double *right)
{
    for (size_t pivot = 0; pivot < UNKNOWNS; pivot++) {
        double scale = 1 / block[pivot * UNKNOWNS + pivot];
        for (size_t k = pivot + 1; k < UNKNOWNS; k++)
            block[pivot * UNKNOWNS + k] *= scale;
        for (size_t k = 0; k < UNKNOWNS; k++)
            upper[pivot * UNKNOWNS + k] *= scale;
        right[pivot] *= scale;
        for (size_t row = 0; row < UNKNOWNS; row++) {
            double factor = block[row * UNKNOWNS + pivot];
            if (row == pivot)
                continue;
            for (size_t k = pivot + 1; k < UNKNOWNS; k++)
                block[row * UNKNOWNS + k] -= factor * block[pivot * UNKNOWNS + k];
            for (size_t k = 0; k < UNKNOWNS; k++)
                upper[row * UNKNOWNS + k] -= factor * upper[pivot * UNKNOWNS + k];
            right[row] -= factor * right[pivot];
        }
    }
}

/* Solves for the change along the line in direction `d` whose first point within is `first`. */
static void solve_line(const struct own *own, size_t first, int d)
{
    const double space = 1 / ((double)size - 1);
    const double along = step / (2 * space), across = step / (space * space);
    const size_t stride = stride_of(d);
    for (size_t p = 0; p < inner; p++) {
        const size_t at = first + p * stride;
        double *upper = own->upper + p * BLOCK, *right = own->right + p * UNKNOWNS;
        fill_block(own->lower, unknowns + at - stride, d, -along, -across);
        fill_block(own->middle, unknowns + at, d, 0, 2 * across);
        fill_block(upper, unknowns + at + stride, d, along, -across);
        for (size_t k = 0; k < BLOCK; k += UNKNOWNS + 1)
            own->middle[k] += 1;
        for (size_t k = 0; k < UNKNOWNS; k++)
            right[k] = change[at + k];
        if (p > 0) {
            subtract_product(own->middle, own->lower, upper - BLOCK, UNKNOWNS);
            subtract_product(right, own->lower, right - UNKNOWNS, 1);
        }
        solve_block(own->middle, upper, right);
    }
    for (size_t p = inner - 1; p > 0; p--) {
        double *right = own->right + p * UNKNOWNS;
        subtract_product(right - UNKNOWNS, own->upper + (p - 1) * BLOCK, right, 1);
    }
    for (size_t p = 0; p < inner; p++)
        for (size_t k = 0; k < UNKNOWNS; k++)
            change[first + p * stride + k] = own->right[p * UNKNOWNS + k];
}

/* --- threads ---------------------------------------------------------------------------------- */

/* First point within the walls of line `number` in direction `d`. */
INLINED size_t line_at(size_t number, int d)
{
    size_t a = 1 + number / inner, b = 1 + number % inner;
    return d == 0 ? point_at(1, a, b) : d == 1 ? point_at(a, 1, b) : point_at(a, b, 1);
}

/* Rates of change of the points along a line in direction z, times the step. */
static void start_change(size_t first)
{
    for (size_t at = first; at < first + inner * UNKNOWNS; at += UNKNOWNS) {
        const double *beside[DIRECTIONS][2];
        double rates[UNKNOWNS];
        for (int d = 0; d < DIRECTIONS; d++) {
            beside[d][0] = unknowns + at - stride_of(d);
            beside[d][1] = unknowns + at + stride_of(d);
        }
        find_rates(rates, unknowns + at, beside);
        for (size_t k = 0; k < UNKNOWNS; k++)
            change[at + k] = step * (rates[k] + force[at + k]);
    }
}

static double *make_own(struct own *own)
{
    size_t bytes = whole_pages((2 * BLOCK + (BLOCK + UNKNOWNS) * inner) * sizeof(double));
    double *memory = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(memory, bytes);
    own->lower = memory;
    own->middle = memory + BLOCK;
    own->upper = memory + 2 * BLOCK;
    own->right = own->upper + BLOCK * inner;
    return memory;
}

static void initialise(void);

static void phase(unsigned id, unsigned number)
{
    if (id == 0)
        homenode_phase(number);
}

static void work(unsigned id)
{
    const unsigned lines = (unsigned)(inner * inner);
    const size_t low = first_of(id, o.threads, lines), high = first_of(id + 1, o.threads, lines);
    struct own own;
    double *memory = make_own(&own);
    if (id == 0)
        initialise();
    meet();
    for (unsigned number = 0; number < o.iterations; number++) {
        phase(id, 4 * number + 1);
        for (size_t line = low; line < high; line++)
            start_change(line_at(line, 2));
        meet();
        for (int d = 0; d < DIRECTIONS; d++) {
            phase(id, 4 * number + 2 + (unsigned)d);
            for (size_t line = low; line < high; line++)
                solve_line(&own, line_at(line, d), d);
            if (d < 2)
                meet();
        }
        for (size_t line = low; line < high; line++)
            for (size_t at = line_at(line, 2); at < line_at(line, 2) + inner * UNKNOWNS; at++)
                unknowns[at] += change[at];
        meet();
    }
    free(memory);
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
            size_t at = number * UNKNOWNS + k;
            unknowns[at] = start_at(x, y, z, k);
            change[at] = 0;
            force[at] = push[k];
        }
    }
    homenode_init_done();
}

/* --- check: one thread, derivatives by differences, lines as banded systems without blocks ---- */

static UNRECORDED void block_again(double *block, const double *q, int d, double along,
                                   double across)
{
    const double nudge = 1e-5;
    for (size_t column = 0; column < UNKNOWNS; column++) {
        double shifted[UNKNOWNS], sum[UNKNOWNS] = {0};
        memcpy(shifted, q, sizeof shifted);
        shifted[column] = q[column] + nudge;
        add_fluxes(sum, shifted, d, along, across);
        shifted[column] = q[column] - nudge;
        add_fluxes(sum, shifted, d, -along, -across);
        for (size_t row = 0; row < UNKNOWNS; row++)
            block[row * UNKNOWNS + column] = sum[row] / (2 * nudge);
    }
}

/* Solves the line's system in `band`, whose rows have BAND numbers to either side of the diagonal
 * and the right side after them. */
static UNRECORDED void solve_band(double *band, size_t rows)
{
    const size_t width = 2 * BAND + 2;
    for (size_t pivot = 0; pivot < rows; pivot++)
        for (size_t row = pivot + 1; row < rows && row <= pivot + BAND; row++) {
            double *to = band + row * width + pivot + BAND - row;
            const double *from = band + pivot * width + BAND;
            double factor = to[0] / from[0];
            for (size_t k = 0; k <= BAND; k++)
                to[k] -= factor * from[k];
            band[row * width + width - 1] -= factor * band[pivot * width + width - 1];
        }
    for (size_t row = rows; row-- > 0;) {
        double *right = &band[row * width + width - 1];
        for (size_t k = 1; k <= BAND && row + k < rows; k++)
            *right -= band[row * width + BAND + k] * band[(row + k) * width + width - 1];
        *right /= band[row * width + BAND];
    }
}

static UNRECORDED void line_again(const double *field, double *delta, size_t first, int d,
                                  double *band)
{
    const double last = (double)size - 1, along = step * last / 2, across = step * last * last;
    const size_t stride = stride_of(d), rows = inner * UNKNOWNS, width = 2 * BAND + 2;
    memset(band, 0, rows * width * sizeof *band);
    for (size_t k = 0; k < 3 * inner; k++) {
        size_t p = k / 3, side = k % 3; /* of the point: before it, itself, after it */
        double block[BLOCK], by = side == 1 ? 0 : side == 0 ? -along : along;
        if ((p == 0 && side == 0) || (p + 1 == inner && side == 2))
            continue;
        block_again(block, field + first + p * stride + side * stride - stride, d, by,
                    side == 1 ? 2 * across : -across);
        for (size_t at = 0; at < BLOCK; at++) {
            size_t row = p * UNKNOWNS + at / UNKNOWNS;
            size_t column = (p + side) * UNKNOWNS + at % UNKNOWNS; /* UNKNOWNS too many */
            band[row * width + column + BAND - UNKNOWNS - row] = block[at];
        }
    }
    for (size_t row = 0; row < rows; row++) {
        band[row * width + BAND] += 1;
        band[row * width + width - 1] = delta[first + row / UNKNOWNS * stride + row % UNKNOWNS];
    }
    solve_band(band, rows);
    for (size_t row = 0; row < rows; row++)
        delta[first + row / UNKNOWNS * stride + row % UNKNOWNS] = band[row * width + width - 1];
}

static UNRECORDED void step_again(double *field, double *delta, double *band)
{
    for (size_t k = 0; k < inner * inner * inner; k++) {
        size_t at = line_at(k / inner, 2) + k % inner * UNKNOWNS;
        const double *beside[DIRECTIONS][2];
        double rates[UNKNOWNS];
        for (int d = 0; d < DIRECTIONS; d++) {
            beside[d][0] = field + at - stride_of(d);
            beside[d][1] = field + at + stride_of(d);
        }
        find_rates(rates, field + at, beside);
        for (size_t j = 0; j < UNKNOWNS; j++)
            delta[at + j] = step * (rates[j] + force[at + j]);
    }
    for (int d = 0; d < DIRECTIONS; d++)
        for (size_t line = 0; line < inner * inner; line++)
            line_again(field, delta, line_at(line, d), d, band);
    for (size_t at = 0; at < point_at(size, 0, 0); at++)
        field[at] += delta[at];
}

/* Counts the unknowns that differ. */
static UNRECORDED uint64_t wrong_unknowns(void)
{
    size_t count = point_at(size, 0, 0), band = inner * UNKNOWNS * (2 * BAND + 2);
    double *field = allocated(calloc(2 * count + band, sizeof *field));
    uint64_t wrong = 0;
    for (size_t at = 0; at < count; at++) {
        size_t point = at / UNKNOWNS;
        field[at] = start_at(point / size / size, point / size % size, point % size, at % UNKNOWNS);
    }
    for (unsigned number = 0; number < o.iterations; number++)
        step_again(field, field + count, field + 2 * count);
    for (size_t at = 0; at < count; at++)
        wrong += !(fabs(field[at] - unknowns[at]) < 1e-9);
    free(field);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < point_at(size, 0, 0); at++)
        sum = mix(sum, (uint64_t)(int64_t)floor(unknowns[at] * 16777216 + 0.5));
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&appbt, argc, argv);
    size = o.size;
    inner = size - 2;
    size_t bytes = whole_pages(point_at(size, 0, 0) * sizeof(double));
    unknowns = allocated(aligned_alloc(PAGE_BYTES, bytes));
    change = allocated(aligned_alloc(PAGE_BYTES, bytes));
    force = allocated(aligned_alloc(PAGE_BYTES, bytes));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        unknowns[point_at(1, 1, 1)] += 0.001;
    begin_check();
    int status = verdict(&appbt, wrong_unknowns(), checksum());
    free(unknowns);
    free(change);
    free(force);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
