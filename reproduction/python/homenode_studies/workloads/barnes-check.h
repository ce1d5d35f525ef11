/* The check of barnes: forces by all pairs, momentum and energy. It uses the types of the program,
 * its input and what it computes. */
#ifndef BARNES_CHECK_H
#define BARNES_CHECK_H

/* Twice the energy, by all pairs; counts bodies whose pull is not about that of all the others. Of
 * the sizes of all forces on a body, the error is 1 % on average and here and there many times. */
static UNRECORDED uint64_t wrong_pulls(const struct body *all, bool compare, double *energy)
{
    uint64_t wrong = 0;
    double errors = 0;
    *energy = 0;
    for (unsigned i = 0; i < o.size; i++) {
        struct vector pull = {0, 0, 0};
        double size = 0;
        for (unsigned j = 0; j < o.size; j++) {
            if (i == j)
                continue;
            struct vector apart = minus(all[j].place, all[i].place);
            double squared = dot(apart, apart) + softening * softening;
            double force = all[j].mass / (squared * sqrt(squared));
            pull = plus(pull, force, apart);
            size += force * sqrt(squared);
            *energy -= all[i].mass * force * squared;
        }
        *energy += all[i].mass * dot(all[i].speed, all[i].speed);
        struct vector error = minus(pull, all[i].pull);
        wrong += compare && !(dot(error, error) < 0.8 * size * size);
        errors += dot(error, error) / (size * size);
    }
    return wrong + (compare && !(errors < 0.05 * 0.05 * o.size));
}

static UNRECORDED uint64_t wrong_bodies(void)
{
    struct body *start = allocated(calloc(o.size, sizeof *start));
    struct vector gained = {0, 0, 0};
    double before, after;
    for (unsigned number = 0; number < o.size; number++) {
        start[number] = input(number);
        gained = plus(gained, -start[number].mass, start[number].speed);
        gained = plus(gained, bodies[number].mass, bodies[number].speed);
    }
    wrong_pulls(start, false, &before);
    uint64_t wrong = wrong_pulls(bodies, true, &after);
    wrong += !(dot(gained, gained) < 1e-4);
    wrong += !(fabs(after - before) < 0.02 * fabs(before));
    free(start);
    return wrong;
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned number = 0; number < o.size; number++)
        sum = mix_place(sum, bodies[number].place);
    return sum;
}

#endif
