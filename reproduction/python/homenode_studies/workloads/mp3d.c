/* mp3d: rarefied gas that flows past a plate, particle by particle.
 *
 * Moves particles through a space of cells. They enter at the front with a speed towards the back,
 * bounce off walls and a plate, and begin anew at the front when they leave at the back. Two
 * particles of a cell may collide, which exchanges some of their velocities' components.
 *
 * Sharing: each thread has a band of adjacent particles, not aligned to anything. Particles are
 * anywhere in space, so every thread writes to nearly all cells in every step, in no order: a cell
 * is used by a different thread each time, and a block by all of them. Nothing is locked: an
 * addition to a cell's sums may be lost. Partners of a collision belong to different threads as a
 * rule.
 *
 * Source: Bolosky's thesis, section 2.2.8, and Marchetti et al., section 3.3 (mp3d of SPLASH, by J.
 * McDonald): particles divided among processors statically, the space array without any locality,
 * locks of cells as an option that is off. Ours: own code; whole numbers, and a partner is claimed
 * by one thread alone, so that the check can repeat the steps if it knows who met whom.
 */
#include "workload.h"

static const struct workload mp3d = {
    .name = "mp3d",
    .summary = "Rarefied flow past a plate, particles in cells",
    .size_help = "particles",
    .size_default = 10000, .size_quick = 500, .size_min = 1, .size_max = 10000000,
    .iterations_default = 40, .iterations_quick = 6,
    .flag = "--locks", .flag_help = "lock each cell that is written to",
    .parameters = {{.name = "--clump", .help = "particles a thread takes in turn, 0: a band of all",
                    .initial = 0, .low = 0, .high = 4096}},
};

/* The space, in cells; the side of a cell; the plate is one cell thick. Outer cells, two deep, are
 * beyond the walls. */
enum { LONG = 24, WIDE = 14, HIGH = 7, CELLS = LONG * WIDE * HIGH, SIDE = 65536,
       BORDER = 2, PLATE = 8, PLATE_WIDTH = 7,
       OPEN = (LONG - 2 * BORDER) * (WIDE - 2 * BORDER) * (HIGH - 2 * BORDER) };

/* In 65,536 meetings of a step in a cell of mean density. */
enum { COLLISIONS = 1770 };

struct particle {
    int32_t x, y, z;    /* place: along the flow, across, up */
    int32_t u, v, w;    /* distance in a step */
    int32_t spin[2];
    uint32_t cell;
};

struct cell {
    uint32_t waiting;   /* particle to collide with, one more than its number; 0: none */
    uint32_t population, visits; /* in this step, in all before it */
    uint32_t chance;    /* of a collision, in 65,536 */
    int32_t flow[3];    /* sums over all steps: of velocities */
    uint32_t energy[3]; /* and of their squares */
};

static struct options o;
static struct particle *particles;
static struct cell *cells;
static pthread_mutex_t *locks; /* of the cells */
static uint32_t *partners; /* for the check: of a particle in a step, one more than its number */

/* --- the physics: functions of values --------------------------------------------------------- */

/* Random bits for a particle in a step; step 0 is its first entry. */
INLINED uint64_t ticket(unsigned number, unsigned step)
{
    return random_at(o.seed, (uint64_t)step * o.size + number);
}

/* Somewhere between the walls that are `cells` apart. */
INLINED int32_t place_in(uint64_t bits, unsigned wide)
{
    return (int32_t)(BORDER * SIDE + bits % ((wide - 2 * BORDER) * SIDE));
}

/* A particle somewhere in the space, on its way to the back: a tenth of a cell a step. */
INLINED struct particle entering(uint64_t bits)
{
    struct particle p;
    p.x = place_in(bits >> 40, LONG);
    p.y = place_in(bits, WIDE);
    p.z = place_in(bits >> 20, HIGH);
    p.u = SIDE / 10 + (int32_t)((bits >> 8) % (SIDE / 20)) - SIDE / 40;
    p.v = (int32_t)((bits >> 16) % (SIDE / 20)) - SIDE / 40;
    p.w = (int32_t)((bits >> 28) % (SIDE / 20)) - SIDE / 40;
    p.spin[0] = (int32_t)((bits >> 34) % SIDE) - SIDE / 2;
    p.spin[1] = (int32_t)((bits >> 12) % SIDE) - SIDE / 2;
    p.cell = 0;
    return p;
}

