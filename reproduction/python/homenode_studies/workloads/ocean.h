/* What ocean-contig and ocean-noncontig share: all but how a grid lies in memory.
 *
 * The circulation of a square ocean of two layers under a steady wind, on a rotating planet. Each
 * layer carries its potential vorticity along (Arakawa's Jacobian); wind pushes the upper one, the
 * bottom brakes the lower, and both are viscous. After each step the streams follow from the
 * vorticities by two elliptic equations, one for the sum of the layers and one for the difference.
 */
#ifndef OCEAN_H
#define OCEAN_H

#include "ocean-multigrid.h"

enum { LAYERS = 2, STEPS_MAX = 50, WAVES = 8 };

/* Units: the ocean's side; planetary vorticity grows by 1 from south to north. */
static const double step = 0.05, viscosity = 8e-6, bottom_drag = 0.05, wind = 0.01;

/* Of the layers: half of 1 / (radius of deformation squared). */
static const double coupling = 200;

static int side;
static struct field psi[LAYERS];                /* streams */
static struct field vorticity[2][LAYERS];       /* potential; before and after a step, in turn */
static struct field tendency[LAYERS];           /* of the last step */
static struct field spin[LAYERS], mode[LAYERS]; /* relative vorticity; sum and difference */
static struct field forcing;

/* --- input ------------------------------------------------------------------------------------ */

/* Streams at the start: a few waves, half as high in the lower layer. */
static UNRECORDED double input(int layer, int row, int column)
{
    double sum = 0, y = (row + 0.5) / side, x = (column + 0.5) / side;
    for (uint64_t k = 0; k < WAVES; k++) {
        uint64_t bits = random_at(o.seed, k);
        double height = 2e-4 * ((double)(bits >> 40) / 8388608 - 1);
        double along = 3.14159265358979323846 * (double)(1 + bits % 6);
        double up = 3.14159265358979323846 * (double)(1 + (bits >> 8) % 6);
        sum += height * sin(along * x) * sin(up * y);
    }
    return sum / (layer + 1);
}

static UNRECORDED double wind_at(int row)
{
    return -wind * sin(6.28318530717958647692 * (row + 0.5) / side);
}

/* --- a step ----------------------------------------------------------------------------------- */

/* Relative vorticity of a layer. */
static void find_spin(int layer, unsigned id)
{
    const struct tile t = tile_of(side, id);
    const struct part p = part_of(&psi[layer], id), s = part_of(&spin[layer], id);
    const double area = 1 / ((double)side * side);
    exchange(&psi[layer], id, BOTH);
    for (int row = 0; row < t.rows; row++) {
        const double *here = p.origin + row * p.stride;
        const double *above = here - p.stride, *below = here + p.stride;
        for (int c = 0; c < t.columns; c++)
            s.origin[row * s.stride + c] =
                (above[c] + below[c] + here[c - 1] + here[c + 1] - 4 * here[c]) / area;
    }
    mirror(&spin[layer], id);
}

/* Potential vorticity at the start. */
static void find_vorticity(int layer, unsigned id)
{
    const struct tile t = tile_of(side, id);
    const struct part s = part_of(&spin[layer], id), v = part_of(&vorticity[0][layer], id);
    const struct part upper = part_of(&psi[0], id), lower = part_of(&psi[1], id);
    const double sign = layer == 0 ? -coupling : coupling;
    for (int row = 0; row < t.rows; row++)
        for (int c = 0; c < t.columns; c++)
            v.origin[row * v.stride + c] =
                s.origin[row * s.stride + c]
                + sign * (upper.origin[row * upper.stride + c]
                          - lower.origin[row * lower.stride + c]);
    mirror(&vorticity[0][layer], id);
}

/* Arakawa's Jacobian of p and q at `p[0]`, times 12 cell areas; `u` and `v` are their strides. */
static inline double jacobian(const double *p, ptrdiff_t u, const double *q, ptrdiff_t v)
{
    double p_e = p[1], p_w = p[-1], p_n = p[u], p_s = p[-u];
    double p_ne = p[u + 1], p_nw = p[u - 1], p_se = p[1 - u], p_sw = p[-1 - u];
    double q_e = q[1], q_w = q[-1], q_n = q[v], q_s = q[-v];
    double q_ne = q[v + 1], q_nw = q[v - 1], q_se = q[1 - v], q_sw = q[-1 - v];
    double plain = (p_e - p_w) * (q_n - q_s) - (p_n - p_s) * (q_e - q_w);
    double by_p = p_e * (q_ne - q_se) - p_w * (q_nw - q_sw) - p_n * (q_ne - q_nw)
                  + p_s * (q_se - q_sw);
    double by_q = q_n * (p_ne - p_nw) - q_s * (p_se - p_sw) - q_e * (p_ne - p_se)
                  + q_w * (p_nw - p_sw);
    return plain + by_p + by_q;
}

