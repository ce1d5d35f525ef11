/* water-nsq: molecules of liquid water, each pair of them once.
 *
 * The molecules and forces of water, the other way round. Each thread has a band of adjacent
 * molecules and takes each of them together with the half of all that follow it in a circle; what
 * acts on one of the pair acts on the other the opposite way. So a thread finds forces on half of
 * all molecules besides its own: it adds them up in memory of its own, and then, molecule by
 * molecule, adds its sums to the molecule's under the molecule's lock. Before and after, all
 * predicts and corrects the motion of their own molecules.
 *
 * Sharing: places are read by half of all threads and written once a step by their owner. The sums
 * of a molecule, next to its places, migrate: one thread after another reads and writes them, each
 * beginning with its own molecules, so that they do not all want the same. What threads add up
 * before is theirs alone. A thread adds its energies to one counter under one lock twice a step.
 *
 * Source: Marchetti et al., section 3.3, and Talbot and Kelly, table 1.3 (Water of SPLASH,
 * Water-Nsq of SPLASH-2: VAR, the molecules, and PFORCES, the sums of each thread). Ours: own code;
 * like SPLASH's it predicts and corrects to the sixth order (Gear 1971). Sums are whole numbers of
 * 2^-32, so they do not depend on the order of adding.
 */
#include "water.h"

static const struct workload water_nsq = {
    .name = "water-nsq",
    .summary = "Molecules of liquid water, each pair of them once",
    .size_help = "molecules",
    .size_default = 216, .size_quick = 27, .size_min = 2, .size_max = 100000,
    .iterations_default = 5, .iterations_quick = 3,
};

enum { AXES = 3, TERMS = ATOMS * AXES };

/* Of the motion, beginning with places. */
enum { DERIVATIVES = 7 };

/* Forces on the atoms of a molecule, in units of 2^-32. */
struct sums {
    int64_t force[TERMS];
};

/* A molecule as all threads know it, SPLASH's VAR: for all atoms the terms of Taylor's series over
 * a step, that is derivatives by time, the k-th times step^k / k!. */
struct record {
    double centre[AXES]; /* place of the oxygen atom, which says who is near */
    double term[DERIVATIVES][TERMS];
    struct sums sums;
    double spare[TERMS]; /* as in SPLASH, where nothing uses it either */
};

/* Private memory of a thread: a pair of molecules. */
struct scratch {
    struct vector apart[PAIRS], force[2][ATOMS];
    double squared[PAIRS];
};

static struct record *records;
static pthread_mutex_t *locks; /* of the sums of each molecule */

/* Energy in this step; nothing that is only read shares its block. */
static struct {
    _Alignas(128) pthread_mutex_t lock;
    int64_t sum;
} total = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* --- motion: functions of values, also of the check ------------------------------------------- */

/* Shares of the error of the second derivative that correct the others (Gear 1971). */
static const double correction[DERIVATIVES] = {863.0 / 6048, 665.0 / 1008, 1, 25.0 / 36,
                                               35.0 / 144,   1.0 / 24,     1.0 / 360};

INLINED struct vector place_of(const struct record *record, unsigned atom)
{
    const double *at = &record->term[0][AXES * atom];
    return (struct vector){at[0], at[1], at[2]};
}

/* Sums up Taylor's series of a place and its derivatives, a step on. */
INLINED void predict(struct record *record)
{
    for (unsigned t = 0; t < TERMS; t++)
        for (unsigned first = 0; first + 1 < DERIVATIVES; first++)
            for (unsigned k = DERIVATIVES - 1; k-- > first;)
                record->term[k][t] += record->term[k + 1][t];
}

/* Corrects what was predicted, now that forces are known; gives the kinetic energy. In step 0
 * forces give the second derivative alone. */
INLINED double correct(struct record *record, unsigned step)
{
    double kinetic = 0;
    for (unsigned t = 0; t < TERMS; t++) {
        double force = (double)record->sums.force[t] / 4294967296.0;
        double second = force / mass[t / AXES] * time_step * time_step / 2;
        double error = second - record->term[2][t];
        for (unsigned k = 0; k < DERIVATIVES; k++)
            if (step > 0 || k == 2)
                record->term[k][t] += correction[k] * error;
        double speed = record->term[1][t] / time_step;
        kinetic += mass[t / AXES] * speed * speed / 2;
    }
    return kinetic;
}

/* A molecule whose oxygen atom has left the box comes in opposite. */
INLINED void come_in(struct record *record)
{
    for (unsigned axis = 0; axis < AXES; axis++) {
        double shift = image(record->term[0][axis] - box / 2);
        if (shift != 0)
            for (unsigned a = 0; a < ATOMS; a++)
                record->term[0][AXES * a + axis] += shift;
    }
}

/* --- forces ----------------------------------------------------------------------------------- */

/* A number in units of 2^-32. */
INLINED int64_t fixed(double value)
{
    return (int64_t)(value * 4294967296.0);
}

