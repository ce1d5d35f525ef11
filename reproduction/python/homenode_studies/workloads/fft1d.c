/* fft1d: one-dimensional fast Fourier transform in six steps.
 *
 * Transforms `size` complex numbers, seen as a square matrix: transpose, transform the rows,
 * multiply by the twiddle factors, transpose, transform the rows, transpose. A thread has adjacent
 * rows; it transposes them in square pieces, one from the rows of each other thread, beginning with
 * its successor's so that no two threads begin with the same.
 *
 * Sharing: rows are read and written by their owner, except in the three transpositions, where
 * every thread reads a piece of the rows of every other, rows / threads squared elements, that the
 * other has written: each word has one writer and one reader. Twiddle factors are only read, each
 * by one thread. The roots of unity are read by all threads at once, each of which makes itself a
 * copy, and then touches its rows, so that their pages are its own by first touch.
 *
 * Source: Talbot and Kelly, table 1.3 (FFT of SPLASH-2, 64K points, 64 processors), whose threads
 * copy the roots and touch their rows before they begin (Woo et al. 1995). Ours: own code
 * of Bailey's six-step method ("FFTs in external or hierarchical memory", J. Supercomputing 4,
 * 1990). Bolosky's two-dimensional transform is fft.
 */
#include "workload.h"

#include <math.h>

static const struct workload fft1d = {
    .name = "fft1d",
    .summary = "One-dimensional fast Fourier transform in six steps",
    .size_help = "points, a power of four",
    .size_default = 65536, .size_quick = 1024, .size_min = 4, .size_max = 1U << 24,
};

/* Side of the pieces in which a thread copies, in elements: 8 of 16 bytes are a piece of 128. */
enum { TILE = 8 };

/* Elements of a line of 64 bytes. */
enum { LINE = 4 };

struct complex_number {
    double re, im;
};

static struct options o;
static unsigned rows;                      /* and columns: the root of the number of points */
static struct complex_number *points, *turned, *twiddles; /* [row][column] */
static struct complex_number *all_roots;   /* of unity, as many as rows */
static double *touched;                    /* by each thread: keeps the compiler from skipping it */

static const double two_pi = 6.28318530717958647692;

static UNRECORDED struct complex_number input(size_t at)
{
    uint64_t bits = random_at(o.seed, at);
    return (struct complex_number){.re = (double)(bits >> 40) / 16777216 - 0.5,
                                   .im = (double)(bits & 0xffffff) / 16777216 - 0.5};
}

/* exp(-2 pi i k / of) */
static UNRECORDED struct complex_number root(uint64_t k, uint64_t of)
{
    double angle = -two_pi * (double)(k % of) / (double)of;
    return (struct complex_number){.re = cos(angle), .im = sin(angle)};
}

/* --- one row ---------------------------------------------------------------------------------- */

/* Swaps every element with the one whose index has the bits reversed. */
static void reverse_bits(struct complex_number *row)
{
    for (unsigned i = 1, j = 0; i < rows; i++) {
        unsigned bit = rows / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j |= bit;
        if (i < j) {
            double re = row[i].re, im = row[i].im;
            row[i].re = row[j].re;
            row[i].im = row[j].im;
            row[j].re = re;
            row[j].im = im;
        }
    }
}

/* Transforms a row in place, radix 2. */
static void transform(struct complex_number *row, const struct complex_number *roots)
{
    reverse_bits(row);
    for (unsigned half = 1; half < rows; half *= 2)
        for (unsigned start = 0; start < rows; start += 2 * half)
            for (unsigned k = 0; k < half; k++) {
                struct complex_number *low = &row[start + k], *high = low + half;
                const struct complex_number *w = &roots[k * (rows / (2 * half))];
                double w_re = w->re, w_im = w->im, re = high->re, im = high->im;
                double turned_re = re * w_re - im * w_im, turned_im = re * w_im + im * w_re;
                double low_re = low->re, low_im = low->im;
                high->re = low_re - turned_re;
                high->im = low_im - turned_im;
                low->re = low_re + turned_re;
                low->im = low_im + turned_im;
            }
}

static void multiply(struct complex_number *row, const struct complex_number *by)
{
    for (unsigned column = 0; column < rows; column++) {
        double re = row[column].re, im = row[column].im;
        double by_re = by[column].re, by_im = by[column].im;
        row[column].re = re * by_re - im * by_im;
        row[column].im = re * by_im + im * by_re;
    }
}

/* --- transposition ---------------------------------------------------------------------------- */

/* Rows `low` .. `high` - 1 of `to` from the part of `from` that thread `other` owns. */
static void transpose_piece(struct complex_number *to, const struct complex_number *from,
                            unsigned low, unsigned high, unsigned other)
{
    unsigned left = first_of(other, o.threads, rows), right = first_of(other + 1, o.threads, rows);
    for (unsigned column = left; column < right; column += TILE)
        for (unsigned row = low; row < high; row += TILE)
            for (unsigned i = row; i < row + TILE && i < high; i++)
                for (unsigned j = column; j < column + TILE && j < right; j++) {
                    const struct complex_number *source = &from[(size_t)j * rows + i];
                    struct complex_number *target = &to[(size_t)i * rows + j];
                    target->re = source->re;
                    target->im = source->im;
                }
}

