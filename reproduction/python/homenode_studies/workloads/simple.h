/* What simple and simple-columns share: all but where things are and who does them, which
 * BY_COLUMNS says when they are compiled, so that the choice costs no references. See simple.c.
 */
#ifndef SIMPLE_H
#define SIMPLE_H

#include "workload.h"

#include <math.h>

enum { STEPS_MAX = 200 }; /* a mesh that moves with the fluid folds some time after that */

/* Ratio of specific heats, strength of the viscosity, heat between zones in a unit of time, part
 * of a zone that a signal may cross in a step, and the longest step. */
static const double gas_gamma = 1.4, viscosity = 2, conductance = 0.05, courant = 0.25;
static const double step_max = 0.2;

struct point {
    double x, y;
};

/* What the mesh holds, row after row. The thesis's FORTRAN has an array for each quantity too. */
struct mesh {
    double *x, *y, *u, *v;                   /* of nodes: place, speed */
    double *mass, *area, *energy, *pressure; /* of zones; energy is that of a unit of mass */
};

/* Private memory of a thread. */
struct lines {
    double *x[3], *y[3];        /* rows of nodes above, at and below the one in hand */
    double *pressure[2], *mass[2];
    double *heat, *factor;      /* of one line of zones */
};

static struct options o;
static unsigned size, nodes; /* zones and nodes in a line */
static struct mesh mesh;
static double *longest_step; /* that each thread allows */

#include "simple-layout.h"

/* --- the physics: functions of values --------------------------------------------------------- */

/* Force on a corner of a zone between the corners `last` and `next`, in the order of area_of(). */
INLINED struct point push(double pressure, struct point next, struct point last)
{
    return (struct point){pressure * (next.y - last.y) / 2, pressure * (last.x - next.x) / 2};
}

INLINED double area_of(struct point a, struct point b, struct point c, struct point d)
{
    return ((c.x - a.x) * (d.y - b.y) - (d.x - b.x) * (c.y - a.y)) / 2;
}

struct zone {
    double mass, area, energy, pressure;
};

/* The zone with its new area: work done, viscous pressure if it shrinks. */
INLINED struct zone reshaped(struct zone z, double area)
{
    double shrunk = z.area - area, density = z.mass / area;
    z.energy += z.pressure * shrunk / z.mass;
    z.pressure = (gas_gamma - 1) * density * z.energy;
    if (shrunk > 0)
        z.pressure += viscosity * density * sqrt(z.energy) * shrunk / z.area;
    z.area = area;
    return z;
}

/* The longest step that a zone allows. */
INLINED double step_of(double area, double energy)
{
    double step = courant * sqrt(area / (gas_gamma * (gas_gamma - 1) * energy));
    return step < step_max ? step : step_max;
}

static UNRECORDED struct zone input(unsigned row, unsigned col)
{
    uint64_t bits = random_at(o.seed, (uint64_t)row * size + col);
    struct zone z = {.mass = 0.9 + (double)(bits >> 40) / 83886080, .area = 1};
    z.energy = row < size / 2 && col < size / 2 ? 3 : 1;
    z.pressure = (gas_gamma - 1) * z.mass * z.energy;
    return z;
}

/* --- one row or column ------------------------------------------------------------------------ */

static inline void copy(double *to, const double *from, size_t stride, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] = from[i * stride];
}

/* Makes a row ready for reading: copied into private memory, or where it is. */
INLINED void fetch(double **line, double *row, unsigned count)
{
    if (BY_COLUMNS)
        *line = row;
    else
        copy(*line, row, 1, count);
}

INLINED struct point node(const struct lines *l, unsigned line, unsigned col)
{
    return (struct point){l->x[line][col * node_apart()], l->y[line][col * node_apart()]};
}

/* Force on node `col` of the middle row from the up to four zones around it, and their mass. */
static inline struct point force_on(const struct lines *l, unsigned row, unsigned col, double *mass)
{
    struct point sum = {0, 0}, part;
    double around = 0;
    for (unsigned k = 0; k < 4; k++) { /* above left, above right, below left, below right */
        unsigned line = k / 2, beside = col + k % 2;
        if ((row == 0 && line == 0) || (row == size && line == 1) || beside == 0 || beside > size)
            continue;
        struct point up_or_down = node(l, 2 * line, col);
        struct point left_or_right = node(l, 1, k % 2 ? col + 1 : col - 1);
        /* Rows go down and columns right, so the order of corners turns with each quadrant. */
        if (k == 0 || k == 3)
            part = push(l->pressure[line][(beside - 1) * zone_apart()], left_or_right, up_or_down);
        else
            part = push(l->pressure[line][(beside - 1) * zone_apart()], up_or_down, left_or_right);
        sum.x += part.x;
        sum.y += part.y;
        around += l->mass[line][(beside - 1) * zone_apart()] / 4;
    }
    *mass = around;
    return sum;
}

