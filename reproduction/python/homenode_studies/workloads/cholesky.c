/* cholesky: factor of a sparse matrix, supernode by supernode, from a task queue.
 *
 * Computes L with L L' = A. A is the matrix of a network of random conductances on a square grid,
 * numbered by nested dissection; adjacent columns of L with the same rows below them form a
 * supernode, stored as one dense panel. A task completes a supernode (dense factorisation of its
 * panel) and subtracts what it contributes from all later supernodes that share rows with it; one
 * that has received all its contributions becomes a task itself.
 *
 * Sharing: whichever thread is free takes the next task, so a panel is written by all threads that
 * contribute to it, one after another, and then read by one. What moves is a piece of a panel; the
 * panels lie side by side, so a block larger than a panel holds several that are in use at once.
 * The index lists are written once and read by all; the two work arrays of a thread are private.
 *
 * Source: Bolosky's thesis, section 2.2.9 (cholesky of SPLASH, by E. Rothberg): supernodal fan-out,
 * task queue, no attention to locality. Ours: own code from the published method; its matrix is
 * a grid because the files that came with SPLASH are not ours to pass on. Contributions are added
 * in fixed point, so that the result does not depend on the order in which they arrive.
 */
#include "workload.h"

#include <math.h>

static const struct workload cholesky = {
    .name = "cholesky",
    .summary = "Cholesky factor of a sparse matrix, supernodes from a task queue",
    .size_help = "side of the grid, whose points are the unknowns",
    .size_default = 96, .size_quick = 16, .size_min = 2, .size_max = 1000,
};

enum { WIDTH_MAX = 16, LEAF = 3 };

/* Fixed point: multiples of 2^-40. No element of the matrix exceeds 8 in size. */
#define UNIT 1099511627776.0

/* Fixed point while contributions arrive, floating point when the supernode is complete. */
union element {
    int64_t sum;
    double value;
};

struct supernode {
    unsigned first, width;      /* columns first .. first + width - 1 */
    unsigned height;            /* rows of the panel, those of its own columns first */
    unsigned waiting;           /* supernodes that have yet to contribute */
    unsigned *rows;             /* their numbers, ascending */
    union element *panel;       /* column after column */
    pthread_mutex_t lock;       /* for panel and waiting, until the supernode is a task */
};

/* Where column j of L has elements below the diagonal. */
struct column {
    unsigned count, *rows;
    unsigned first_child, next_child; /* in the elimination tree; UINT_MAX: none */
};

static struct options o;
static unsigned side, unknowns, supernodes;
static unsigned *number_of; /* grid point to unknown */
static unsigned *point_of;  /* and back */
static unsigned *owner_of;  /* unknown to supernode */
static struct supernode *nodes;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_changed = PTHREAD_COND_INITIALIZER;
static unsigned *queue, queue_first, queue_end; /* every supernode is in it once */

/* --- the matrix ------------------------------------------------------------------------------- */

/* The up to four neighbours of a grid point. */
static UNRECORDED unsigned neighbours(unsigned point, unsigned found[4])
{
    unsigned count = 0, row = point / side, col = point % side;
    if (row > 0)
        found[count++] = point - side;
    if (col > 0)
        found[count++] = point - 1;
    if (col + 1 < side)
        found[count++] = point + 1;
    if (row + 1 < side)
        found[count++] = point + side;
    return count;
}

/* Conductance between two neighbours, from 0.5 to 1.5. */
static UNRECORDED double conductance(unsigned p, unsigned q)
{
    unsigned low = p < q ? p : q, high = p < q ? q : p;
    uint64_t bits = random_at(o.seed, 2 * (uint64_t)low + (high - low == 1));
    return 0.5 + (double)(bits >> 40) / 16777216;
}

/* Element of A between unknowns i and j, which are equal or neighbours. */
static UNRECORDED double input(unsigned i, unsigned j)
{
    if (i != j)
        return -conductance(point_of[i], point_of[j]);
    unsigned near[4], count = neighbours(point_of[i], near);
    double sum = 1;
    for (unsigned k = 0; k < count; k++)
        sum += conductance(point_of[i], near[k]);
    return sum;
}

static inline int64_t fixed(double x)
{
    return (int64_t)(x * UNIT);
}