static void transpose(struct complex_number *to, const struct complex_number *from, unsigned id)
{
    unsigned low = first_of(id, o.threads, rows), high = first_of(id + 1, o.threads, rows);
    for (unsigned k = 1; k <= o.threads && low < high; k++)
        transpose_piece(to, from, low, high, (id + k) % o.threads);
    meet();
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The first thread makes the input and the factors, as in most programs of its kind. */
static void initialise(void)
{
    for (size_t at = 0; at < o.size; at++) {
        struct complex_number x = input(at), w = root(at / rows * (at % rows), o.size);
        points[at].re = x.re;
        points[at].im = x.im;
        twiddles[at].re = w.re;
        twiddles[at].im = w.im;
    }
    for (unsigned k = 0; k < rows; k++) {
        struct complex_number w = root(k, rows);
        all_roots[k].re = w.re;
        all_roots[k].im = w.im;
    }
    homenode_init_done();
}

static void phase(unsigned id, unsigned number)
{
    if (id == 0)
        homenode_phase(number);
}

/* Reads a line in each of the rows of a thread: the first to touch a page gets it. */
static double touch(const struct complex_number *of, unsigned low, unsigned high)
{
    double sum = 0;
    for (size_t at = low * (size_t)rows; at < high * (size_t)rows; at += LINE)
        sum += of[at].re;
    return sum;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, rows), high = first_of(id + 1, o.threads, rows);
    size_t bytes = whole_pages(rows * sizeof *points);
    struct complex_number *roots = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(roots, bytes);
    if (id == 0)
        initialise();
    meet();
    for (unsigned k = 0; k < rows; k++)
        roots[k] = (struct complex_number){all_roots[k].re, all_roots[k].im};
    touched[id] = touch(points, low, high) + touch(turned, low, high) + touch(twiddles, low, high);
    meet();
    phase(id, 1);
    transpose(turned, points, id);
    phase(id, 2);
    for (size_t row = low; row < high; row++) {
        transform(turned + row * rows, roots);
        multiply(turned + row * rows, twiddles + row * rows);
    }
    meet();
    phase(id, 3);
    transpose(points, turned, id);
    phase(id, 4);
    for (size_t row = low; row < high; row++)
        transform(points + row * rows, roots);
    meet();
    phase(id, 5);
    transpose(turned, points, id);
    free(roots);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Transforms `x` into `y`, both of `count` numbers, by halves of even and odd index. */
static UNRECORDED void transform_again(const struct complex_number *x, struct complex_number *y,
                                       size_t count, size_t stride)
{
    if (count == 1) {
        *y = *x;
        return;
    }
    size_t half = count / 2;
    transform_again(x, y, half, 2 * stride);
    transform_again(x + stride, y + half, half, 2 * stride);
    for (size_t k = 0; k < half; k++) {
        struct complex_number w = root(k, count), even = y[k], odd = y[k + half];
        double re = odd.re * w.re - odd.im * w.im, im = odd.re * w.im + odd.im * w.re;
        y[k] = (struct complex_number){even.re + re, even.im + im};
        y[k + half] = (struct complex_number){even.re - re, even.im - im};
    }
}

static UNRECORDED uint64_t wrong_points(void)
{
    struct complex_number *again = allocated(calloc(2 * (size_t)o.size, sizeof *again));
    uint64_t wrong = 0;
    for (size_t at = 0; at < o.size; at++)
        again[at] = input(at);
    transform_again(again, again + o.size, o.size, 1);
    for (size_t at = 0; at < o.size; at++) {
        const struct complex_number *x = &again[o.size + at];
        double error = fabs(x->re - turned[at].re) + fabs(x->im - turned[at].im);
        wrong += !(error < 1e-8 * rows);
    }
    free(again);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler and mathematical library. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < o.size; at++) {
        sum = mix(sum, (uint64_t)(int64_t)floor(turned[at].re * 1024 + 0.5));
        sum = mix(sum, (uint64_t)(int64_t)floor(turned[at].im * 1024 + 0.5));
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&fft1d, argc, argv);
    for (rows = 1; (size_t)rows * rows < o.size;)
        rows *= 2;
    if ((size_t)rows * rows != o.size)
        refuse(&fft1d, "the number of points must be a power of four", "-n");
    size_t bytes = whole_pages(o.size * sizeof *points);
    points = allocated(aligned_alloc(PAGE_BYTES, bytes));
    turned = allocated(aligned_alloc(PAGE_BYTES, bytes));
    twiddles = allocated(aligned_alloc(PAGE_BYTES, bytes));
    all_roots = allocated(aligned_alloc(PAGE_BYTES, whole_pages(rows * sizeof *all_roots)));
    touched = allocated(calloc(o.threads, sizeof *touched));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        turned[rows + 1].re += 0.001;
    begin_check();
    int status = verdict(&fft1d, wrong_points(), checksum());
    free(points);
    free(turned);
    free(twiddles);
    free(all_roots);
    free(touched);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