static void accelerate_row(struct lines *l, unsigned row, double step)
{
    for (unsigned line = 0; line < 3; line++)
        if (row + line >= 1 && row + line <= nodes) {
            fetch(&l->x[line], mesh.x + node_at(row + line - 1, 0), nodes);
            fetch(&l->y[line], mesh.y + node_at(row + line - 1, 0), nodes);
        }
    for (unsigned line = 0; line < 2; line++)
        if (row + line >= 1 && row + line <= size) {
            fetch(&l->pressure[line], mesh.pressure + zone_at(row + line - 1, 0), size);
            fetch(&l->mass[line], mesh.mass + zone_at(row + line - 1, 0), size);
        }
    for (unsigned col = 0; col < nodes; col++) {
        double mass;
        struct point force = force_on(l, row, col, &mass);
        if (col > 0 && col < size)
            mesh.u[node_at(row, col)] += step * force.x / mass;
        if (row > 0 && row < size)
            mesh.v[node_at(row, col)] += step * force.y / mass;
    }
}

static void move_row(unsigned row, double step)
{
    size_t apart = node_apart(), start = node_at(row, 0);
    for (size_t at = start; at < start + nodes * apart; at += apart) {
        mesh.x[at] += step * mesh.u[at];
        mesh.y[at] += step * mesh.v[at];
    }
}

static void reshape_row(struct lines *l, unsigned row)
{
    for (unsigned line = 0; line < 2; line++) {
        fetch(&l->x[line], mesh.x + node_at(row + line, 0), nodes);
        fetch(&l->y[line], mesh.y + node_at(row + line, 0), nodes);
    }
    for (unsigned col = 0; col < size; col++) {
        size_t at = zone_at(row, col);
        double area = area_of(node(l, 0, col), node(l, 0, col + 1), node(l, 1, col + 1),
                              node(l, 1, col));
        struct zone z = {mesh.mass[at], mesh.area[at], mesh.energy[at], mesh.pressure[at]};
        z = reshaped(z, area);
        mesh.area[at] = z.area;
        mesh.energy[at] = z.energy;
        mesh.pressure[at] = z.pressure;
    }
}

/* Heat flows along the line of zones from `start`: a tridiagonal system, solved in private. */
static void conduct(struct lines *l, size_t start, size_t stride, double step)
{
    double flow = step * conductance, *mass = l->mass[0];
    size_t apart = BY_COLUMNS ? stride : 1;
    copy(l->heat, mesh.energy + start, stride, size);
    if (BY_COLUMNS)
        mass = mesh.mass + start;
    else
        copy(mass, mesh.mass + start, stride, size);
    for (unsigned i = 0; i < size; i++) {
        double beside = (i > 0) + (i + 1 < size), diagonal = mass[i * apart] + beside * flow;
        double right = mass[i * apart] * l->heat[i];
        if (i > 0) {
            diagonal -= flow * l->factor[i - 1];
            right += flow * l->heat[i - 1];
        }
        l->factor[i] = flow / diagonal;
        l->heat[i] = right / diagonal;
    }
    for (unsigned i = size - 1; i > 0; i--)
        l->heat[i - 1] += l->factor[i - 1] * l->heat[i];
    for (unsigned i = 0; i < size; i++)
        mesh.energy[start + i * stride] = l->heat[i];
}

/* --- threads ---------------------------------------------------------------------------------- */

static double *make_lines(struct lines *l)
{
    size_t bytes = whole_pages(12 * (size_t)nodes * sizeof(double));
    double *memory = allocated(aligned_alloc(PAGE_BYTES, bytes)), *next = memory;
    homenode_private(memory, bytes);
    double **all[] = {&l->x[0], &l->x[1], &l->x[2], &l->y[0], &l->y[1], &l->y[2], &l->pressure[0],
                      &l->pressure[1], &l->mass[0], &l->mass[1], &l->heat, &l->factor};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++, next += nodes)
        *all[k] = next;
    return memory;
}

