/* mp3d: rarefied gas that flows past a plate, particle by particle.
 *
 * Moves particles through a space of cells. They enter at the front with a speed towards the back,
 * bounce off walls and a plate, and begin anew at the front when they leave at the back. Two
 * particles of a cell may collide, which exchanges some of their velocities' components.
 *
 * Sharing: each thread has a band of adjacent particles, not aligned to anything. Particles are
 * anywhere in space, so every thread writes to nearly all cells in every step, in no order: a cell
 * is used by a different thread each time, and a block by all of them. Partners of a collision
 * belong to different threads as a rule. The locks of the cells are used as often as the cells.
 *
 * Source: Bolosky's thesis, section 2.2.8 (mp3d of SPLASH, by J. McDonald): particles divided
 * among processors statically, the space array without any locality. Ours: own code; integers, so
 * that results are exact; colliding partners are the two that random numbers choose among all in
 * a cell, where SPLASH's take whoever came last, which depends on the order of threads.
 */
#include "workload.h"

static const struct workload mp3d = {
    .name = "mp3d",
    .summary = "Rarefied flow past a plate, particles in cells",
    .size_help = "particles",
    .size_default = 10000, .size_quick = 500, .size_min = 1, .size_max = 10000000,
    .iterations_default = 40, .iterations_quick = 6,
};

/* The space, in cells; the side of a cell; the plate is one cell thick. */
enum { LONG = 24, WIDE = 14, HIGH = 7, CELLS = LONG * WIDE * HIGH, SIDE = 65536,
       PLATE = 8, PLATE_WIDTH = 7, LOCKS = 512 };

struct particle {
    int32_t x, y, z;    /* place: along the flow, across, up */
    int32_t u, v, w;    /* distance in a step */
    int32_t spin;
};

struct cell {
    uint32_t population;
    uint32_t lowest, highest;           /* particles with the extreme tickets, one more than their
                                           numbers; 0: none */
    uint32_t low_ticket, high_ticket;
    int32_t flow[3];                    /* sum of velocities */
    uint64_t visits;                    /* particles in all steps, for the density */
};

static struct options o;
static struct particle *particles;
static struct cell *cells;
static pthread_mutex_t locks[LOCKS];

/* --- the physics: functions of values --------------------------------------------------------- */

/* Random bits for a particle in a step; step 0 is its first entry. */
INLINED uint64_t ticket(unsigned number, unsigned step)
{
    return random_at(o.seed, (uint64_t)step * o.size + number);
}

/* A particle somewhere in the space, or at its front, on its way to the back. */
INLINED struct particle entering(uint64_t bits, bool anywhere)
{
    struct particle p;
    p.x = anywhere ? (int32_t)((bits >> 40) % (LONG * SIDE)) : (int32_t)((bits >> 40) % SIDE);
    p.y = (int32_t)(bits % (WIDE * SIDE));
    p.z = (int32_t)((bits >> 20) % (HIGH * SIDE));
    p.u = SIDE / 4 + (int32_t)((bits >> 8) % (SIDE / 4));
    p.v = (int32_t)((bits >> 16) % (SIDE / 4)) - SIDE / 8;
    p.w = (int32_t)((bits >> 28) % (SIDE / 4)) - SIDE / 8;
    p.spin = (int32_t)((bits >> 34) % SIDE) - SIDE / 2;
    return p;
}

/* Is the place in the plate? */
INLINED bool in_plate(struct particle p)
{
    return p.x >= PLATE * SIDE && p.x < (PLATE + 1) * SIDE && p.y < PLATE_WIDTH * SIDE;
}

/* The particle one step later; `bits` for one that has to enter again. */
INLINED struct particle moved(struct particle p, uint64_t bits)
{
    struct particle next = p;
    next.x += p.u;
    next.y += p.v;
    next.z += p.w;
    if (next.y < 0 || next.y >= WIDE * SIDE) {
        next.y = p.y;
        next.v = -p.v;
    }
    if (next.z < 0 || next.z >= HIGH * SIDE) {
        next.z = p.z;
        next.w = -p.w;
    }
    if (in_plate(next)) {
        next.x = p.x;
        next.u = -p.u;
    }
    bool stuck = in_plate(next); /* it entered there, or slid in */
    return next.x < 0 || next.x >= LONG * SIDE || stuck ? entering(bits, false) : next;
}

INLINED unsigned cell_of(int32_t x, int32_t y, int32_t z)
{
    return (unsigned)((x / SIDE * WIDE + y / SIDE) * HIGH + z / SIDE);
}

INLINED void exchange(int32_t *x, int32_t *y)
{
    int32_t value = *x;
    *x = *y;
    *y = value;
}

/* Exchanges those components that `bits` say; none at all in one case of four. */
INLINED void collide(struct particle *p, struct particle *q, uint64_t bits)
{
    if ((bits & 3) == 0)
        return;
    if (bits & 4)
        exchange(&p->u, &q->u);
    if (bits & 8)
        exchange(&p->v, &q->v);
    if (bits & 16)
        exchange(&p->w, &q->w);
    if (bits & 32)
        exchange(&p->spin, &q->spin);
}

/* --- threads ---------------------------------------------------------------------------------- */