/* Adds forces on a molecule to a thread's sums of it. */
static void add_to(struct sums *sums, const struct vector *force)
{
    for (unsigned a = 0; a < ATOMS; a++) {
        sums->force[AXES * a] += fixed(force[a].x);
        sums->force[AXES * a + 1] += fixed(force[a].y);
        sums->force[AXES * a + 2] += fixed(force[a].z);
    }
}

/* Begins the sums of a molecule of the thread's own with what holds it together; gives its
 * energy. */
static double begin_sums(struct record *record)
{
    struct action on = {.potential = 0};
    struct vector place[ATOMS];
    for (unsigned a = 0; a < ATOMS; a++)
        place[a] = place_of(record, a);
    record->centre[0] = place[0].x;
    record->centre[1] = place[0].y;
    record->centre[2] = place[0].z;
    hold_together(place, &on);
    for (unsigned a = 0; a < ATOMS; a++) {
        record->sums.force[AXES * a] = fixed(on.force[a].x);
        record->sums.force[AXES * a + 1] = fixed(on.force[a].y);
        record->sums.force[AXES * a + 2] = fixed(on.force[a].z);
    }
    return on.potential;
}

INLINED struct vector centre_of(const struct record *record)
{
    return (struct vector){record->centre[0], record->centre[1], record->centre[2]};
}

/* What two molecules whose oxygen atoms are `apart` do to each other; gives their energy. */
static double attract(const struct record *one, const struct record *other,
                      struct vector apart, struct scratch *s)
{
    struct vector shift = image_of(apart), none = {0, 0, 0};
    double potential = 0;
    for (unsigned k = 0; k < PAIRS; k++) {
        s->apart[k] = plus(minus(place_of(one, k / ATOMS), place_of(other, k % ATOMS)), 1, shift);
        s->squared[k] = dot(s->apart[k], s->apart[k]);
    }
    for (unsigned a = 0; a < ATOMS; a++)
        s->force[0][a] = s->force[1][a] = none;
    for (unsigned k = 0; k < PAIRS; k++) {
        double pull = pull_between(k / ATOMS, k % ATOMS, s->squared[k], &potential);
        s->force[0][k / ATOMS] = plus(s->force[0][k / ATOMS], pull, s->apart[k]);
        s->force[1][k % ATOMS] = plus(s->force[1][k % ATOMS], -pull, s->apart[k]);
    }
    return potential;
}

/* A molecule with those that follow it, up to half of all; of two opposite ones the lower takes
 * both. Gives the energy of the pairs. */
static double act(unsigned number, struct sums *mine, struct scratch *s)
{
    double potential = 0;
    const struct record *all = records, *one = &all[number];
    const struct vector centre = centre_of(one);
    for (unsigned far = 1; far <= o.size / 2; far++) {
        unsigned at = (number + far) % o.size;
        if (2 * far == o.size && at < number)
            continue;
        const struct record *other = &all[at];
        struct vector apart = minus(centre, centre_of(other));
        struct vector nearest = plus(apart, 1, image_of(apart));
        if (!(dot(nearest, nearest) < radius * radius))
            continue;
        potential += attract(one, other, apart, s);
        add_to(&mine[number], s->force[0]);
        add_to(&mine[at], s->force[1]);
    }
    return potential;
}

/* Adds a thread's sums to those of all, its own molecules first, and begins new ones. */
static void hand_in(unsigned low, struct sums *mine)
{
    for (unsigned k = 0; k < o.size; k++) {
        unsigned number = (low + k) % o.size;
        struct record *to = &records[number];
        int64_t any = 0;
        for (unsigned term = 0; term < TERMS; term++)
            any |= mine[number].force[term];
        if (!any)
            continue;
        must(pthread_mutex_lock(&locks[number]), "pthread_mutex_lock");
        for (unsigned term = 0; term < TERMS; term++)
            to->sums.force[term] += mine[number].force[term];
        must(pthread_mutex_unlock(&locks[number]), "pthread_mutex_unlock");
        for (unsigned term = 0; term < TERMS; term++)
            mine[number].force[term] = 0;
    }
}

static void add_energy(double more)
{
    must(pthread_mutex_lock(&total.lock), "pthread_mutex_lock");
    total.sum += fixed(more);
    must(pthread_mutex_unlock(&total.lock), "pthread_mutex_unlock");
}

static void put(struct record *to, struct molecule m)
{
    for (unsigned a = 0; a < ATOMS; a++) {
        const double place[AXES] = {m.place[a].x, m.place[a].y, m.place[a].z};
        const double speed[AXES] = {m.speed[a].x, m.speed[a].y, m.speed[a].z};
        for (unsigned axis = 0; axis < AXES; axis++) {
            to->term[0][AXES * a + axis] = place[axis];
            to->term[1][AXES * a + axis] = speed[axis] * time_step;
        }
    }
    for (unsigned k = 2 * TERMS; k < DERIVATIVES * TERMS; k++)
        to->term[k / TERMS][k % TERMS] = 0;
}