/* Numbers a rectangle of the grid from `next` on: two halves, and then what separates them. */
static UNRECORDED unsigned dissect(unsigned top, unsigned left, unsigned rows, unsigned cols,
                                   unsigned next)
{
    if (rows == 0 || cols == 0)
        return next;
    if (rows <= LEAF && cols <= LEAF) {
        for (unsigned row = top; row < top + rows; row++)
            for (unsigned col = left; col < left + cols; col++)
                number_of[row * side + col] = next++;
        return next;
    }
    unsigned half = (rows > cols ? rows : cols) / 2;
    if (rows > cols) {
        next = dissect(top, left, half, cols, next);
        next = dissect(top + half + 1, left, rows - half - 1, cols, next);
        for (unsigned col = left; col < left + cols; col++)
            number_of[(top + half) * side + col] = next++;
    } else {
        next = dissect(top, left, rows, half, next);
        next = dissect(top, left + half + 1, rows, cols - half - 1, next);
        for (unsigned row = top; row < top + rows; row++)
            number_of[row * side + left + half] = next++;
    }
    return next;
}

/* --- symbolic factorisation, by one thread and in no trace ------------------------------------ */

static UNRECORDED int compare(const void *left, const void *right)
{
    unsigned x = *(const unsigned *)left, y = *(const unsigned *)right;
    return (x > y) - (x < y);
}

/* Rows of column j: its neighbours in A and the rows of its children, those after j. */
static UNRECORDED void find_rows(struct column *columns, unsigned j, unsigned *seen, unsigned *rows)
{
    unsigned near[4], count = 0, beside = neighbours(point_of[j], near);
    seen[j] = j;
    for (unsigned k = 0; k < beside; k++) {
        unsigned i = number_of[near[k]];
        if (i > j && seen[i] != j) {
            seen[i] = j;
            rows[count++] = i;
        }
    }
    for (unsigned c = columns[j].first_child; c != UINT32_MAX; c = columns[c].next_child)
        for (unsigned k = 0; k < columns[c].count; k++)
            if (seen[columns[c].rows[k]] != j) {
                seen[columns[c].rows[k]] = j;
                rows[count++] = columns[c].rows[k];
            }
    qsort(rows, count, sizeof *rows, compare);
    columns[j].count = count;
    columns[j].rows = allocated(malloc((count + 1) * sizeof *rows));
    for (unsigned k = 0; k < count; k++)
        columns[j].rows[k] = rows[k];
    if (count > 0) {
        columns[j].next_child = columns[rows[0]].first_child;
        columns[rows[0]].first_child = j;
    }
}

/* Does column j + 1 have the same rows below itself as column j? */
static UNRECORDED bool same_rows(const struct column *columns, unsigned j)
{
    return columns[j].count > 0 && columns[j].rows[0] == j + 1
           && columns[j + 1].count + 1 == columns[j].count;
}

/* Makes the supernodes of the columns, and counts who contributes to whom. */
static UNRECORDED void form_supernodes(const struct column *columns)
{
    for (unsigned j = 0; j < unknowns; supernodes++) {
        struct supernode *s = &nodes[supernodes];
        unsigned end = j + 1;
        while (end < unknowns && end - j < WIDTH_MAX && same_rows(columns, end - 1))
            end++;
        *s = (struct supernode){.first = j, .width = end - j, .height = columns[j].count + 1};
        s->rows = allocated(malloc(s->height * sizeof *s->rows));
        s->rows[0] = j;
        for (unsigned k = 0; k < columns[j].count; k++)
            s->rows[k + 1] = columns[j].rows[k];
        s->panel = allocated(calloc((size_t)s->height * s->width, sizeof *s->panel));
        must(pthread_mutex_init(&s->lock, NULL), "pthread_mutex_init");
        for (; j < end; j++)
            owner_of[j] = supernodes;
    }
    for (unsigned index = 0; index < supernodes; index++) {
        const struct supernode *s = &nodes[index];
        for (unsigned r = s->width; r < s->height; r++)
            if (r == s->width || owner_of[s->rows[r]] != owner_of[s->rows[r - 1]])
                nodes[owner_of[s->rows[r]]].waiting++;
    }
}