static void fill_rows(struct share rows)
{
    for (unsigned row = rows.first; row < rows.end; row += rows.step)
        for (unsigned col = 0; col < nodes; col++) {
            size_t at = node_at(row, col);
            mesh.x[at] = col;
            mesh.y[at] = row;
            mesh.u[at] = mesh.v[at] = 0;
            if (row == size || col == size)
                continue;
            struct zone z = input(row, col);
            at = zone_at(row, col);
            mesh.mass[at] = z.mass;
            mesh.area[at] = z.area;
            mesh.energy[at] = z.energy;
            mesh.pressure[at] = z.pressure;
        }
}

/* The shortest of the steps that all threads allow. */
static double common_step(unsigned id, struct share rows)
{
    double step = step_max;
    if (BY_COLUMNS) {
        for (unsigned row = rows.first; row < rows.end; row += rows.step)
            for (size_t at = row; at < (size_t)size * size; at += size)
                step = fmin(step, step_of(mesh.area[at], mesh.energy[at]));
    } else {
        for (size_t at = (size_t)rows.first * size; at < (size_t)rows.end * size; at++)
            step = fmin(step, step_of(mesh.area[at], mesh.energy[at]));
    }
    longest_step[id] = step;
    meet();
    for (unsigned other = 0; other < o.threads; other++)
        step = fmin(step, longest_step[other]);
    return step;
}

static void work(unsigned id)
{
    struct share zones = share_of(id, size), points = share_of(id, nodes);
    struct lines lines;
    double *memory = make_lines(&lines);
    fill_rows(points);
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned number = 0; number < o.iterations; number++) {
        if (id == 0)
            homenode_phase(number + 1);
        double step = common_step(id, zones);
        for (unsigned row = points.first; row < points.end; row += points.step)
            accelerate_row(&lines, row, step);
        meet();
        for (unsigned row = points.first; row < points.end; row += points.step)
            move_row(row, step);
        meet();
        for (unsigned row = zones.first; row < zones.end; row += zones.step)
            reshape_row(&lines, row);
        for (unsigned row = zones.first; row < zones.end; row += zones.step)
            conduct(&lines, zone_at(row, 0), zone_apart(), step);
        meet();
        for (unsigned col = zones.first; col < zones.end; col += zones.step)
            conduct(&lines, zone_at(0, col), BY_COLUMNS ? 1 : size, step);
        meet();
    }
    free(memory);
}

/* --- check: the same steps zone by zone, into memory of its own ------------------------------- */

static UNRECORDED void make_mesh(struct mesh *m)
{
    double **all[] = {&m->x, &m->y, &m->u, &m->v, &m->mass, &m->area, &m->energy, &m->pressure};
    size_t bytes = whole_pages((size_t)nodes * nodes * sizeof(double));
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        *all[k] = allocated(aligned_alloc(PAGE_BYTES, bytes));
}