/* A step of the molecules from `low` to `high`, and of all pairs that begin with them. */
static void take_step(unsigned low, unsigned high, unsigned step, struct sums *mine,
                      struct scratch *scratch)
{
    double inner = 0, outer = 0;
    for (unsigned number = low; number < high; number++) {
        if (step > 0)
            predict(&records[number]);
        inner += begin_sums(&records[number]);
    }
    meet();
    for (unsigned number = low; number < high; number++)
        outer += act(number, mine, scratch);
    add_energy(outer);
    hand_in(low, mine);
    meet();
    for (unsigned number = low; number < high; number++) {
        inner += correct(&records[number], step);
        come_in(&records[number]);
    }
    add_energy(inner);
    meet();
}

/* SPLASH's VAR and, of each thread, PFORCES. */
ALLOCATES struct record *new_var(size_t bytes)
{
    struct record *molecules = allocated(aligned_alloc(PAGE_BYTES, bytes));
    return molecules;
}

ALLOCATES struct sums *new_pforces(size_t bytes)
{
    struct sums *forces = allocated(aligned_alloc(PAGE_BYTES, bytes));
    return forces;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, o.size), high = first_of(id + 1, o.threads, o.size);
    struct scratch *scratch = private_memory(sizeof *scratch);
    struct sums *mine = new_pforces(whole_pages(o.size * sizeof *mine));
    for (unsigned k = 0; k < o.size * TERMS; k++)
        mine[k / TERMS].force[k % TERMS] = 0;
    for (unsigned number = low; number < high; number++)
        put(&records[number], input(number));
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 0; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step + 1);
        take_step(low, high, step, mine, scratch);
        if (id == 0) {
            energy[step] = (double)total.sum / 4294967296.0;
            total.sum = 0;
        }
    }
    free(mine);
    free(scratch);
}

/* --- check ------------------------------------------------------------------------------------ */

/* The same steps by one thread, forces as of another function; gives the number of atoms and
 * energies that differ. */
static UNRECORDED uint64_t wrong_atoms(void)
{
    struct molecule *all = allocated(calloc(o.size, sizeof *all));
    struct action *on = allocated(calloc(o.size, sizeof *on));
    struct record *again = allocated(calloc(o.size, sizeof *again));
    uint64_t wrong = 0;
    for (unsigned k = 0; k < o.size * TERMS; k++) {
        struct molecule m = input(k / TERMS);
        const struct vector place = m.place[k % ATOMS], speed = m.speed[k % ATOMS];
        unsigned axis = k % TERMS / ATOMS, t = k % ATOMS * AXES + axis;
        again[k / TERMS].term[0][t] = axis == 0 ? place.x : axis == 1 ? place.y : place.z;
        again[k / TERMS].term[1][t] =
            time_step * (axis == 0 ? speed.x : axis == 1 ? speed.y : speed.z);
    }
    for (unsigned step = 0; step <= o.iterations; step++) {
        for (unsigned number = 0; number < o.size; number++) {
            if (step > 0)
                predict(&again[number]);
            for (unsigned a = 0; a < ATOMS; a++)
                all[number].place[a] = place_of(&again[number], a);
        }
        double sum = forces_again(all, on);
        for (unsigned number = 0; number < o.size; number++) {
            for (unsigned t = 0; t < TERMS; t++) {
                const struct vector force = on[number].force[t / AXES];
                again[number].sums.force[t] =
                    fixed(t % AXES == 0 ? force.x : t % AXES == 1 ? force.y : force.z);
            }
            sum += correct(&again[number], step);
            come_in(&again[number]);
        }
        wrong += !(fabs(sum - energy[step]) < 1e-6 * o.size);
    }
    for (unsigned number = 0; number < o.size; number++)
        for (unsigned a = 0; a < ATOMS; a++) {
            struct vector d = minus(place_of(&again[number], a), place_of(&records[number], a));
            wrong += !(dot(d, d) < 1e-12);
        }
    free(all);
    free(on);
    free(again);
    return wrong;
}

static UNRECORDED struct vector place(unsigned number, unsigned atom)
{
    return place_of(&records[number], atom);
}

int main(int argc, char **argv)
{
    o = parse_options(&water_nsq, argc, argv);
    set_box();
    records = new_var(whole_pages(o.size * sizeof *records));
    energy = allocated(calloc(o.iterations + 1, sizeof *energy));
    locks = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *locks)));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_init(&locks[number], NULL), "pthread_mutex_init");
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        records[o.size / 2].term[0][AXES] += 0.001;
    begin_check();
    int status = verdict(&water_nsq, wrong_atoms(), checksum(place));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_destroy(&locks[number]), "pthread_mutex_destroy");
    free(records);
    free(locks);
    free(energy);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
