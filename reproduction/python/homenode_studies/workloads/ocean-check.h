/* How ocean-contig and ocean-noncontig check their result, and their main program.
 *
 * The check takes the same steps in one thread and solves the elliptic equations exactly, by sine
 * transforms: sin(pi k (i + 1/2) / n) for k from 1 to n are the eigenvectors of the operator.
 */
#ifndef OCEAN_CHECK_H
#define OCEAN_CHECK_H

/* Streams, potential vorticity, its last tendency and relative vorticity: grids with a border. */
struct again {
    double *psi[LAYERS], *v[LAYERS], *rate[LAYERS], *spin[LAYERS];
};

/* --- elliptic equations by sine transforms ---------------------------------------------------- */

/* out = transpose of (S in), S of n by n sines or, with `inverse`, its transpose. */
static UNRECORDED void half_transform(double *out, const double *in, const double *sines,
                                      bool inverse)
{
    size_t n = (size_t)side;
    double *line = allocated(calloc(n, sizeof *line));
    for (size_t k = 0; k < n; k++) {
        for (size_t i = 0; i < n; i++) {
            double factor = inverse ? sines[i * n + k] : sines[k * n + i];
            /* Not cleared first: a call of memset would be recorded. */
            for (size_t j = 0; j < n; j++)
                line[j] = (i > 0 ? line[j] : 0) + factor * in[i * n + j];
        }
        for (size_t j = 0; j < n; j++)
            out[j * n + k] = line[j];
    }
    free(line);
}