/* Is the place in the plate? */
INLINED bool in_plate(struct particle p)
{
    return p.x >= PLATE * SIDE && p.x < (PLATE + 1) * SIDE && p.y < PLATE_WIDTH * SIDE;
}

INLINED bool beyond(int32_t place, int wide)
{
    return place < BORDER * SIDE || place >= (wide - BORDER) * SIDE;
}

INLINED unsigned cell_of(int32_t x, int32_t y, int32_t z)
{
    return (unsigned)((y / SIDE * HIGH + z / SIDE) * LONG + x / SIDE);
}

/* The particle one step later. One that leaves enters at the front, elsewhere, with the speeds it
 * had; `bits` say where. */
INLINED struct particle moved(struct particle p, uint64_t bits)
{
    struct particle next = p;
    next.x += p.u;
    next.y += p.v;
    next.z += p.w;
    if (beyond(next.y, WIDE)) {
        next.y = p.y;
        next.v = -p.v;
    }
    if (beyond(next.z, HIGH)) {
        next.z = p.z;
        next.w = -p.w;
    }
    if (in_plate(next)) {
        next.x = p.x;
        next.u = -p.u;
    }
    if (beyond(next.x, LONG) || in_plate(next)) { /* it may have begun in the plate */
        next.x = BORDER * SIDE + (int32_t)((bits >> 40) % SIDE);
        next.y = place_in(bits, WIDE);
        next.z = place_in(bits >> 20, HIGH);
        next.u = p.u < 0 ? -p.u : p.u;
    }
    next.cell = cell_of(next.x, next.y, next.z);
    return next;
}

/* --- memory of all threads: what one may read while another writes it ------------------------- */

