/* fft: two-dimensional fast Fourier transform.
 *
 * Transforms a square array of complex doubles: first every row, then every column. A thread copies
 * a row or column into private memory, transforms it there (radix 2, in place) and copies it back.
 *
 * Sharing: rows are divided into bands, columns into bands of adjacent columns. In the first phase
 * a thread touches whole rows of its own; in the second it touches a piece of every row, nearly all
 * of them written by others. The pieces are (columns / threads) * 16 bytes long, so blocks larger
 * than that are falsely shared in the second phase. The private copies take most references.
 * More than one transform (-i) are done there and back again, in turn.
 *
 * Source: Bolosky's thesis, section 2.2.1 (e-fft, an EPEX program from IBM): 256 by 256; after
 * Baylor and Rathi, about 95 % of its references are to private memory. Markatos and Chronaki,
 * section 3.1.1 (FFT): 0.25 MB of data. Ours: own code.
 */
#include "workload.h"

#include <math.h>

static const struct workload fft = {
    .name = "fft",
    .summary = "Two-dimensional fast Fourier transform, rows and then columns",
    .size_help = "rows and columns, a power of two",
    .size_default = 256, .size_quick = 32, .size_min = 2, .size_max = 1024,
    .iterations_default = 1, .iterations_quick = 1,
    .flag = "--own-roots",
    .flag_help = "give each thread its own table of the roots of unity",
};

struct complex_number {
    double re, im;
};

static struct options o;
static unsigned size;
static struct complex_number *array;
static struct complex_number *roots; /* exp(-2 pi i k / size) for k < size */

static UNRECORDED struct complex_number input(unsigned row, unsigned col)
{
    uint64_t bits = random_at(o.seed, (uint64_t)row * size + col);
    return (struct complex_number){.re = (double)(bits >> 40) / 16777216 - 0.5,
                                   .im = (double)(bits & 0xffffff) / 16777216 - 0.5};
}

static inline struct complex_number times(struct complex_number x, struct complex_number y)
{
    return (struct complex_number){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
}

/* Swaps every element with the one whose index has the bits reversed. */
static void reverse_bits(struct complex_number *x)
{
    for (unsigned i = 1, j = 0; i < size; i++) {
        unsigned bit = size / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j |= bit;
        if (i < j) {
            struct complex_number swapped = x[i];
            x[i] = x[j];
            x[j] = swapped;
        }
    }
}

static void transform(struct complex_number *x, const struct complex_number *table)
{
    reverse_bits(x);
    for (unsigned half = 1; half < size; half *= 2)
        for (unsigned start = 0; start < size; start += 2 * half)
            for (unsigned k = 0; k < half; k++) {
                struct complex_number *low = &x[start + k], *high = low + half;
                struct complex_number t = times(*high, table[k * (size / (2 * half))]);
                *high = (struct complex_number){low->re - t.re, low->im - t.im};
                *low = (struct complex_number){low->re + t.re, low->im + t.im};
            }
}

/* Private memory of a thread. */
struct lines {
    struct complex_number *copy;
    const struct complex_number *table; /* the roots, those of all threads or its own */
};

/* Transforms the `size` elements that begin at `line` and lie `stride` elements apart. */
static void transform_line(struct complex_number *line, size_t stride, const struct lines *l)
{
    struct complex_number *copy = l->copy;
    for (unsigned i = 0; i < size; i++)
        copy[i] = line[i * stride];
    transform(copy, l->table);
    for (unsigned i = 0; i < size; i++)
        line[i * stride] = copy[i];
}

/* The same backwards: the transform of the conjugate, conjugate, divided by `size`. */
static void restore_line(struct complex_number *line, size_t stride, const struct lines *l)
{
    struct complex_number *copy = l->copy;
    for (unsigned i = 0; i < size; i++) {
        copy[i].re = line[i * stride].re;
        copy[i].im = -line[i * stride].im;
    }
    transform(copy, l->table);
    for (unsigned i = 0; i < size; i++) {
        line[i * stride].re = copy[i].re / size;
        line[i * stride].im = -copy[i].im / size;
    }
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, size), high = first_of(id + 1, o.threads, size);
    struct complex_number *copy =
        allocated(aligned_alloc(PAGE_BYTES, whole_pages((1 + o.flag) * size * sizeof *copy)));
    homenode_private(copy, (1 + o.flag) * size * sizeof *copy);
    if (o.flag)
        memcpy(copy + size, roots, size * sizeof *copy);
    const struct lines lines = {copy, o.flag ? copy + size : roots};
    for (unsigned row = low; row < high; row++)
        for (unsigned col = 0; col < size; col++) {
            struct complex_number x = input(row, col);
            array[row * size + col].re = x.re;
            array[row * size + col].im = x.im;
        }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned number = 0; number < o.iterations; number++) {
        void (*change)(struct complex_number *, size_t, const struct lines *) =
            number % 2 ? restore_line : transform_line;
        if (id == 0)
            homenode_phase(2 * number + 1);
        for (unsigned row = low; row < high; row++)
            change(&array[row * size], 1, &lines);
        meet();
        if (id == 0)
            homenode_phase(2 * number + 2);
        for (unsigned col = low; col < high; col++)
            change(&array[col], size, &lines);
        meet();
    }
    free(copy);
}