/* Replaces the right side by the solution; both n by n without border. */
static UNRECORDED void solve_again(double *grid, const double *sines, double lambda)
{
    size_t n = (size_t)side;
    double *other = allocated(calloc(n * n, sizeof *other));
    half_transform(other, grid, sines, false);
    half_transform(grid, other, sines, false);
    for (size_t at = 0; at < n * n; at++) {
        size_t k = at / n, l = at % n;
        double a = 2 * side * sin(1.57079632679489661923 * (double)(k + 1) / side);
        double b = 2 * side * sin(1.57079632679489661923 * (double)(l + 1) / side);
        double norm = (k + 1 < n ? 2.0 : 1.0) * (l + 1 < n ? 2.0 : 1.0) / ((double)n * (double)n);
        grid[at] *= -norm / (a * a + b * b + lambda);
    }
    half_transform(other, grid, sines, true);
    half_transform(grid, other, sines, true);
    free(other);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* Index of a cell in a grid with a border. */
static UNRECORDED ptrdiff_t index_of(int row, int column)
{
    return (ptrdiff_t)(row + 1) * (side + 2) + column + 1;
}

/* A cell of the border is the opposite of its neighbour within. */
static UNRECORDED void mirror_again(double *grid)
{
    for (int k = 0; k < side; k++) {
        grid[index_of(-1, k)] = -grid[index_of(0, k)];
        grid[index_of(side, k)] = -grid[index_of(side - 1, k)];
    }
    for (int k = -1; k <= side; k++) {
        grid[index_of(k, -1)] = -grid[index_of(k, 0)];
        grid[index_of(k, side)] = -grid[index_of(k, side - 1)];
    }
}

static UNRECORDED double laplacian_again(const double *grid, ptrdiff_t at)
{
    const ptrdiff_t w = side + 2;
    return (grid[at - 1] + grid[at + 1] + grid[at - w] + grid[at + w] - 4 * grid[at]) * side * side;
}

/* Arakawa's Jacobian as a sum over the eight neighbours' q: each counts with the p beside it. */
static UNRECORDED double jacobian_again(const double *p, const double *q, ptrdiff_t at)
{
    const ptrdiff_t w = side + 2;
    const ptrdiff_t around[8] = {1, w + 1, w, w - 1, -1, -w - 1, -w, 1 - w};
    double sum = 0;
    for (int k = 0; k < 8; k++) {
        double turn = p[at + around[(k + 7) % 8]] - p[at + around[(k + 1) % 8]];
        if (k % 2 == 0)
            turn += p[at + around[(k + 6) % 8]] - p[at + around[(k + 2) % 8]];
        sum += turn * q[at + around[k]];
    }
    return sum * side * side / 12;
}

static UNRECORDED void find_spin_again(const struct again *a)
{
    for (int layer = 0; layer < LAYERS; layer++) {
        mirror_again(a->psi[layer]);
        for (int k = 0; k < side * side; k++) {
            ptrdiff_t at = index_of(k / side, k % side);
            a->spin[layer][at] = laplacian_again(a->psi[layer], at);
        }
        mirror_again(a->spin[layer]);
    }
}

/* New potential vorticity of a layer; `change` is scratch, as large as a grid. */
static UNRECORDED void advance_again(const struct again *a, int layer, unsigned number,
                                     double *change)
{
    const double *p = a->psi[layer], *s = a->spin[layer];
    double *v = a->v[layer], *rate = a->rate[layer];
    mirror_again(v);
    for (int k = 0; k < side * side; k++) {
        ptrdiff_t at = index_of(k / side, k % side);
        double now = viscosity * laplacian_again(s, at) - jacobian_again(p, v, at)
                     - (p[at + 1] - p[at - 1]) / 2 * side;
        now += layer == 0 ? wind_at(k / side) : -bottom_drag * s[at];
        change[at] = step * (number > 0 ? 1.5 * now - 0.5 * rate[at] : now);
        rate[at] = now;
    }
    for (int k = 0; k < side * side; k++)
        v[index_of(k / side, k % side)] += change[index_of(k / side, k % side)];
}

/* Streams from the potential vorticities. */
static UNRECORDED void invert_again(const struct again *a, const double *sines, double *sum,
                                    double *difference)
{
    for (int k = 0; k < side * side; k++) {
        ptrdiff_t at = index_of(k / side, k % side);
        sum[k] = a->v[0][at] + a->v[1][at];
        difference[k] = a->v[0][at] - a->v[1][at];
    }
    solve_again(sum, sines, 0);
    solve_again(difference, sines, 2 * coupling);
    for (int k = 0; k < side * side; k++) {
        ptrdiff_t at = index_of(k / side, k % side);
        a->psi[0][at] = (sum[k] + difference[k]) / 2;
        a->psi[1][at] = (sum[k] - difference[k]) / 2;
    }
}

static UNRECORDED void run_again(const struct again *a, double *scratch, const double *sines)
{
    size_t grid = (size_t)index_of(side, side + 1);
    for (int k = 0; k < LAYERS * side * side; k++) {
        int layer = k / (side * side), row = k / side % side, column = k % side;
        a->psi[layer][index_of(row, column)] = input(layer, row, column);
    }
    find_spin_again(a);
    for (int k = 0; k < side * side; k++) {
        ptrdiff_t at = index_of(k / side, k % side);
        double stretch = coupling * (a->psi[0][at] - a->psi[1][at]);
        a->v[0][at] = a->spin[0][at] - stretch;
        a->v[1][at] = a->spin[1][at] + stretch;
    }
    for (unsigned number = 0; number < o.iterations; number++) {
        find_spin_again(a);
        for (int layer = 0; layer < LAYERS; layer++)
            advance_again(a, layer, number, scratch);
        invert_again(a, sines, scratch, scratch + grid);
    }
}

/* Counts the cells whose streams differ. */
static UNRECORDED uint64_t wrong_cells(void)
{
    size_t n = (size_t)side, grid = (size_t)index_of(side, side + 1);
    double *memory = allocated(calloc(10 * grid + n * n, sizeof *memory)), *next = memory;
    double *sines = memory + 10 * grid;
    struct again a;
    uint64_t wrong = 0;
    for (int layer = 0; layer < LAYERS; layer++, next += 4 * grid) {
        a.psi[layer] = next;
        a.v[layer] = next + grid;
        a.rate[layer] = next + 2 * grid;
        a.spin[layer] = next + 3 * grid;
    }
    for (size_t at = 0; at < n * n; at++)
        sines[at] = sin(3.14159265358979323846 / (double)(2 * n)
                        * (double)((at / n + 1) * (2 * (at % n) + 1) % (4 * n)));
    run_again(&a, next, sines);
    for (int k = 0; k < LAYERS * side * side; k++) {
        int layer = k / (side * side), row = k / side % side, column = k % side;
        double error = a.psi[layer][index_of(row, column)] - *cell_of(&psi[layer], row, column);
        wrong += !(fabs(error) < 1e-7);
    }
    free(memory);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler and mathematical library. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (int k = 0; k < LAYERS * side * side; k++) {
        double value = *cell_of(&psi[k / (side * side)], k / side % side, k % side);
        sum = mix(sum, (uint64_t)(int64_t)floor(value * 1048576 + 0.5));
    }
    return sum;
}

/* --- memory ----------------------------------------------------------------------------------- */

/* Lets `count` grids lie in `memory`, all 0; returns what follows them. */
static char *place(struct field *fields, int count, char *memory, int cells)
{
    size_t bytes = field_bytes(cells);
    memset(memory, 0, (size_t)count * bytes);
    for (int k = 0; k < count; k++, memory += bytes)
        fields[k] = (struct field){(double *)(void *)memory, cells};
    return memory;
}

static void place_levels(struct field *fields, char *memory)
{
    for (int level = 0; level < levels; level++)
        memory = place(&fields[level], 1, memory, side >> level);
}

/* The groups of grids have the paper's names; the residual is ours. */
ALLOCATES double *new_fields(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_fields2(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_wrk(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_frcng(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_q_multi(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_rhs_multi(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

ALLOCATES double *new_residual(size_t bytes)
{
    double *cells = allocated(aligned_alloc(page, bytes));
    return cells;
}

static void make_grids(void)
{
    size_t one = field_bytes(side), all = 0;
    for (levels = 0; levels < LEVELS_MAX && side >> levels >= COARSEST; levels++)
        all += field_bytes(side >> levels);
    void *fields = new_fields((LAYERS + 2 * LAYERS) * one);
    void *fields2 = new_fields2(LAYERS * one);
    void *wrk = new_wrk(2 * LAYERS * one);
    void *frcng = new_frcng(one);
    void *q = new_q_multi(all), *rhs = new_rhs_multi(all), *left = new_residual(all);
    char *rest = place(psi, LAYERS, fields, side);
    rest = place(vorticity[0], LAYERS, rest, side);
    place(vorticity[1], LAYERS, rest, side);
    place(tendency, LAYERS, fields2, side);
    rest = place(spin, LAYERS, wrk, side);
    place(mode, LAYERS, rest, side);
    place(&forcing, 1, frcng, side);
    place_levels(q_multi, q);
    place_levels(rhs_multi, rhs);
    place_levels(residual, left);
}

static void free_grids(void)
{
    const struct field *first[] = {psi, tendency, spin, &forcing, q_multi, rhs_multi, residual};
    for (size_t k = 0; k < sizeof first / sizeof *first; k++)
        free(first[k]->cells);
}

/* Divides the threads into rows and columns of tiles as nearly equal as their number lets. */
static void divide_threads(void)
{
    int threads = (int)o.threads;
    for (int k = 1; k * k <= threads; k++)
        if (threads % k == 0)
            down = k;
    across = threads / down;
}

static int run(const struct workload *w, int argc, char **argv)
{
    o = parse_options(w, argc, argv);
    side = (int)o.size - 2;
    if (side & (side - 1))
        refuse(w, "the size must be 2 more than a power of two", "-n");
    page = o.values[0];
    if (page & (page - 1))
        refuse(w, "the bytes in a page must be a power of two", "--page");
    if (o.iterations > STEPS_MAX)
        refuse(w, "what the equations leave may add up after more than 50 steps", "-i");
    divide_threads();
    make_grids();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        *cell_of(&psi[0], 1, 1) += 0.001;
    begin_check();
    int status = verdict(w, wrong_cells(), checksum());
    free_grids();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}

#endif