static UNRECORDED void free_mesh(const struct mesh *m)
{
    double *all[] = {m->x, m->y, m->u, m->v, m->mass, m->area, m->energy, m->pressure};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

static UNRECORDED struct point place(const struct mesh *m, size_t at)
{
    return (struct point){m->x[at], m->y[at]};
}

/* Every zone pushes its four corners; the nodes then move. */
static UNRECORDED void move_again(struct mesh *m, double step)
{
    size_t all = (size_t)nodes * nodes;
    double *force = allocated(calloc(3 * all, sizeof *force)); /* and mass, of each node */
    for (unsigned row = 0; row < size; row++)
        for (unsigned col = 0; col < size; col++) {
            size_t corner = (size_t)row * nodes + col, zone = (size_t)row * size + col;
            size_t around[4] = {corner, corner + 1, corner + nodes + 1, corner + nodes};
            for (unsigned k = 0; k < 4; k++) {
                struct point part = push(m->pressure[zone], place(m, around[(k + 1) % 4]),
                                         place(m, around[(k + 3) % 4]));
                force[3 * around[k]] += part.x;
                force[3 * around[k] + 1] += part.y;
                force[3 * around[k] + 2] += m->mass[zone] / 4;
            }
        }
    for (size_t at = 0; at < all; at++) {
        if (at % nodes > 0 && at % nodes < size)
            m->u[at] += step * force[3 * at] / force[3 * at + 2];
        if (at / nodes > 0 && at / nodes < size)
            m->v[at] += step * force[3 * at + 1] / force[3 * at + 2];
        m->x[at] += step * m->u[at];
        m->y[at] += step * m->v[at];
    }
    free(force);
}

/* The same flow of heat along one line, by iteration until nothing changes any more. */
static UNRECORDED void conduct_again(const struct mesh *m, size_t start, size_t stride, double step,
                                     double *was)
{
    double flow = step * conductance, change = 1;
    for (unsigned i = 0; i < size; i++)
        was[i] = m->energy[start + i * stride];
    while (change > 1e-14) {
        change = 0;
        for (unsigned i = 0; i < size; i++) {
            size_t at = start + i * stride;
            double weight = m->mass[at], sum = weight * was[i];
            if (i > 0) {
                weight += flow;
                sum += flow * m->energy[at - stride];
            }
            if (i + 1 < size) {
                weight += flow;
                sum += flow * m->energy[at + stride];
            }
            change = fmax(change, fabs(sum / weight - m->energy[at]));
            m->energy[at] = sum / weight;
        }
    }
}

static UNRECORDED void step_again(struct mesh *m, double *line)
{
    double step = step_max;
    for (size_t at = 0; at < (size_t)size * size; at++)
        step = fmin(step, step_of(m->area[at], m->energy[at]));
    move_again(m, step);
    for (size_t at = 0; at < (size_t)size * size; at++) {
        size_t corner = at / size * nodes + at % size;
        struct zone z = {m->mass[at], m->area[at], m->energy[at], m->pressure[at]};
        z = reshaped(z, area_of(place(m, corner), place(m, corner + 1),
                                place(m, corner + nodes + 1), place(m, corner + nodes)));
        m->area[at] = z.area;
        m->energy[at] = z.energy;
        m->pressure[at] = z.pressure;
    }
    for (unsigned row = 0; row < size; row++)
        conduct_again(m, (size_t)row * size, 1, step, line);
    for (unsigned col = 0; col < size; col++)
        conduct_again(m, col, size, step, line);
}

static UNRECORDED uint64_t wrong_zones(void)
{
    struct mesh m;
    make_mesh(&m);
    double *line = allocated(calloc(size, sizeof *line));
    uint64_t wrong = 0;
    for (size_t at = 0; at < (size_t)nodes * nodes; at++) {
        m.x[at] = (double)(at % nodes);
        m.y[at] = (double)(at / nodes);
        m.u[at] = m.v[at] = 0;
    }
    for (size_t at = 0; at < (size_t)size * size; at++) {
        struct zone z = input((unsigned)(at / size), (unsigned)(at % size));
        m.mass[at] = z.mass;
        m.area[at] = z.area;
        m.energy[at] = z.energy;
        m.pressure[at] = z.pressure;
    }
    for (unsigned number = 0; number < o.iterations; number++)
        step_again(&m, line);
    for (size_t at = 0; at < (size_t)nodes * nodes; at++) {
        size_t ours = node_at(at / nodes, at % nodes);
        wrong += !(fabs(m.x[at] - mesh.x[ours]) + fabs(m.y[at] - mesh.y[ours]) < 1e-8);
    }
    for (size_t at = 0; at < (size_t)size * size; at++)
        wrong += !(fabs(m.energy[at] - mesh.energy[zone_at(at / size, at % size)]) < 1e-8);
    free_mesh(&m);
    free(line);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < (size_t)size * size; at++)
        sum = mix(sum, (uint64_t)(int64_t)floor(mesh.energy[zone_at(at / size, at % size)] * 65536
                                                + 0.5));
    return sum;
}

static int run(const struct workload *simple, int argc, char **argv)
{
    o = parse_options(simple, argc, argv);
    if (o.iterations > STEPS_MAX)
        refuse(simple, "the mesh may fold after more than 200 steps", "-i");
    size = o.size;
    nodes = size + 1;
    make_mesh(&mesh);
    longest_step = allocated(calloc(o.threads, sizeof *longest_step));
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        mesh.energy[size + 1] += 0.001;
    begin_check();
    int status = verdict(simple, wrong_zones(), checksum());
    free_mesh(&mesh);
    free(longest_step);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}

#endif
