/* What the programs about water share: molecules, physics, input, and forces for the check. */
#ifndef WATER_H
#define WATER_H

#include "vector.h"

/* Units: angstrom, kcal/mol, atomic mass, and the time that follows from them (48.9 fs). */
enum { ATOMS = 3, PAIRS = ATOMS * ATOMS };
static const double spacing = 3.1, bond = 1.0, hydrogens = 1.633;
static const double stretch = 500, bend = 200, coulomb = 332.06;
static const double well = 0.155, contact = 3.166, time_step = 0.01;
static const double mass[ATOMS] = {15.999, 1.008, 1.008}, charge[ATOMS] = {-0.82, 0.41, 0.41};

struct molecule {
    struct vector place[ATOMS], speed[ATOMS]; /* oxygen first */
    double energy;
};

/* What acts on a molecule; private memory of the thread whose molecule it is. */
struct action {
    struct vector force[ATOMS];
    double potential;
};

static struct options o;
static double box, radius;
static double *energy; /* at the start and after each step */

/* --- the physics: functions of values --------------------------------------------------------- */

/* How far away the nearest of a molecule's periodic images is, as a multiple of the box. */
INLINED double image(double difference)
{
    return difference > box / 2 ? -box : difference < -box / 2 ? box : 0;
}

INLINED struct vector image_of(struct vector difference)
{
    return (struct vector){image(difference.x), image(difference.y), image(difference.z)};
}

/* Force between atoms `a` and `b` of two molecules over their distance; adds to the energy. */
INLINED double pull_between(unsigned a, unsigned b, double squared, double *potential)
{
    double electric = coulomb * charge[a] * charge[b] / sqrt(squared);
    double pull = electric / squared;
    *potential += electric;
    if (a == 0 && b == 0) {
        double s2 = contact * contact / squared, s6 = s2 * s2 * s2;
        *potential += 4 * well * (s6 * s6 - s6);
        pull += 24 * well * (2 * s6 * s6 - s6) / squared;
    }
    return pull;
}

/* Force on the first of two atoms of a molecule, `apart` from each other; adds to the energy. */
INLINED struct vector spring(struct vector apart, double length, double strength, double *potential)
{
    double distance = sqrt(dot(apart, apart)), longer = distance - length;
    *potential += strength * longer * longer / 2;
    struct vector zero = {0, 0, 0};
    return plus(zero, -strength * longer / distance, apart);
}

/* Springs within the molecule whose atoms are at these places. */
static void hold_together(const struct vector *place, struct action *on)
{
    for (unsigned a = 0; a < ATOMS; a++) {
        unsigned b = (a + 1) % ATOMS;
        double length = a == 1 ? hydrogens : bond, strength = a == 1 ? bend : stretch;
        struct vector apart = minus(place[a], place[b]);
        struct vector force = spring(apart, length, strength, &on->potential);
        on->force[a] = plus(on->force[a], 1, force);
        on->force[b] = plus(on->force[b], -1, force);
    }
}

/* --- the input -------------------------------------------------------------------------------- */

static UNRECORDED struct vector unit(struct vector v)
{
    struct vector zero = {0, 0, 0};
    return plus(zero, 1 / sqrt(dot(v, v)), v);
}

/* Molecules a side, the smallest number with room for all. */
static UNRECORDED unsigned side(void)
{
    unsigned count = 1;
    while (count * count * count < o.size)
        count++;
    return count;
}

/* Cells a side of the lattice whose cells have four molecules each, if it has just as many as
 * there are; else 0, and there is one to a cell. */
static UNRECORDED unsigned cells_of_four(void)
{
    unsigned count = 1;
    while (4 * count * count * count < o.size)
        count++;
    return 4 * count * count * count == o.size ? count : 0;
}

/* Before everything else: the box has room for all molecules, and no more if they are as many as
 * one of the two lattices has. */
static void set_box(void)
{
    box = spacing * (cells_of_four() ? cbrt(o.size) : side());
    radius = 0.37 * box; /* between shells of either lattice */
}

static UNRECORDED struct vector lattice_place(unsigned number)
{
    const unsigned cells = cells_of_four(), across = cells ? cells : side();
    const unsigned cell = cells ? number / 4 : number, corner = cells ? number % 4 : 0;
    const double wide = box / across, half = wide / 2;
    return (struct vector){wide * (cell % across) + (corner == 1 || corner == 2 ? half : 0),
                           wide * (cell / across % across) + (corner & 1 ? half : 0),
                           wide * (cell / across / across) + (corner >= 2 ? half : 0)};
}

/* A molecule on a lattice, in order of place, turned at random. */
static UNRECORDED struct molecule input(unsigned number)
{
    struct molecule m = {.energy = 0};
    uint64_t at = 32 * (uint64_t)number;
    m.place[0] = lattice_place(number);
    struct vector first = unit(vector_at(o.seed, at)), other = vector_at(o.seed, at + 3);
    struct vector second = unit(plus(other, -dot(other, first), first));
    double angle = 2 * asin(hydrogens / bond / 2);
    m.place[1] = plus(m.place[0], bond, first);
    m.place[2] = plus(plus(m.place[0], bond * cos(angle), first), bond * sin(angle), second);
    for (unsigned a = 0; a < ATOMS; a++)
        m.speed[a] = plus(m.speed[a], 0.3 / sqrt(mass[a]), vector_at(o.seed, at + 6 + 3 * a));
    return m;
}

/* Whole pages of the thread's own. */
static void *private_memory(size_t bytes)
{
    void *memory = allocated(aligned_alloc(PAGE_BYTES, whole_pages(bytes)));
    homenode_private(memory, whole_pages(bytes));
    return memory;
}

/* --- check ------------------------------------------------------------------------------------ */

/* All forces, each pair of molecules once; gives the potential energy. */
static UNRECORDED double forces_again(const struct molecule *all, struct action *on)
{
    double potential = 0;
    for (unsigned i = 0; i < o.size; i++) {
        on[i] = (struct action){.potential = 0};
        for (unsigned a = 0; a < ATOMS; a++)
            for (unsigned b = a + 1; b < ATOMS; b++) {
                struct vector apart = minus(all[i].place[a], all[i].place[b]);
                struct vector f = spring(apart, a == 0 ? bond : hydrogens, a == 0 ? stretch : bend,
                                         &potential);
                on[i].force[a] = plus(on[i].force[a], 1, f);
                on[i].force[b] = plus(on[i].force[b], -1, f);
            }
    }
    for (unsigned i = 0; i < o.size; i++)
        for (unsigned j = 0; j < i; j++) {
            struct vector apart = minus(all[i].place[0], all[j].place[0]);
            struct vector shift = image_of(apart), near = plus(apart, 1, shift);
            if (!(dot(near, near) < radius * radius))
                continue;
            for (unsigned a = 0; a < ATOMS; a++)
                for (unsigned b = 0; b < ATOMS; b++) {
                    struct vector d = plus(minus(all[i].place[a], all[j].place[b]), 1, shift);
                    double pull = pull_between(a, b, dot(d, d), &potential);
                    on[i].force[a] = plus(on[i].force[a], pull, d);
                    on[j].force[b] = plus(on[j].force[b], -pull, d);
                }
        }
    return potential;
}

/* Of all places, in order. */
static UNRECORDED uint64_t checksum(struct vector (*place)(unsigned number, unsigned atom))
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned number = 0; number < o.size; number++)
        for (unsigned a = 0; a < ATOMS; a++)
            sum = mix_place(sum, place(number, a));
    return sum;
}

#endif