/* Moves a layer's potential vorticity one step on (Adams and Bashforth's second-order method). */
static void advance(int layer, unsigned id, unsigned number)
{
    const struct field *before = &vorticity[number % 2][layer];
    const struct field *after = &vorticity[1 - number % 2][layer];
    const struct tile t = tile_of(side, id);
    const struct part p = part_of(&psi[layer], id), s = part_of(&spin[layer], id);
    const struct part v = part_of(before, id), next = part_of(after, id);
    const struct part last = part_of(&tendency[layer], id), push = part_of(&forcing, id);
    const double area = 1 / ((double)side * side);
    const double old = number > 0 ? 0.5 : 0, drag = layer == 0 ? 0 : bottom_drag;
    exchange(&spin[layer], id, BOTH);
    exchange(before, id, BOTH);
    for (int row = 0; row < t.rows; row++)
        for (int c = 0; c < t.columns; c++) {
            const double *stream = p.origin + row * p.stride + c;
            const double *here = s.origin + row * s.stride + c;
            const double *carried = v.origin + row * v.stride + c;
            double *rate = last.origin + row * last.stride + c;
            double spread = here[1] + here[-1] + here[s.stride] + here[-s.stride] - 4 * here[0];
            double now = viscosity / area * spread - drag * here[0]
                         - jacobian(stream, p.stride, carried, v.stride) / (12 * area)
                         - (stream[1] - stream[-1]) * side / 2;
            if (layer == 0)
                now += push.origin[row * push.stride + c];
            double change = step * ((1 + old) * now - old * *rate);
            next.origin[row * next.stride + c] = carried[0] + change;
            *rate = now;
        }
    mirror(after, id);
}

/* Solves for the sum of the streams (sign 1) or their difference (sign -1). */
static void solve_mode(double sign, unsigned id, unsigned number)
{
    const struct tile t = tile_of(side, id);
    const struct field *v = vorticity[1 - number % 2];
    const struct part v0 = part_of(&v[0], id), v1 = part_of(&v[1], id);
    const struct part psi0 = part_of(&psi[0], id), psi1 = part_of(&psi[1], id);
    const struct part q = part_of(&q_multi[0], id), rhs = part_of(&rhs_multi[0], id);
    const struct part result = part_of(&mode[sign < 0], id);
    for (int row = 0; row < t.rows; row++)
        for (int c = 0; c < t.columns; c++) {
            rhs.origin[row * rhs.stride + c] =
                v0.origin[row * v0.stride + c] + sign * v1.origin[row * v1.stride + c];
            q.origin[row * q.stride + c] =
                psi0.origin[row * psi0.stride + c] + sign * psi1.origin[row * psi1.stride + c];
        }
    solve(id, sign < 0 ? 2 * coupling : 0);
    for (int row = 0; row < t.rows; row++)
        for (int c = 0; c < t.columns; c++)
            result.origin[row * result.stride + c] = q.origin[row * q.stride + c];
}

/* Streams from their sum and difference. */
static void find_streams(unsigned id)
{
    const struct tile t = tile_of(side, id);
    for (int layer = 0; layer < LAYERS; layer++) {
        const struct part p = part_of(&psi[layer], id);
        const struct part sum = part_of(&mode[0], id), difference = part_of(&mode[1], id);
        const double sign = layer == 0 ? 0.5 : -0.5;
        for (int row = 0; row < t.rows; row++)
            for (int c = 0; c < t.columns; c++)
                p.origin[row * p.stride + c] = 0.5 * sum.origin[row * sum.stride + c]
                                               + sign * difference.origin[row * difference.stride
                                                                          + c];
        mirror(&psi[layer], id);
    }
    meet();
}

/* --- threads ---------------------------------------------------------------------------------- */

static void phase(unsigned id, unsigned number)
{
    if (id == 0)
        homenode_phase(number);
}

static void begin(unsigned id)
{
    const struct tile t = tile_of(side, id);
    const struct part push = part_of(&forcing, id);
    for (int layer = 0; layer < LAYERS; layer++) {
        const struct part p = part_of(&psi[layer], id);
        for (int row = 0; row < t.rows; row++)
            for (int c = 0; c < t.columns; c++) {
                p.origin[row * p.stride + c] = input(layer, t.row + row, t.column + c);
                push.origin[row * push.stride + c] = wind_at(t.row + row);
            }
        mirror(&psi[layer], id);
    }
    meet();
    for (int layer = 0; layer < LAYERS; layer++) {
        find_spin(layer, id);
        find_vorticity(layer, id);
    }
    meet();
    if (id == 0)
        homenode_init_done();
}

static void work(unsigned id)
{
    begin(id);
    for (unsigned number = 0; number < o.iterations; number++) {
        phase(id, 3 * number + 1);
        for (int layer = 0; layer < LAYERS && number > 0; layer++)
            find_spin(layer, id);
        meet();
        for (int layer = 0; layer < LAYERS; layer++)
            advance(layer, id, number);
        phase(id, 3 * number + 2);
        solve_mode(1, id, number);
        phase(id, 3 * number + 3);
        solve_mode(-1, id, number);
        find_streams(id);
    }
}

#include "ocean-check.h"

#endif
