/* fft-in-place: passes of a two-dimensional fast Fourier transform in shared memory.
 *
 * Every row of a square array of complex numbers is transformed, then every column, then the rows
 * back, then the columns back, and so on, as many passes as asked for (-i). A line is transformed
 * where it is (radix 2). Real and imaginary parts are arrays of their own, of 4-byte numbers.
 *
 * Sharing: lines are dealt out to threads like cards. When columns are transformed, adjacent words
 * belong to different threads and are written as often as they are read; when rows are, so do
 * adjacent rows. Within a pass no word has two users. Each thread has its own table of the roots of
 * unity, in private memory.
 *
 * Source: Markatos and Chronaki, section 3.1.1 (FFT), a FORTRAN program with 64 processors. Their
 * table 2 shows what it does to memory: half of its shared references write, nearly all of these to
 * pages that others hold, and a page of 16 words has 14 copies. Ours: own code.
 */
#include "workload.h"

#include <math.h>

static const struct workload fft_in_place = {
    .name = "fft-in-place",
    .summary = "Passes of a two-dimensional fast Fourier transform in shared memory",
    .size_help = "rows and columns, a power of two",
    .size_default = 256, .size_quick = 32, .size_min = 2, .size_max = 1024,
    .iterations_default = 2, .iterations_quick = 3,
};

enum { PASSES_MAX = 1000 }; /* rounding errors add up */

struct complex_number {
    float re, im;
};

static struct options o;
static unsigned size;
static float *real, *imaginary;      /* the array, row after row */
static struct complex_number *roots; /* exp(-2 pi i k / size) for k < size */

static UNRECORDED struct complex_number input(unsigned row, unsigned col)
{
    uint64_t bits = random_at(o.seed, (uint64_t)row * size + col);
    return (struct complex_number){.re = (float)(bits >> 48) / 65536 - 0.5F,
                                   .im = (float)(bits & 0xffff) / 65536 - 0.5F};
}

/* --- a line ----------------------------------------------------------------------------------- */

/* Elements `stride` apart. */
struct line {
    float *re, *im;
    size_t stride;
};

static inline void swap(float *x, float *y)
{
    float was = *x;
    *x = *y;
    *y = was;
}

/* Swaps every element with the one whose index has the bits reversed. */
static void reverse_bits(struct line line, unsigned count)
{
    for (unsigned i = 1, j = 0; i < count; i++) {
        unsigned bit = count / 2;
        for (; j & bit; bit /= 2)
            j ^= bit;
        j |= bit;
        if (i < j) {
            swap(&line.re[i * line.stride], &line.re[j * line.stride]);
            swap(&line.im[i * line.stride], &line.im[j * line.stride]);
        }
    }
}

/* Makes sum and difference of an element and `root` times the one `apart` further on. */
static inline void combine(struct line at, size_t apart, struct complex_number root, float scale)
{
    float re = at.re[apart], im = at.im[apart], low_re = at.re[0], low_im = at.im[0];
    struct complex_number turned = {re * root.re - im * root.im, re * root.im + im * root.re};
    at.re[0] = (low_re + turned.re) * scale;
    at.im[0] = (low_im + turned.im) * scale;
    at.re[apart] = (low_re - turned.re) * scale;
    at.im[apart] = (low_im - turned.im) * scale;
}

