/* water-nsq: molecules of liquid water, each pair of them once.
 *
 * The same motion as in water, computed the other way. Each thread has a band of adjacent molecules
 * and takes each of them together with the half of all that follow it in a circle; what acts on
 * one of the pair acts on the other the opposite way. So a thread finds forces on half of all
 * molecules besides its own: it adds them up in memory of its own, and then, molecule by molecule,
 * adds its sums to the molecule's under the molecule's lock. Then everybody moves their own.
 *
 * Sharing: places are read by half of all threads and written once a step by their owner. The sums
 * of a molecule, next to its places, migrate: one thread after another reads and writes them, each
 * beginning with its own molecules, so that they do not all want the same. What threads add up
 * before is theirs alone. The energies are added to one counter under one lock.
 *
 * Source: Talbot and Kelly, table 1.3 (Water-Nsq of SPLASH-2, 512 molecules; VAR, the molecules,
 * and PFORCES, the sums of each thread). Ours: own code; SPLASH's program predicts and corrects
 * to a higher order. Sums are whole numbers of 2^-32, so they do not depend on the order of adding.
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

/* Forces on the atoms of a molecule, in units of 2^-32. */
struct sums {
    int64_t force[TERMS];
};

/* A molecule as all threads know it: SPLASH's VAR. */
struct record {
    struct molecule molecule;
    struct sums sums;
    pthread_mutex_t lock; /* of the sums */
};

/* Private memory of a thread: a pair of molecules. */
struct scratch {
    struct vector apart[PAIRS], force[2][ATOMS];
    double squared[PAIRS];
};

static struct record *records;
static struct {
    pthread_mutex_t lock;
    int64_t sum;
} total = {.lock = PTHREAD_MUTEX_INITIALIZER}; /* energy in this step */

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

/* What two molecules whose oxygen atoms are `apart` do to each other; gives their energy. */
static double attract(const struct molecule *one, const struct molecule *other,
                      struct vector apart, struct scratch *s)
{
    struct vector shift = image_of(apart), none = {0, 0, 0};
    double potential = 0;
    for (unsigned k = 0; k < PAIRS; k++) {
        s->apart[k] = plus(minus(one->place[k / ATOMS], other->place[k % ATOMS]), 1, shift);
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
    const struct molecule *one = &records[number].molecule;
    for (unsigned far = 1; far <= o.size / 2; far++) {
        unsigned at = (number + far) % o.size;
        if (2 * far == o.size && at < number)
            continue;
        const struct molecule *other = &records[at].molecule;
        struct vector apart = minus(one->place[0], other->place[0]);
        struct vector nearest = plus(apart, 1, image_of(apart));
        if (!(dot(nearest, nearest) < radius * radius))
            continue;
        potential += attract(one, other, apart, s);
        add_to(&mine[number], s->force[0]);
        add_to(&mine[at], s->force[1]);
    }
    return potential;
}

/* Adds a thread's sums to everybody's, its own molecules first, and begins new ones. */
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
        must(pthread_mutex_lock(&to->lock), "pthread_mutex_lock");
        for (unsigned term = 0; term < TERMS; term++)
            to->sums.force[term] += mine[number].force[term];
        must(pthread_mutex_unlock(&to->lock), "pthread_mutex_unlock");
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

/* All that acts on a molecule of the thread's own, now that the sums are complete. */
static void collect(struct record *record, struct action *on)
{
    struct vector place[ATOMS];
    for (unsigned a = 0; a < ATOMS; a++) {
        const int64_t *force = &record->sums.force[AXES * a];
        double unit_force = 1 / 4294967296.0;
        on->force[a] = (struct vector){(double)force[0] * unit_force, (double)force[1] * unit_force,
                                       (double)force[2] * unit_force};
        place[a] = record->molecule.place[a];
    }
    on->potential = 0;
    hold_together(place, on);
    for (unsigned term = 0; term < TERMS; term++)
        record->sums.force[term] = 0;
}

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, o.size), high = first_of(id + 1, o.threads, o.size);
    struct scratch *scratch = private_memory(sizeof *scratch);
    struct action *actions = private_memory((high - low + 1) * sizeof *actions);
    struct sums *mine = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *mine)));
    for (unsigned k = 0; k < o.size * TERMS; k++)
        mine[k / TERMS].force[k % TERMS] = 0;
    for (unsigned number = low; number < high; number++) {
        put(&records[number].molecule, input(number));
        for (unsigned term = 0; term < TERMS; term++)
            records[number].sums.force[term] = 0;
    }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 0; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step + 1);
        for (unsigned number = low; number < high && step > 0; number++) {
            accelerate(&records[number].molecule, &actions[number - low]);
            drift(&records[number].molecule);
        }
        meet();
        for (unsigned number = low; number < high; number++)
            add_energy(act(number, mine, scratch));
        hand_in(low, mine);
        meet();
        for (unsigned number = low; number < high; number++) {
            collect(&records[number], &actions[number - low]);
            accelerate(&records[number].molecule, &actions[number - low]);
            add_energy(records[number].molecule.energy);
        }
        meet();
        if (id == 0) {
            energy[step] = (double)total.sum / 4294967296.0;
            total.sum = 0;
        }
    }
    free(mine);
    free(actions);
    free(scratch);
}

static UNRECORDED const struct molecule *result(unsigned number)
{
    return &records[number].molecule;
}

int main(int argc, char **argv)
{
    o = parse_options(&water_nsq, argc, argv);
    set_box();
    records = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *records)));
    energy = allocated(calloc(o.iterations + 1, sizeof *energy));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_init(&records[number].lock, NULL), "pthread_mutex_init");
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        records[o.size / 2].molecule.place[1].x += 0.001;
    begin_check();
    int status = verdict(&water_nsq, wrong_atoms(result), checksum(result));
    for (unsigned number = 0; number < o.size; number++)
        must(pthread_mutex_destroy(&records[number].lock), "pthread_mutex_destroy");
    free(records);
    free(energy);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
