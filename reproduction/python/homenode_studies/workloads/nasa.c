/* nasa: flow of air over a wing, in three dimensions.
 *
 * Relaxes the potential of a steady, subsonic, compressible flow past a thin wing at the bottom of
 * a box, on a mesh that is finest at the wing. The lines of points above each other are coloured
 * like a chess board; a half-sweep solves for those of one colour from the four beside each, in
 * private memory and several times over because the air's compressibility depends on the result.
 *
 * Sharing: loop iterations, here planes across the flow, are divided into bands of adjacent ones.
 * A thread writes only its planes and reads one plane beyond either end, so little is shared, and
 * in large pieces. Every thread has its own copy of the tables, as FORTRAN with EPEX has of all
 * that is not declared shared; nine references in ten are private.
 *
 * Source: Bolosky's thesis, section 2.2.1 (e-nasa, an EPEX program from IBM: "airflow over a 3
 * dimensional object"): every processor runs the same code, loops are divided, fifteen private
 * references to one shared. Ours: own code, written from that line; equation (small disturbances
 * of a uniform flow), method and wing are our choice.
 */
#include "workload.h"

#include <math.h>

static const struct workload nasa = {
    .name = "nasa",
    .summary = "Flow of air over a wing in three dimensions, line by line in private memory",
    .size_help = "points along each side of the box",
    .size_default = 32, .size_quick = 10, .size_min = 4, .size_max = 256,
    .iterations_default = 8, .iterations_quick = 3,
};

enum { INNER = 3 }; /* solutions of a line in a half-sweep */

/* Speed of the undisturbed air in units of that of sound; ratio of specific heats; growth of the
 * distance between points with height; largest slope of the wing. */
static const double mach = 0.7, gas_gamma = 1.4, growth = 1.1, slope_max = 0.12;

/* Private memory of a thread. */
struct own {
    double *below, *above;      /* by height: weight of the neighbour below and of that above */
    double *wing;               /* by place along the flow: slope of the wing's surface */
    double *west, *east, *south, *north; /* the lines beside the one in hand */
    double *line, *factor;      /* the line; upper diagonal while it is solved */
    double *stiff;              /* how stiff the air is at each point of the line */
};

static struct options o;
static unsigned size;
static double *potential; /* [along the flow][across][up] */

/* --- the equation: functions of values -------------------------------------------------------- */

static UNRECORDED double slope_at(unsigned along)
{
    unsigned nose = size / 3, tail = 2 * size / 3;
    if (along < nose || along > tail)
        return 0;
    double place = (double)(along - nose) / (tail - nose);
    double rough = (double)(random_at(o.seed, along) >> 40) / 16777216 - 0.5;
    return slope_max * (1 - 2 * place + 0.1 * rough);
}

/* Distance from point `up` to the one above it. */
static UNRECORDED double spacing(unsigned up)
{
    return 0.5 * pow(growth, up);
}

static UNRECORDED double weight_above(unsigned up)
{
    double step = spacing(up), last = up > 0 ? spacing(up - 1) : step;
    return 2 / (step * (step + last));
}

static UNRECORDED double weight_below(unsigned up)
{
    double step = spacing(up), last = up > 0 ? spacing(up - 1) : step;
    return 2 / (last * (step + last));
}

/* Factor of the second derivative along the flow, by the disturbance of the speed there and up. */
INLINED double stiffness(double along, double up)
{
    double m2 = mach * mach, factor = 1 - m2 * (1 + (gas_gamma + 1) * along + up * up);
    return factor > 0.1 ? factor : 0.1;
}

/* Is there wing under the points at this place across the flow? */
INLINED bool wing_under(unsigned across)
{
    return across < size / 2;
}

/* --- one line --------------------------------------------------------------------------------- */

INLINED size_t line_at(unsigned along, unsigned across)
{
    return ((size_t)along * size + across) * size;
}

static inline void fetch(double *to, size_t from)
{
    for (unsigned up = 0; up < size; up++)
        to[up] = potential[from + up];
}

/* How stiff the air is all along the line, from the solution as it is. */
static void find_stiffness(const struct own *own, double slope)
{
    for (unsigned up = 0; up < size; up++) {
        double along = (own->east[up] - own->west[up]) / 2, rise = slope;
        if (up > 0) {
            double top = up + 1 < size ? own->line[up + 1] : 0;
            rise = (top - own->line[up - 1]) * own->above[up] / 2;
        }
        own->stiff[up] = stiffness(along, rise);
    }
}

/* Solves the tridiagonal system of the line: elimination upwards, substitution downwards. */
static void solve(const struct own *own, double slope)
{
    for (unsigned up = 0; up < size; up++) {
        double stiff = own->stiff[up], above = own->above[up], below = own->below[up];
        double diagonal = 2 * stiff + 2 + above + below;
        double right = stiff * (own->west[up] + own->east[up]) + own->south[up] + own->north[up];
        if (up == 0) { /* the surface: what would be below follows from its slope */
            right -= slope * below;
            above += below;
        } else {
            diagonal -= below * own->factor[up - 1];
            right += below * own->line[up - 1];
        }
        own->factor[up] = above / diagonal;
        own->line[up] = right / diagonal;
    }
    for (unsigned up = size - 1; up > 0; up--)
        own->line[up - 1] += own->factor[up - 1] * own->line[up];
}