static UNRECORDED void analyse(void)
{
    struct column *columns = allocated(calloc(unknowns, sizeof *columns));
    unsigned *seen = allocated(malloc(2 * (size_t)unknowns * sizeof *seen));
    dissect(0, 0, side, side, 0);
    for (unsigned point = 0; point < unknowns; point++)
        point_of[number_of[point]] = point;
    for (unsigned j = 0; j < unknowns; j++) {
        columns[j].first_child = columns[j].next_child = seen[j] = UINT32_MAX;
    }
    for (unsigned j = 0; j < unknowns; j++)
        find_rows(columns, j, seen, seen + unknowns);
    form_supernodes(columns);
    for (unsigned j = 0; j < unknowns; j++)
        free(columns[j].rows);
    free(columns);
    free(seen);
}

/* --- numeric factorisation -------------------------------------------------------------------- */

static void put(unsigned index)
{
    pthread_mutex_lock(&queue_lock);
    queue[queue_end++] = index;
    if (queue_end == supernodes)
        pthread_cond_broadcast(&queue_changed);
    else
        pthread_cond_signal(&queue_changed);
    pthread_mutex_unlock(&queue_lock);
}

/* The next task, or NULL when all are taken. */
static struct supernode *take(void)
{
    struct supernode *task = NULL;
    pthread_mutex_lock(&queue_lock);
    while (queue_first == queue_end && queue_end < supernodes)
        pthread_cond_wait(&queue_changed, &queue_lock);
    if (queue_first < queue_end)
        task = &nodes[queue[queue_first++]];
    pthread_mutex_unlock(&queue_lock);
    return task;
}

/* Puts the elements of A into the panel, from the diagonal down. */
static void fill(struct supernode *s)
{
    for (unsigned k = 0; k < s->width; k++) {
        union element *column = s->panel + (size_t)k * s->height;
        unsigned j = s->first + k, near[4], count = neighbours(point_of[j], near);
        column[k].sum = fixed(input(j, j));
        for (unsigned r = k + 1; r < s->height; r++)
            for (unsigned m = 0; m < count; m++)
                if (number_of[near[m]] == s->rows[r])
                    column[r].sum = fixed(input(s->rows[r], j));
    }
}

/* Dense factorisation of a panel that has received everything. */
static void complete(struct supernode *s)
{
    unsigned height = s->height;
    for (unsigned k = 0; k < s->width; k++) {
        union element *column = s->panel + (size_t)k * height;
        for (unsigned r = k; r < height; r++)
            column[r].value = (double)column[r].sum / UNIT;
    }
    for (unsigned k = 0; k < s->width; k++) {
        union element *from = s->panel + (size_t)k * height;
        double root = sqrt(from[k].value);
        from[k].value = root;
        for (unsigned r = k + 1; r < height; r++)
            from[r].value /= root;
        for (unsigned j = k + 1; j < s->width; j++) {
            union element *to = s->panel + (size_t)j * height;
            double factor = from[j].value;
            for (unsigned r = j; r < height; r++)
                to[r].value -= from[r].value * factor;
        }
    }
}

/* Private memory of a thread. */
struct scratch {
    unsigned *place;    /* where a row of the giver lies in the receiver's panel */
    int64_t *column;    /* contribution to one column */
};

/* Subtracts what `s` contributes to `to`, whose columns are rows `low` .. `high` - 1 of `s`. */
static void contribute(const struct supernode *s, struct supernode *to, unsigned low, unsigned high,
                       struct scratch scratch)
{
    unsigned at = 0;
    for (unsigned r = low; r < s->height; r++) {
        while (to->rows[at] != s->rows[r])
            at++;
        scratch.place[r] = at;
    }
    for (unsigned c = low; c < high; c++) {
        for (unsigned r = c; r < s->height; r++) {
            const union element *panel = s->panel;
            double sum = 0;
            for (unsigned k = 0; k < s->width; k++, panel += s->height)
                sum += panel[r].value * panel[c].value;
            scratch.column[r] = fixed(sum);
        }
        union element *column = to->panel + (size_t)(s->rows[c] - to->first) * to->height;
        pthread_mutex_lock(&to->lock);
        for (unsigned r = c; r < s->height; r++)
            column[scratch.place[r]].sum -= scratch.column[r];
        bool ready = c + 1 == high && --to->waiting == 0;
        pthread_mutex_unlock(&to->lock);
        if (ready)
            put(owner_of[to->first]);
    }
}