/* Moves a particle and enters it in the book of the cell where it arrives. */
static void move(unsigned number, unsigned step)
{
    struct particle *p = &particles[number];
    uint64_t bits = ticket(number, step);
    struct particle next = moved((struct particle){p->x, p->y, p->z, p->u, p->v, p->w, p->spin},
                                 bits);
    p->x = next.x;
    p->y = next.y;
    p->z = next.z;
    p->u = next.u;
    p->v = next.v;
    p->w = next.w;
    p->spin = next.spin;
    unsigned at = cell_of(next.x, next.y, next.z);
    struct cell *cell = &cells[at];
    uint32_t drawn = (uint32_t)(bits >> 32);
    pthread_mutex_lock(&locks[at % LOCKS]);
    if (cell->lowest == 0 || drawn < cell->low_ticket) {
        cell->lowest = number + 1;
        cell->low_ticket = drawn;
    }
    if (cell->highest == 0 || drawn > cell->high_ticket) {
        cell->highest = number + 1;
        cell->high_ticket = drawn;
    }
    cell->population++;
    cell->flow[0] += next.u;
    cell->flow[1] += next.v;
    cell->flow[2] += next.w;
    pthread_mutex_unlock(&locks[at % LOCKS]);
}

/* Lets a particle collide if it has the lowest ticket of its cell and is not alone there. */
static void maybe_collide(unsigned number, unsigned step)
{
    struct particle *p = &particles[number];
    const struct cell *cell = &cells[cell_of(p->x, p->y, p->z)];
    if (cell->lowest == number + 1 && cell->highest != number + 1)
        collide(p, &particles[cell->highest - 1], ticket(number, step));
}

static void close_books(struct cell *cell)
{
    cell->visits += cell->population;
    cell->population = cell->lowest = cell->highest = 0;
    cell->flow[0] = cell->flow[1] = cell->flow[2] = 0;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, o.size), high = first_of(id + 1, o.threads, o.size);
    unsigned first = first_of(id, o.threads, CELLS), end = first_of(id + 1, o.threads, CELLS);
    for (unsigned number = low; number < high; number++) {
        struct particle p = entering(ticket(number, 0), true), *to = &particles[number];
        to->x = p.x;
        to->y = p.y;
        to->z = p.z;
        to->u = p.u;
        to->v = p.v;
        to->w = p.w;
        to->spin = p.spin;
    }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 1; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step);
        for (unsigned number = low; number < high; number++)
            move(number, step);
        meet();
        for (unsigned number = low; number < high; number++)
            maybe_collide(number, step);
        meet();
        for (unsigned at = first; at < end; at++)
            close_books(&cells[at]);
        meet();
    }
}

/* --- check ------------------------------------------------------------------------------------ */

/* Who collides in a cell: the particles with the lowest and the highest ticket, by number. */
struct pair {
    unsigned step; /* that the rest is about */
    unsigned count, lowest, highest;
};

static UNRECORDED uint32_t drawn_by(unsigned number, unsigned step)
{
    return (uint32_t)(ticket(number, step) >> 32);
}

static UNRECORDED void step_again(struct particle *again, struct pair *pairs, uint64_t *visits,
                                  unsigned step)
{
    for (unsigned number = 0; number < o.size; number++) {
        again[number] = moved(again[number], ticket(number, step));
        unsigned at = cell_of(again[number].x, again[number].y, again[number].z);
        struct pair *pair = &pairs[at];
        visits[at]++;
        if (pair->step != step)
            *pair = (struct pair){.step = step};
        uint32_t drawn = drawn_by(number, step);
        if (pair->count == 0 || drawn < drawn_by(pair->lowest, step))
            pair->lowest = number;
        if (pair->count == 0 || drawn > drawn_by(pair->highest, step))
            pair->highest = number;
        pair->count++;
    }
    for (unsigned at = 0; at < CELLS; at++)
        if (pairs[at].step == step && pairs[at].count > 1)
            collide(&again[pairs[at].lowest], &again[pairs[at].highest],
                    ticket(pairs[at].lowest, step));
}

/* The same steps by one thread, collisions cell by cell; counts particles and cells that differ. */
static UNRECORDED uint64_t wrong_elements(void)
{
    struct particle *again = allocated(calloc(o.size, sizeof *again));
    struct pair *pairs = allocated(calloc(CELLS, sizeof *pairs));
    uint64_t wrong = 0, *visits = allocated(calloc(CELLS, sizeof *visits));
    for (unsigned number = 0; number < o.size; number++)
        again[number] = entering(ticket(number, 0), true);
    for (unsigned step = 1; step <= o.iterations; step++)
        step_again(again, pairs, visits, step);
    for (unsigned number = 0; number < o.size; number++)
        wrong += memcmp(&again[number], &particles[number], sizeof *again) != 0;
    for (unsigned at = 0; at < CELLS; at++)
        wrong += visits[at] != cells[at].visits;
    free(again);
    free(pairs);
    free(visits);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned number = 0; number < o.size; number++) {
        const struct particle *p = &particles[number];
        const int32_t all[] = {p->x, p->y, p->z, p->u, p->v, p->w, p->spin};
        for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
            sum = mix(sum, (uint32_t)all[k]);
    }
    return sum;
}

int main(int argc, char **argv)
{
    o = parse_options(&mp3d, argc, argv);
    particles = allocated(calloc(o.size, sizeof *particles));
    cells = allocated(calloc(CELLS, sizeof *cells));
    for (unsigned k = 0; k < LOCKS; k++)
        must(pthread_mutex_init(&locks[k], NULL), "pthread_mutex_init");
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        particles[o.size / 2].u++;
    begin_check();
    int status = verdict(&mp3d, wrong_elements(), checksum());
    free(particles);
    free(cells);
    for (unsigned k = 0; k < LOCKS; k++)
        must(pthread_mutex_destroy(&locks[k]), "pthread_mutex_destroy");
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