/* out[k] = sum over i of in[i * stride] * roots[i k], the transform by its definition. */
static UNRECORDED void by_definition(const struct complex_number *in, size_t stride,
                                     struct complex_number *out)
{
    for (unsigned k = 0; k < size; k++) {
        double re = 0, im = 0;
        for (unsigned i = 0; i < size; i++) {
            const struct complex_number *x = &in[i * stride], *w = &roots[i * k % size];
            re += x->re * w->re - x->im * w->im;
            im += x->re * w->im + x->im * w->re;
        }
        out[k * stride] = (struct complex_number){re, im};
    }
}

/* Computes the same by the definition, or the input again after an even number of transforms;
 * counts the elements that differ. */
static UNRECORDED uint64_t wrong_elements(void)
{
    size_t count = (size_t)size * size;
    struct complex_number *in = allocated(calloc(2 * count, sizeof *in)), *out = in + count;
    uint64_t wrong = 0;
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++)
            in[row * size + col] = input(row, col);
    for (unsigned row = 0; o.iterations % 2 && row < size; row++)
        by_definition(&in[row * size], 1, &out[row * size]);
    for (unsigned col = 0; o.iterations % 2 && col < size; col++)
        by_definition(&out[col], size, &in[col]);
    for (size_t i = 0; i < count; i++) {
        double error = fabs(in[i].re - array[i].re) + fabs(in[i].im - array[i].im);
        wrong += !(error < 1e-8 * size);
    }
    free(in);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler and mathematical library. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t i = 0; i < (size_t)size * size; i++) {
        sum = mix(sum, (uint64_t)(int64_t)floor(array[i].re * 1024 + 0.5));
        sum = mix(sum, (uint64_t)(int64_t)floor(array[i].im * 1024 + 0.5));
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&fft, argc, argv);
    size = o.size;
    if (size & (size - 1))
        refuse(&fft, "the size must be a power of two", "-n");
    array = allocated(aligned_alloc(PAGE_BYTES,
                                    whole_pages((size_t)size * size * sizeof *array)));
    roots = allocated(aligned_alloc(PAGE_BYTES, whole_pages(size * sizeof *roots)));
    for (unsigned k = 0; k < size; k++) {
        double angle = -2 * 3.14159265358979323846 * k / size;
        roots[k] = (struct complex_number){.re = cos(angle), .im = sin(angle)};
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        array[size + 1].re += 0.001;
    begin_check();
    int status = verdict(&fft, wrong_elements(), checksum());
    free(array);
    free(roots);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
