/* sor: banded red/black successive over-relaxation of one array.
 *
 * Computes the steady temperature of a rectangular panel whose edge keeps its temperature. Points
 * are coloured like a chess board; a half-sweep updates those of one colour from their four
 * neighbours, which have the other, so the result does not depend on the number of threads.
 *
 * Sharing: the panel is one array, row after row, made by the first thread; adjacent rows form a
 * band, one a thread. Only the first and last row of a band are used by two threads, the pair that
 * owns the bands on either side. A row is 5120 bytes at the default size: with eight threads bands
 * begin on pages of 4 KB; with 64, ten rows each, every second band begins in the middle of one.
 * With --float a row is 2560 bytes, and with 64 threads every fourth band begins on a page.
 *
 * Source: Marchetti, Kontothanassis, Bianchini and Scott, section 3.3 (sor): 640 by 640 points, ten
 * iterations, 64 processors, bands. Ours: own code; the paper does not say how wide a number is,
 * nor factor or edge temperatures. sorbyr and sorbyc are Bolosky's, with each row on its own page.
 */
#include "workload.h"

static const struct workload sor = {
    .name = "sor",
    .summary = "Banded red/black successive over-relaxation of one array",
    .size_help = "rows and columns",
    .size_default = 640, .size_quick = 60, .size_min = 3, .size_max = 8192,
    .iterations_default = 10, .iterations_quick = 4,
    .flag = "--float",
    .flag_help = "numbers of 4 bytes instead of 8",
};

/* Over-relaxation factor; any number between 1 and 2 converges. */
static const double omega = 1.5;

static struct options o;
static size_t size;
/* The panel, [row][column]: one of the two, by the flag. */
static double *panel;
static float *narrow_panel;

/* Temperature at the start: random on the edge, 0 within. */
static UNRECORDED double input(size_t row, size_t column)
{
    bool edge = row == 0 || column == 0 || row + 1 == size || column + 1 == size;
    return edge ? (double)(random_at(o.seed, row * size + column) >> 40) / 167772.16 : 0;
}

/* Updates the points of one colour in a row; `number` is the type of a point. The change is a
 * statement of its own, as compilers may else fuse it with the sum, which rounds differently. */
#define RELAX(name, number)                                                                   \
    static void name(number *here, size_t first)                                              \
    {                                                                                         \
        const number *above = here - size, *below = here + size;                              \
        for (size_t column = first; column + 1 < size; column += 2) {                         \
            number sum = above[column] + below[column] + here[column - 1] + here[column + 1]; \
            number change = (number)omega * (sum / 4 - here[column]);                         \
            here[column] += change;                                                           \
        }                                                                                     \
    }

RELAX(relax, double)
RELAX(relax_narrow, float)

static void make_input(void)
{
    for (size_t row = 0; row < size; row++)
        for (size_t column = 0; column < size; column++) {
            double value = input(row, column);
            if (o.flag)
                narrow_panel[row * size + column] = (float)value;
            else
                panel[row * size + column] = value;
        }
}

static void work(unsigned id)
{
    size_t low = first_of(id, o.threads, o.size), high = first_of(id + 1, o.threads, o.size);
    if (id == 0) {
        make_input();
        homenode_init_done();
    }
    meet();
    low = low > 1 ? low : 1;
    high = high < size - 1 ? high : size - 1;
    for (unsigned half = 0; half < 2 * o.iterations; half++) {
        if (id == 0)
            homenode_phase(half + 1);
        for (size_t row = low; row < high; row++) {
            size_t first = 1 + ((row + 1 + half) & 1);
            if (o.flag)
                relax_narrow(narrow_panel + row * size, first);
            else
                relax(panel + row * size, first);
        }
        meet();
    }
}

/* A point's temperature at the end. */
static UNRECORDED double temperature(size_t at)
{
    return o.flag ? (double)narrow_panel[at] : panel[at];
}

/* The same by one thread, in numbers of 8 bytes: two plates, of which a half-sweep reads one and
 * writes the other, point by point without regard to bands; counts the points that differ. */
static UNRECORDED uint64_t wrong_points(void)
{
    size_t points = size * size;
    double *plates = allocated(calloc(2 * points, sizeof *plates)), *old = plates;
    double *new = plates + points;
    const double error = o.flag ? 1e-3 : 1e-9;
    uint64_t wrong = 0;
    for (size_t at = 0; at < points; at++)
        old[at] = input(at / size, at % size);
    for (unsigned half = 0; half < 2 * o.iterations; half++) {
        for (size_t at = 0; at < points; at++) {
            size_t row = at / size, column = at % size;
            bool edge = row == 0 || column == 0 || row + 1 == size || column + 1 == size;
            new[at] = old[at];
            if (!edge && ((row + column) & 1) == (half & 1))
                new[at] = (1 - omega) * old[at]
                          + omega / 4 * (old[at - size] + old[at + size] + old[at - 1]
                                         + old[at + 1]);
        }
        double *swapped = old;
        old = new;
        new = swapped;
    }
    for (size_t at = 0; at < points; at++) {
        double difference = temperature(at) - old[at];
        wrong += !(difference < error && difference > -error);
    }
    free(plates);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < size * size; at++)
        sum = mix(sum, (uint64_t)(temperature(at) * 65536 + 0.5));
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&sor, argc, argv);
    size = o.size;
    size_t bytes = size * size * (o.flag ? sizeof *narrow_panel : sizeof *panel);
    void *memory = allocated(aligned_alloc(PAGE_BYTES, whole_pages(bytes)));
    panel = memory;
    narrow_panel = memory;
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt && o.flag)
        narrow_panel[size + 1] += 0.1F;
    else if (o.corrupt)
        panel[size + 1] += 0.001;
    begin_check();
    int status = verdict(&sor, wrong_points(), checksum());
    free(memory);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
