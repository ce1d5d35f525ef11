/* Places, speeds and forces in space, as values. */
#ifndef VECTOR_H
#define VECTOR_H

#include "workload.h"

#include <math.h>

struct vector {
    double x, y, z;
};

INLINED struct vector minus(struct vector a, struct vector b)
{
    return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

INLINED struct vector plus(struct vector a, double factor, struct vector b)
{
    return (struct vector){a.x + factor * b.x, a.y + factor * b.y, a.z + factor * b.z};
}

INLINED double dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* A random number between `low` and `high`; element `index` of the input, as of random_at(). */
static inline UNRECORDED double uniform_at(uint64_t seed, uint64_t index, double low, double high)
{
    return low + (high - low) * (double)(random_at(seed, index) >> 40) / 16777216;
}

/* A random vector in the cube from -1 to 1; takes three random numbers. */
static inline UNRECORDED struct vector vector_at(uint64_t seed, uint64_t index)
{
    return (struct vector){uniform_at(seed, index, -1, 1), uniform_at(seed, index + 1, -1, 1),
                           uniform_at(seed, index + 2, -1, 1)};
}

/* Adds a place to a checksum, rounded to 2^-16 so that the sum is the same with every compiler and
 * mathematical library. */
static inline UNRECORDED uint64_t mix_place(uint64_t sum, struct vector p)
{
    sum = mix(sum, (uint64_t)(int64_t)floor(p.x * 65536 + 0.5));
    sum = mix(sum, (uint64_t)(int64_t)floor(p.y * 65536 + 0.5));
    return mix(sum, (uint64_t)(int64_t)floor(p.z * 65536 + 0.5));
}

#endif