/* The transform, or with `back` its inverse. A root is fetched once for all pairs that need it. */
static void transform(struct line line, unsigned count, bool back,
                      const struct complex_number *table)
{
    reverse_bits(line, count);
    for (unsigned half = 1; half < count; half *= 2) {
        float scale = back && 2 * half == count ? 1.0F / (float)count : 1;
        for (unsigned k = 0; k < half; k++) {
            struct complex_number root = table[k * (count / (2 * half))];
            if (back)
                root.im = -root.im;
            for (unsigned i = k; i < count; i += 2 * half) {
                size_t at = i * line.stride;
                combine((struct line){line.re + at, line.im + at, 0}, half * line.stride, root,
                        scale);
            }
        }
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Pass 0 transforms rows, 1 columns; 2 and 3 undo them in turn. */
static bool by_columns(unsigned pass)
{
    return pass % 2;
}

static void work(unsigned id)
{
    const unsigned count = size, threads = o.threads, passes = o.iterations;
    float *re = real, *im = imaginary;
    size_t bytes = whole_pages(count * sizeof *roots);
    struct complex_number *table = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(table, bytes);
    memcpy(table, roots, count * sizeof *roots);
    for (unsigned row = id; row < count; row += threads)
        for (unsigned col = 0; col < count; col++) {
            struct complex_number x = input(row, col);
            re[(size_t)row * count + col] = x.re;
            im[(size_t)row * count + col] = x.im;
        }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned pass = 0; pass < passes; pass++) {
        size_t stride = by_columns(pass) ? count : 1, next = by_columns(pass) ? 1 : count;
        if (id == 0)
            homenode_phase(pass + 1);
        for (unsigned each = id; each < count; each += threads) {
            struct line line = {re + each * next, im + each * next, stride};
            transform(line, count, pass / 2 % 2, table);
        }
        meet();
    }
    free(table);
}

/* --- check: by the definition of the transform, in double precision --------------------------- */

/* The lines of `in` in one direction, transformed by the definition. */
static UNRECORDED void by_definition(const double *in, double *out, bool columns,
                                     const double *wave)
{
    size_t stride = columns ? size : 1, next = columns ? 1 : size;
    for (size_t each = 0; each < size; each++)
        for (size_t k = 0; k < size; k++) {
            double re = 0, im = 0;
            for (size_t i = 0; i < size; i++) {
                const double *x = in + 2 * (each * next + i * stride);
                const double *root = wave + 2 * (i * k % size);
                re += x[0] * root[0] - x[1] * root[1];
                im += x[0] * root[1] + x[1] * root[0];
            }
            out[2 * (each * next + k * stride)] = re;
            out[2 * (each * next + k * stride) + 1] = im;
        }
}

/* Transforms rows or columns or both or none, as the passes did in effect; counts differences. */
static UNRECORDED uint64_t wrong_elements(void)
{
    size_t count = (size_t)size * size;
    double *memory = allocated(calloc(4 * count + 2 * (size_t)size, sizeof *memory));
    double *now = memory, *other = memory + 2 * count, *wave = other + 2 * count;
    unsigned undone = o.iterations % 4;
    uint64_t wrong = 0;
    for (size_t i = 0; i < count; i++) {
        struct complex_number x = input((unsigned)(i / size), (unsigned)(i % size));
        now[2 * i] = (double)x.re;
        now[2 * i + 1] = (double)x.im;
    }
    for (unsigned k = 0; k < size; k++) {
        double angle = -2 * 3.14159265358979323846 * k / size;
        wave[2 * k] = cos(angle);
        wave[2 * k + 1] = sin(angle);
    }
    for (unsigned columns = 0; columns < 2; columns++)
        if (columns ? undone >= 2 : undone == 1 || undone == 2) {
            by_definition(now, other, columns, wave);
            double *was = now;
            now = other;
            other = was;
        }
    for (size_t i = 0; i < count; i++) {
        double error = fabs(now[2 * i] - (double)real[i])
                       + fabs(now[2 * i + 1] - (double)imaginary[i]);
        wrong += !(error < 1e-5 * size);
    }
    free(memory);
    return wrong;
}

/* Over rounded values, so that it is the same with every mathematical library. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t i = 0; i < (size_t)size * size; i++) {
        sum = mix(sum, (uint64_t)(int64_t)floorf(real[i] * 16 + 0.5F));
        sum = mix(sum, (uint64_t)(int64_t)floorf(imaginary[i] * 16 + 0.5F));
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&fft_in_place, argc, argv);
    size = o.size;
    if (size & (size - 1))
        refuse(&fft_in_place, "the size must be a power of two", "-n");
    if (o.iterations > PASSES_MAX)
        refuse(&fft_in_place, "rounding errors may add up after more than 1000 passes", "-i");
    size_t bytes = whole_pages((size_t)size * size * sizeof *real);
    real = allocated(aligned_alloc(PAGE_BYTES, bytes));
    imaginary = allocated(aligned_alloc(PAGE_BYTES, bytes));
    roots = allocated(aligned_alloc(PAGE_BYTES, whole_pages(size * sizeof *roots)));
    for (unsigned k = 0; k < size; k++) {
        double angle = -2 * 3.14159265358979323846 * k / size;
        roots[k] = (struct complex_number){.re = (float)cos(angle), .im = (float)sin(angle)};
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        real[size + 1] += 0.1F;
    begin_check();
    int status = verdict(&fft_in_place, wrong_elements(), checksum());
    free(real);
    free(imaginary);
    free(roots);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