INLINED int32_t get(const int32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

INLINED void set(int32_t *to, int32_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

INLINED uint32_t get_count(const uint32_t *from)
{
    return __atomic_load_n(from, __ATOMIC_RELAXED);
}

INLINED void set_count(uint32_t *to, uint32_t value)
{
    __atomic_store_n(to, value, __ATOMIC_RELAXED);
}

/* What a thread wrote to a particle comes before it leaves it to others. Not recorded: the original
 * has no order but that of its processor. */
static UNRECORDED void in_order(void)
{
    __atomic_thread_fence(__ATOMIC_ACQ_REL);
}

INLINED void exchange(int32_t *x, int32_t *y)
{
    int32_t value = get(x);
    set(x, get(y));
    set(y, value);
}

/* Exchanges those components that `bits` say. */
INLINED void collide(struct particle *p, struct particle *q, uint64_t bits)
{
    if (bits & 1)
        exchange(&p->u, &q->u);
    if (bits & 2)
        exchange(&p->v, &q->v);
    if (bits & 4)
        exchange(&p->w, &q->w);
    if (bits & 8)
        exchange(&p->spin[0], &q->spin[0]);
    if (bits & 16)
        exchange(&p->spin[1], &q->spin[1]);
}

/* --- threads ---------------------------------------------------------------------------------- */

static UNRECORDED void remember(unsigned number, unsigned step, uint32_t partner)
{
    partners[(size_t)(step - 1) * o.size + number] = partner;
}

/* Stores a particle as it enters, number by number, as a recorder sees it. */
static void begin(unsigned number, unsigned step)
{
    struct particle p = entering(ticket(number, step)), *to = &particles[number];
    to->x = p.x;
    to->y = p.y;
    to->z = p.z;
    to->u = p.u;
    to->v = p.v;
    to->w = p.w;
    to->spin[0] = p.spin[0];
    to->spin[1] = p.spin[1];
    to->cell = cell_of(p.x, p.y, p.z);
}

static void make(struct cell *cell)
{
    cell->waiting = cell->population = cell->visits = cell->chance = 0;
    for (unsigned k = 0; k < 3; k++) {
        cell->flow[k] = 0;
        cell->energy[k] = 0;
    }
}

/* Adds a particle to the sums of its cell; an addition of another thread may be lost. */
INLINED void enter(struct cell *cell, struct particle p)
{
    set_count(&cell->population, get_count(&cell->population) + 1);
    set(&cell->flow[0], get(&cell->flow[0]) + p.u);
    set(&cell->flow[1], get(&cell->flow[1]) + p.v);
    set(&cell->flow[2], get(&cell->flow[2]) + p.w);
    set_count(&cell->energy[0], get_count(&cell->energy[0]) + (uint32_t)(p.u * p.u >> 12));
    set_count(&cell->energy[1], get_count(&cell->energy[1]) + (uint32_t)(p.v * p.v >> 12));
    set_count(&cell->energy[2], get_count(&cell->energy[2]) + (uint32_t)(p.w * p.w >> 12));
}

/* Lets a particle collide with the one that waits in its cell, or wait there itself. */
INLINED void meet_another(unsigned number, unsigned step, struct cell *cell, uint64_t bits)
{
    uint32_t partner = get_count(&cell->waiting);
    if (partner == 0) {
        in_order();
        set_count(&cell->waiting, number + 1);
    } else if ((bits & 65535) < cell->chance
               && __atomic_compare_exchange_n(&cell->waiting, &partner, 0, false,
                                              __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        in_order();
        collide(&particles[number], &particles[partner - 1], bits >> 16);
        remember(number, step, partner);
    }
}

/* Moves a particle, enters it in its cell, and lets it collide with who waits there, or wait. */
static void visit(unsigned number, unsigned step)
{
    struct particle *p = &particles[number];
    uint64_t bits = ticket(number, step);
    struct particle was = {p->x, p->y, p->z, get(&p->u), get(&p->v), get(&p->w), {0, 0}, p->cell};
    struct particle next = moved(was, bits);
    p->x = next.x;
    p->y = next.y;
    p->z = next.z;
    if (next.u != was.u)
        set(&p->u, next.u);
    if (next.v != was.v)
        set(&p->v, next.v);
    if (next.w != was.w)
        set(&p->w, next.w);
    if (next.cell != was.cell)
        p->cell = next.cell;
    struct cell *cell = &cells[next.cell];
    if (o.flag)
        pthread_mutex_lock(&locks[next.cell]);
    enter(cell, next);
    meet_another(number, step, cell, bits);
    if (o.flag)
        pthread_mutex_unlock(&locks[next.cell]);
}

/* Before a step: the denser a cell has been, the more of its particles collide. */
static void open_books(struct cell *cell, unsigned step)
{
    uint64_t chance = COLLISIONS;
    cell->visits += cell->population;
    if (step > 1)
        chance = (uint64_t)cell->visits * OPEN * COLLISIONS / ((uint64_t)(step - 1) * o.size);
    cell->chance = chance < 65536 ? (uint32_t)chance : 65536;
    cell->population = cell->waiting = 0;
}

/* A thread's particles: `length` adjacent ones, and as many again each `turn` further on. */
struct share {
    unsigned first, length, turn;
};

static struct share share_of(unsigned id)
{
    const unsigned clump = o.values[0], low = first_of(id, o.threads, o.size);
    if (clump)
        return (struct share){id * clump, clump, o.threads * clump};
    return (struct share){low, first_of(id + 1, o.threads, o.size) - low, o.size};
}

static void at_each(struct share share, unsigned step, void (*action)(unsigned, unsigned))
{
    for (unsigned low = share.first; low < o.size; low += share.turn)
        for (unsigned number = low; number < o.size && number < low + share.length; number++)
            action(number, step);
}

static void work(unsigned id)
{
    const struct share share = share_of(id);
    unsigned first = first_of(id, o.threads, CELLS), end = first_of(id + 1, o.threads, CELLS);
    at_each(share, 0, begin);
    for (unsigned at = first; at < end; at++)
        make(&cells[at]);
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 1; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step);
        for (unsigned at = first; at < end; at++)
            open_books(&cells[at], step);
        meet();
        at_each(share, step, visit);
        meet();
    }
}

/* --- check ------------------------------------------------------------------------------------ */

/* What the same collisions make of the particles, by one thread. */
struct again {
    struct particle *particles;
    struct cell *cells;
    unsigned *met; /* last step in which a particle collided */
};

/* A particle collides once a step at most, after it and its partner have moved, so their order does
 * not matter. Counts collisions that cannot be. */
static UNRECORDED uint64_t step_again(struct again *again, unsigned step)
{
    uint64_t wrong = 0;
    for (unsigned number = 0; number < o.size; number++) {
        struct particle *p = &again->particles[number];
        *p = moved(*p, ticket(number, step));
        enter(&again->cells[p->cell], *p);
    }
    for (unsigned number = 0; number < o.size; number++) {
        uint32_t partner = partners[(size_t)(step - 1) * o.size + number];
        if (partner == 0)
            continue;
        struct particle *p = &again->particles[number], *q = &again->particles[partner - 1];
        wrong += p == q || p->cell != q->cell || again->met[number] == step
                 || again->met[partner - 1] == step;
        again->met[number] = again->met[partner - 1] = step;
        collide(p, q, ticket(number, step) >> 16);
    }
    return wrong;
}

/* Particles must be the same; of what cells have counted some may be lost where threads race. */
static UNRECORDED uint64_t wrong_elements(void)
{
    uint64_t wrong = 0, visits = 0;
    struct again again = {allocated(calloc(o.size, sizeof *particles)),
                          allocated(calloc(CELLS, sizeof *cells)),
                          allocated(calloc(o.size, sizeof *again.met))};
    for (unsigned number = 0; number < o.size; number++)
        again.particles[number] = entering(ticket(number, 0));
    for (unsigned step = 1; step <= o.iterations; step++)
        wrong += step_again(&again, step);
    for (unsigned number = 0; number < o.size; number++)
        wrong += memcmp(&again.particles[number], &particles[number], sizeof *particles) != 0;
    for (unsigned at = 0; at < CELLS; at++) {
        const struct cell *is = &cells[at], *must_be = &again.cells[at];
        uint32_t counted = is->visits + is->population;
        bool same = counted == must_be->population
                    && memcmp(is->flow, must_be->flow, sizeof is->flow) == 0
                    && memcmp(is->energy, must_be->energy, sizeof is->energy) == 0;
        wrong += o.flag || o.threads == 1 ? !same : counted > must_be->population;
        visits += counted;
    }
    wrong += visits < (uint64_t)o.size * o.iterations / 2;
    free(again.particles);
    free(again.cells);
    free(again.met);
    return wrong;
}

/* Of what no order of collisions changes: how fast particles are along each axis. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned number = 0; number < o.size; number++) {
        const struct particle *p = &particles[number];
        const int32_t all[] = {p->u, p->v, p->w};
        for (unsigned k = 0; k < 3; k++)
            sum += mix(mix(CHECKSUM_START, k), (uint64_t)(all[k] < 0 ? -(int64_t)all[k] : all[k]));
        for (unsigned k = 0; k < 2; k++)
            sum += mix(mix(CHECKSUM_START, 3 + k), (uint32_t)p->spin[k]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&mp3d, argc, argv);
    particles = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *particles)));
    cells = allocated(aligned_alloc(PAGE_BYTES, whole_pages(CELLS * sizeof *cells)));
    locks = allocated(aligned_alloc(PAGE_BYTES, whole_pages(CELLS * sizeof *locks)));
    for (unsigned at = 0; at < CELLS; at++)
        must(pthread_mutex_init(&locks[at], NULL), "pthread_mutex_init");
    partners = allocated(calloc((size_t)o.size * o.iterations, sizeof *partners));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        particles[o.size / 2].u++;
    begin_check();
    int status = verdict(&mp3d, wrong_elements(), checksum());
    free(particles);
    free(cells);
    for (unsigned at = 0; at < CELLS; at++)
        must(pthread_mutex_destroy(&locks[at]), "pthread_mutex_destroy");
    free(locks);
    free(partners);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
