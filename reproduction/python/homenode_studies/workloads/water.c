/* water: molecules of liquid water and the forces between them.
 *
 * Steps the motion of water molecules, each an oxygen and two hydrogen atoms held together by
 * springs, in a periodic box. Charges and the repulsion of oxygen atoms act between molecules
 * whose oxygen atoms are within a certain radius. Newton's equations are stepped by the method of
 * Verlet in its form with velocities.
 *
 * Sharing: each thread has a band of adjacent molecules and computes the forces on those. It reads
 * the places of the oxygen atoms of all molecules, and of all atoms of near ones, which are mostly
 * its own or its neighbours', because molecules are in order of their place; it writes its own
 * only. A molecule's places move to all readers once a step; computation in between is long and
 * in private memory. One thread adds up the energies of all.
 *
 * Source: Bolosky's thesis, section 2.2.10 (water of SPLASH, from the Perfect Club's MDG): an array
 * of molecules, a set of them to each processor, in order of place, forces within a radius. Ours:
 * own code; the thesis's program predicts and corrects to a higher order and counts each pair of
 * molecules once. Each force is added up in order, so the result depends on nothing else.
 */
#include "water.h"

static const struct workload water = {
    .name = "water",
    .summary = "Molecules of liquid water, forces within a radius",
    .size_help = "molecules",
    .size_default = 216, .size_quick = 27, .size_min = 2, .size_max = 100000,
    .iterations_default = 10, .iterations_quick = 4,
};

/* Private memory of a thread: the molecule in hand and one pair of molecules. */
struct scratch {
    struct vector place[ATOMS];
    struct vector apart[PAIRS];
    double squared[PAIRS], pull[PAIRS];
};

static struct molecule *molecules;

/* Stores a molecule number by number, as a recorder sees it. */
static void put(struct molecule *to, struct molecule m)
{
    for (unsigned a = 0; a < ATOMS; a++) {
        to->place[a] = (struct vector){m.place[a].x, m.place[a].y, m.place[a].z};
        to->speed[a] = (struct vector){m.speed[a].x, m.speed[a].y, m.speed[a].z};
    }
}

/* --- motion, also of the check ---------------------------------------------------------------- */

/* Half a step of speeds; leaves the energy as it is then. */
INLINED void accelerate(struct molecule *m, const struct action *by)
{
    double kinetic = 0;
    for (unsigned a = 0; a < ATOMS; a++) {
        m->speed[a] = plus(m->speed[a], time_step / 2 / mass[a], by->force[a]);
        kinetic += mass[a] * dot(m->speed[a], m->speed[a]) / 2;
    }
    m->energy = kinetic + by->potential;
}

/* A whole step of places; a molecule whose oxygen atom leaves the box comes in opposite. */
INLINED void drift(struct molecule *m)
{
    for (unsigned a = 0; a < ATOMS; a++)
        m->place[a] = plus(m->place[a], time_step, m->speed[a]);
    struct vector middle = {box / 2, box / 2, box / 2};
    struct vector shift = image_of(minus(m->place[0], middle));
    for (unsigned a = 0; a < ATOMS; a++)
        m->place[a] = plus(m->place[a], 1, shift);
}

/* --- forces ----------------------------------------------------------------------------------- */

/* What another molecule does to the molecule in hand, whose oxygen atoms are `apart`. */
static void attract(struct scratch *s, struct action *on, const struct molecule *other,
                    struct vector apart)
{
    struct vector shift = image_of(apart);
    for (unsigned k = 0; k < PAIRS; k++) {
        s->apart[k] = plus(minus(s->place[k / ATOMS], other->place[k % ATOMS]), 1, shift);
        s->squared[k] = dot(s->apart[k], s->apart[k]);
    }
    double potential = 0;
    for (unsigned k = 0; k < PAIRS; k++)
        s->pull[k] = pull_between(k / ATOMS, k % ATOMS, s->squared[k], &potential);
    for (unsigned k = 0; k < PAIRS; k++)
        on->force[k / ATOMS] = plus(on->force[k / ATOMS], s->pull[k], s->apart[k]);
    on->potential += potential / 2; /* the other half is the other molecule's */
}

static void find_action(unsigned number, struct scratch *s, struct action *on)
{
    for (unsigned a = 0; a < ATOMS; a++) {
        s->place[a] = molecules[number].place[a];
        on->force[a] = (struct vector){0, 0, 0};
    }
    on->potential = 0;
    hold_together(s->place, on);
    for (unsigned other = 0; other < o.size; other++) {
        if (other == number)
            continue;
        struct vector apart = minus(s->place[0], molecules[other].place[0]);
        struct vector nearest = plus(apart, 1, image_of(apart));
        if (dot(nearest, nearest) < radius * radius)
            attract(s, on, &molecules[other], apart);
    }
}

static void add_energies(unsigned step)
{
    double sum = 0;
    for (unsigned number = 0; number < o.size; number++)
        sum += molecules[number].energy;
    energy[step] = sum;
}

/* --- threads ---------------------------------------------------------------------------------- */

static void work(unsigned id)
{
    unsigned low = first_of(id, o.threads, o.size), high = first_of(id + 1, o.threads, o.size);
    struct scratch *scratch = private_memory(sizeof *scratch);
    struct action *actions = private_memory((high - low + 1) * sizeof *actions);
    for (unsigned number = low; number < high; number++)
        put(&molecules[number], input(number));
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 0; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step + 1);
        for (unsigned number = low; number < high && step > 0; number++) {
            accelerate(&molecules[number], &actions[number - low]);
            drift(&molecules[number]);
        }
        meet();
        for (unsigned number = low; number < high; number++)
            find_action(number, scratch, &actions[number - low]);
        meet();
        for (unsigned number = low; number < high; number++)
            accelerate(&molecules[number], &actions[number - low]);
        meet();
        if (id == 0)
            add_energies(step);
        meet();
    }
    free(actions);
    free(scratch);
}

/* --- check ------------------------------------------------------------------------------------ */

/* The same steps by one thread; gives the number of atoms and energies that differ. */
static UNRECORDED uint64_t wrong_atoms(void)
{
    struct molecule *all = allocated(calloc(o.size, sizeof *all));
    struct action *on = allocated(calloc(o.size, sizeof *on));
    uint64_t wrong = 0;
    for (unsigned number = 0; number < o.size; number++)
        all[number] = input(number);
    for (unsigned step = 0; step <= o.iterations; step++) {
        for (unsigned number = 0; number < o.size && step > 0; number++) {
            accelerate(&all[number], &on[number]);
            drift(&all[number]);
        }
        double sum = forces_again(all, on);
        for (unsigned number = 0; number < o.size; number++) {
            accelerate(&all[number], &on[number]);
            sum += all[number].energy;
        }
        wrong += !(fabs(sum - energy[step]) < 1e-6 * o.size);
    }
    for (unsigned number = 0; number < o.size; number++)
        for (unsigned a = 0; a < ATOMS; a++) {
            struct vector d = minus(all[number].place[a], molecules[number].place[a]);
            wrong += !(dot(d, d) < 1e-12);
        }
    free(all);
    free(on);
    return wrong;
}

static UNRECORDED struct vector place(unsigned number, unsigned atom)
{
    return molecules[number].place[atom];
}

int main(int argc, char **argv)
{
    o = parse_options(&water, argc, argv);
    set_box();
    molecules = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *molecules)));
    energy = allocated(calloc(o.iterations + 1, sizeof *energy));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        molecules[o.size / 2].place[1].x += 0.001;
    begin_check();
    int status = verdict(&water, wrong_atoms(), checksum(place));
    free(molecules);
    free(energy);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