static void relax(const struct own *own, unsigned along, unsigned across)
{
    double slope = wing_under(across) ? own->wing[along] : 0;
    size_t at = line_at(along, across);
    fetch(own->west, line_at(along - 1, across));
    fetch(own->east, line_at(along + 1, across));
    fetch(own->south, line_at(along, across > 0 ? across - 1 : 1)); /* symmetric there */
    fetch(own->north, line_at(along, across + 1));
    fetch(own->line, at);
    for (unsigned inner = 0; inner < INNER; inner++) {
        find_stiffness(own, slope);
        solve(own, slope);
    }
    for (unsigned up = 0; up < size; up++)
        potential[at + up] = own->line[up];
}

/* --- threads ---------------------------------------------------------------------------------- */

static double *make_own(struct own *own)
{
    size_t bytes = whole_pages(10 * (size_t)size * sizeof(double));
    double *memory = allocated(aligned_alloc(PAGE_BYTES, bytes)), *next = memory;
    homenode_private(memory, bytes);
    double **all[] = {&own->below, &own->above, &own->wing, &own->west, &own->east, &own->south,
                      &own->north, &own->line, &own->factor, &own->stiff};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++, next += size)
        *all[k] = next;
    for (unsigned k = 0; k < size; k++) {
        own->below[k] = weight_below(k);
        own->above[k] = weight_above(k);
        own->wing[k] = slope_at(k);
    }
    return memory;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    struct own own;
    double *memory = make_own(&own);
    for (size_t at = line_at(low, 0); at < line_at(high, 0); at++)
        potential[at] = 0;
    meet();
    if (id == 0)
        homenode_init_done();
    low = low > 1 ? low : 1;
    high = high < size - 1 ? high : size - 1;
    for (unsigned half = 0; half < 2 * o.iterations; half++) {
        if (id == 0)
            homenode_phase(half + 1);
        for (unsigned along = low; along < high; along++)
            for (unsigned across = (along + half) & 1; across + 1 < size; across += 2)
                relax(&own, along, across);
        meet();
    }
    free(memory);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Relaxes a line of `field` by elimination from the top down; `scratch` holds two lines. */
static UNRECORDED void relax_again(double *field, unsigned along, unsigned across, double *scratch)
{
    const double *west = field + line_at(along - 1, across);
    const double *east = field + line_at(along + 1, across);
    const double *south = field + line_at(along, across > 0 ? across - 1 : 1);
    const double *north = field + line_at(along, across + 1);
    double *line = field + line_at(along, across), *factor = scratch, *part = factor + size;
    double slope = wing_under(across) ? slope_at(along) : 0;
    for (unsigned inner = 0; inner < INNER; inner++) {
        for (unsigned k = size; k-- > 0;) {
            double above = weight_above(k), below = weight_below(k), rise = slope;
            if (k > 0)
                rise = ((k + 1 < size ? line[k + 1] : 0) - line[k - 1]) * above / 2;
            double stiff = stiffness((east[k] - west[k]) / 2, rise);
            double diagonal = 2 * stiff + 2 + above + below;
            double right = stiff * (west[k] + east[k]) + south[k] + north[k];
            if (k == 0) {
                right -= slope * below;
                above += below;
                below = 0;
            }
            if (k + 1 < size) {
                diagonal -= above * factor[k + 1];
                right += above * part[k + 1];
            }
            factor[k] = below / diagonal;
            part[k] = right / diagonal;
        }
        line[0] = part[0];
        for (unsigned k = 1; k < size; k++)
            line[k] = part[k] + factor[k] * line[k - 1];
    }
}

/* The same half-sweeps by one thread; counts the points that differ. */
static UNRECORDED uint64_t wrong_points(void)
{
    size_t points = line_at(size, 0);
    double *field = allocated(calloc(points + 2 * size, sizeof *field));
    uint64_t wrong = 0;
    for (unsigned half = 0; half < 2 * o.iterations; half++)
        for (unsigned along = 1; along + 1 < size; along++)
            for (unsigned across = 0; across + 1 < size; across++)
                if (((along + across) & 1) == (half & 1))
                    relax_again(field, along, across, field + points);
    for (size_t at = 0; at < points; at++)
        wrong += !(fabs(field[at] - potential[at]) < 1e-9);
    free(field);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < line_at(size, 0); at++)
        sum = mix(sum, (uint64_t)(int64_t)floor(potential[at] * 16777216 + 0.5));
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&nasa, argc, argv);
    size = o.size;
    potential = allocated(aligned_alloc(PAGE_BYTES,
                                        whole_pages(line_at(size, 0) * sizeof *potential)));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        potential[line_at(1, 1)] += 0.001;
    begin_check();
    int status = verdict(&nasa, wrong_points(), checksum());
    free(potential);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