static void work(unsigned id)
{
    size_t places = whole_pages(unknowns * sizeof(unsigned));
    size_t columns = whole_pages(unknowns * sizeof(int64_t));
    struct scratch scratch = {.place = allocated(aligned_alloc(PAGE_BYTES, places)),
                              .column = allocated(aligned_alloc(PAGE_BYTES, columns))};
    homenode_private(scratch.place, places);
    homenode_private(scratch.column, columns);
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (struct supernode *s = take(); s; s = take()) {
        complete(s);
        for (unsigned low = s->width, high; low < s->height; low = high) {
            unsigned owner = owner_of[s->rows[low]];
            for (high = low + 1; high < s->height && owner_of[s->rows[high]] == owner;)
                high++;
            contribute(s, &nodes[owner], low, high, scratch);
        }
    }
    meet();
    free(scratch.place);
    free(scratch.column);
}

/* --- check ------------------------------------------------------------------------------------ */

/* Compares A v with L (L' v) for a random v; counts the rows that differ. */
static UNRECORDED uint64_t wrong_rows(void)
{
    double *v = allocated(calloc(3 * (size_t)unknowns, sizeof *v));
    double *transposed = v + unknowns, *found = transposed + unknowns;
    uint64_t wrong = 0;
    for (unsigned i = 0; i < unknowns; i++)
        v[i] = 0.5 + (double)(random_at(o.seed, 4 * (uint64_t)unknowns + i) >> 40) / 16777216;
    for (unsigned pass = 0; pass < 2; pass++)
        for (unsigned index = 0; index < supernodes; index++) {
            const struct supernode *s = &nodes[index];
            for (unsigned k = 0; k < s->width; k++)
                for (unsigned r = k; r < s->height; r++) {
                    double value = s->panel[(size_t)k * s->height + r].value;
                    if (pass == 0)
                        transposed[s->first + k] += value * v[s->rows[r]];
                    else
                        found[s->rows[r]] += value * transposed[s->first + k];
                }
        }
    for (unsigned i = 0; i < unknowns; i++) {
        unsigned near[4], count = neighbours(point_of[i], near);
        double expected = input(i, i) * v[i];
        for (unsigned k = 0; k < count; k++)
            expected += input(i, number_of[near[k]]) * v[number_of[near[k]]];
        wrong += !(fabs(expected - found[i]) < 1e-6);
    }
    free(v);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler and mathematical library. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned index = 0; index < supernodes; index++) {
        const struct supernode *s = &nodes[index];
        for (unsigned k = 0; k < s->width; k++)
            for (unsigned r = k; r < s->height; r++) {
                double value = s->panel[(size_t)k * s->height + r].value;
                sum = mix(sum, (uint64_t)(int64_t)floor(value * 65536 + 0.5));
            }
    }
    return sum;
}

static UNRECORDED void release(void)
{
    for (unsigned index = 0; index < supernodes; index++) {
        free(nodes[index].rows);
        free(nodes[index].panel);
        must(pthread_mutex_destroy(&nodes[index].lock), "pthread_mutex_destroy");
    }
    free(nodes);
    free(queue);
    free(number_of);
}

int main(int argc, char **argv)
{
    o = parse_options(&cholesky, argc, argv);
    side = o.size;
    unknowns = side * side;
    number_of = allocated(malloc(3 * (size_t)unknowns * sizeof *number_of));
    point_of = number_of + unknowns;
    owner_of = point_of + unknowns;
    nodes = allocated(calloc(unknowns, sizeof *nodes));
    queue = allocated(calloc(unknowns, sizeof *queue));
    analyse();
    for (unsigned index = 0; index < supernodes; index++) {
        fill(&nodes[index]);
        if (nodes[index].waiting == 0)
            put(index);
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        nodes[supernodes / 2].panel[0].value += 0.01;
    begin_check();
    int status = verdict(&cholesky, wrong_rows(), checksum());
    release();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
