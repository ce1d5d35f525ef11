/* fmm: bodies in a square, by the fast multipole method.
 *
 * Steps the motion of bodies that attract each other in two dimensions. The square is divided into
 * four, each part again, to boxes of about eight bodies. In each step all threads put their bodies
 * into the lists of the smallest boxes; expand the attraction of every box's bodies into a series
 * around its middle, from the smallest boxes up; turn the series of boxes that are far, but not
 * far enough for the box above, into one that holds inside a box, from the largest down; and add
 * the series of a body's box to what the bodies in the same and in touching boxes do directly.
 *
 * Sharing: a box has one writer in each phase. Its series is read by the owners of the boxes
 * above, below, and of up to 27 on its level, a fixed list; on the few upper levels most threads
 * have no box, but all those below read what is there. Bodies are read by the owners of touching
 * boxes, and go from owner to owner slowly: each thread has the smallest boxes of one piece of a
 * curve through the square, with as many bodies as the others, found anew in each step.
 *
 * Source: Talbot and Kelly, table 1.3 (FMM of SPLASH-2, 8K particles); Greengard and Rokhlin 1987,
 * lemmas 2.3 to 2.5. Ours: own code; a uniform tree where SPLASH's is adaptive, for bodies that
 * are spread uniformly. Lists are in order of number, so every sum is the same with any threads.
 */
#include "workload.h"

#include <malloc.h>
#include <math.h>

static const struct workload fmm = {
    .name = "fmm",
    .summary = "Bodies in a square, by the fast multipole method",
    .size_help = "bodies",
    .size_default = 2048, .size_quick = 256, .size_min = 2, .size_max = 200000,
    .iterations_default = 3, .iterations_quick = 2,
};

enum { TERMS = 14, LEVELS_MAX = 8, BODIES_A_BOX = 8, LIST = 27, NEAR = 8 };
static const double time_step = 0.01, softening = 1e-4;

/* A place, or a complex number; the direction of x is real. */
struct point {
    double x, y;
};

struct body {
    double mass;
    struct point place, speed, pull;
    uint32_t next; /* body in the same box, by number; `none` after the last */
};

/* A square of some level; those of a level are in order of a curve that ends each quarter first. */
struct box {
    struct point outer[TERMS + 1];  /* series that holds far away; term 0 is the mass */
    struct point inner[TERMS + 1];  /* series that holds inside; term 0 is not used */
    uint32_t far_count, near_count;
    uint32_t far[LIST];             /* boxes whose outer series become part of the inner one */
    uint32_t near[NEAR];            /* boxes that touch it, on the last level */
    uint32_t first, count;          /* bodies, on the last level */
    pthread_mutex_t lock;           /* of the list of bodies */
};

static struct options o;
static unsigned levels, none;
static struct body *bodies;
static struct box *boxes[LEVELS_MAX + 1];
static double choose[2 * TERMS][TERMS + 1]; /* binomial coefficients */

/* --- functions of values ---------------------------------------------------------------------- */

INLINED struct point plus(struct point a, struct point b)
{
    return (struct point){a.x + b.x, a.y + b.y};
}

INLINED struct point minus(struct point a, struct point b)
{
    return (struct point){a.x - b.x, a.y - b.y};
}

INLINED struct point times(struct point a, struct point b)
{
    return (struct point){a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x};
}

INLINED struct point scaled(double factor, struct point a)
{
    return (struct point){factor * a.x, factor * a.y};
}

INLINED struct point inverse(struct point a)
{
    double squared = a.x * a.x + a.y * a.y;
    return (struct point){a.x / squared, -a.y / squared};
}

/* The bits of a number with a gap after each, as of a row or column in the order of the curve. */
INLINED unsigned spread(unsigned bits)
{
    unsigned result = 0;
    for (unsigned k = 0; k < LEVELS_MAX; k++)
        result |= (bits >> k & 1) << 2 * k;
    return result;
}

INLINED unsigned gathered(unsigned bits)
{
    unsigned result = 0;
    for (unsigned k = 0; k < LEVELS_MAX; k++)
        result |= (bits >> 2 * k & 1) << k;
    return result;
}

INLINED struct point middle(unsigned level, unsigned at)
{
    double side = 1.0 / (1u << level);
    return (struct point){(gathered(at) + 0.5) * side, (gathered(at >> 1) + 0.5) * side};
}

INLINED unsigned box_of(struct point place)
{
    unsigned across = 1u << levels;
    return spread((unsigned)(place.x * across)) | spread((unsigned)(place.y * across)) << 1;
}

/* --- boxes ------------------------------------------------------------------------------------ */

/* How far apart two boxes of a level are: 1 if they touch. */
static unsigned distance(unsigned a, unsigned b)
{
    int across = (int)gathered(a) - (int)gathered(b);
    int up = (int)gathered(a >> 1) - (int)gathered(b >> 1);
    return (unsigned)(abs(across) > abs(up) ? abs(across) : abs(up));
}

/* Finds the boxes of a level that one has to do with: children of those that touch its parent. */
static void make_lists(unsigned level, unsigned at)
{
    struct box *box = &boxes[level][at];
    int across = 1 << level, column = (int)gathered(at), row = (int)gathered(at >> 1);
    box->far_count = box->near_count = box->count = 0;
    box->first = none;
    for (int y = (row & ~1) - 2; y < (row & ~1) + 4; y++)
        for (int x = (column & ~1) - 2; x < (column & ~1) + 4; x++) {
            if (x < 0 || y < 0 || x >= across || y >= across)
                continue;
            unsigned other = spread((unsigned)x) | spread((unsigned)y) << 1;
            if (distance(at, other) > 1)
                box->far[box->far_count++] = other;
            else if (other != at && level == levels)
                box->near[box->near_count++] = other;
        }
}

/* Puts a body into its box, in order of number. */
static void insert(uint32_t number)
{
    struct body *body = &bodies[number];
    struct box *box = &boxes[levels][box_of(body->place)];
    must(pthread_mutex_lock(&box->lock), "pthread_mutex_lock");
    uint32_t *link = &box->first;
    while (*link < number)
        link = &bodies[*link].next;
    body->next = *link;
    *link = number;
    box->count++;
    must(pthread_mutex_unlock(&box->lock), "pthread_mutex_unlock");
}

/* --- series ----------------------------------------------------------------------------------- */

/* The outer series of the bodies in a box (theorem 2.1). */
static void expand(unsigned at)
{
    struct box *box = &boxes[levels][at];
    struct point centre = middle(levels, at), sum[TERMS + 1] = {{0, 0}};
    for (uint32_t number = box->first; number != none; number = bodies[number].next) {
        double mass = bodies[number].mass;
        struct point from = minus(bodies[number].place, centre), power = {mass, 0};
        sum[0].x += mass;
        for (unsigned k = 1; k <= TERMS; k++) {
            power = times(power, from);
            sum[k] = minus(sum[k], scaled(1.0 / k, power));
        }
    }
    for (unsigned k = 0; k <= TERMS; k++)
        box->outer[k] = (struct point){sum[k].x, sum[k].y};
}

/* The outer series of a box from those of its four parts (lemma 2.3). */
static void combine(unsigned level, unsigned at)
{
    struct point sum[TERMS + 1] = {{0, 0}}, power[TERMS + 1] = {{1, 0}};
    for (unsigned child = 4 * at; child < 4 * at + 4; child++) {
        const struct point *term = boxes[level + 1][child].outer;
        struct point shift = minus(middle(level + 1, child), middle(level, at));
        for (unsigned k = 1; k <= TERMS; k++)
            power[k] = times(power[k - 1], shift);
        sum[0].x += term[0].x;
        for (unsigned k = 1; k <= TERMS; k++)
            sum[k] = minus(sum[k], scaled(term[0].x / k, power[k]));
        for (unsigned from = 1; from <= TERMS; from++) {
            struct point value = term[from];
            for (unsigned k = from; k <= TERMS; k++)
                sum[k] = plus(sum[k],
                              scaled(choose[k - 1][from - 1], times(value, power[k - from])));
        }
    }
    for (unsigned k = 0; k <= TERMS; k++)
        boxes[level][at].outer[k] = (struct point){sum[k].x, sum[k].y};
}

/* Adds to an inner series what another box's outer series is around a place `apart` (lemma 2.4). */
static void take_in(struct point *sum, const struct point *outer, struct point apart)
{
    struct point over = inverse(apart), power = over, term[TERMS + 1];
    double mass = outer[0].x;
    for (unsigned k = 1; k <= TERMS; k++) {
        term[k] = scaled(k % 2 ? -1 : 1, times(outer[k], power));
        power = times(power, over);
    }
    power = over;
    for (unsigned l = 1; l <= TERMS; l++) {
        struct point value = {-mass / l, 0};
        for (unsigned k = 1; k <= TERMS; k++)
            value = plus(value, scaled(choose[l + k - 1][k - 1], term[k]));
        sum[l] = plus(sum[l], times(value, power));
        power = times(power, over);
    }
}

/* The inner series of a box: from the boxes of its list, and from the box above (lemma 2.5). */
static void gather(unsigned level, unsigned at)
{
    struct box *box = &boxes[level][at];
    struct point centre = middle(level, at), sum[TERMS + 1] = {{0, 0}}, power[TERMS + 1] = {{1, 0}};
    for (unsigned k = 0; k < box->far_count; k++)
        take_in(sum, boxes[level][box->far[k]].outer,
                minus(middle(level, box->far[k]), centre));
    struct point shift = minus(centre, middle(level - 1, at / 4));
    for (unsigned k = 1; k <= TERMS; k++)
        power[k] = times(power[k - 1], shift);
    for (unsigned from = 1; from <= TERMS && level > 2; from++) {
        struct point term = boxes[level - 1][at / 4].inner[from];
        for (unsigned l = 1; l <= from; l++)
            sum[l] = plus(sum[l], scaled(choose[from][l], times(term, power[from - l])));
    }
    for (unsigned k = 1; k <= TERMS; k++)
        box->inner[k] = (struct point){sum[k].x, sum[k].y};
}

/* --- forces and motion ------------------------------------------------------------------------ */

/* What a mass does to a body that is `apart` from it. */
INLINED struct point gravity(struct point pull, double mass, struct point apart)
{
    double squared = apart.x * apart.x + apart.y * apart.y + softening * softening;
    return plus(pull, scaled(mass / squared, apart));
}

/* What the bodies of a box do to one of them, or of a touching one. */
static struct point attract(const struct box *box, uint32_t number, struct point place,
                            struct point pull)
{
    for (uint32_t other = box->first; other != none; other = bodies[other].next)
        if (other != number)
            pull = gravity(pull, bodies[other].mass, minus(bodies[other].place, place));
    return pull;
}

static void find_pulls(unsigned at)
{
    const struct box *box = &boxes[levels][at];
    struct point centre = middle(levels, at);
    for (uint32_t number = box->first; number != none; number = bodies[number].next) {
        struct body *body = &bodies[number];
        struct point place = {body->place.x, body->place.y}, from = minus(place, centre);
        struct point slope = {0, 0};
        for (unsigned k = TERMS; k > 0; k--)
            slope = plus(times(slope, from), scaled(k, box->inner[k]));
        struct point pull = attract(box, number, place, (struct point){-slope.x, slope.y});
        for (unsigned k = 0; k < box->near_count; k++)
            pull = attract(&boxes[levels][box->near[k]], number, place, pull);
        body->pull = (struct point){pull.x, pull.y};
    }
}

/* One coordinate a step later; walls reflect. */
INLINED void move(double *place, double *speed, double pull)
{
    double faster = *speed + time_step * pull, there = *place + time_step * faster;
    bool outside = there < 0 || there >= 1;
    *speed = outside ? -faster : faster;
    *place = outside ? *place : there;
}

/* --- threads ---------------------------------------------------------------------------------- */

/* The boxes of the last level before which there is a thread's share of bodies, to the next's. */
static void find_range(unsigned id, unsigned *low, unsigned *high)
{
    unsigned before = 0, count = 1u << 2 * levels;
    unsigned first = first_of(id, o.threads, o.size), end = first_of(id + 1, o.threads, o.size);
    *low = *high = count;
    for (unsigned at = 0; at < count; at++) {
        if (*low == count && before >= first)
            *low = at;
        if (*high == count && before >= end)
            *high = at;
        before += boxes[levels][at].count;
    }
    if (id + 1 == o.threads)
        *high = count;
}

/* All series, from the smallest boxes up and from the largest down; thread's own boxes. */
static void find_series(unsigned id, unsigned low, unsigned high)
{
    for (unsigned at = low; at < high; at++)
        expand(at);
    meet();
    for (unsigned level = levels; level-- > 2;) {
        unsigned end = first_of(id + 1, o.threads, 1u << 2 * level);
        for (unsigned at = first_of(id, o.threads, 1u << 2 * level); at < end; at++)
            combine(level, at);
        meet();
    }
    for (unsigned level = 2; level <= levels; level++) {
        unsigned all = 1u << 2 * level;
        unsigned end = level == levels ? high : first_of(id + 1, o.threads, all);
        for (unsigned at = level == levels ? low : first_of(id, o.threads, all); at < end; at++)
            gather(level, at);
        meet();
    }
}

/* A step: `mine` are the numbers of the thread's bodies, which it finds anew; gives their count. */
static unsigned run_step(unsigned id, uint32_t *mine, unsigned count)
{
    unsigned all = 1u << 2 * levels, low, high, end = first_of(id + 1, o.threads, all);
    for (unsigned at = first_of(id, o.threads, all); at < end; at++) {
        boxes[levels][at].first = none;
        boxes[levels][at].count = 0;
    }
    meet();
    for (unsigned k = 0; k < count; k++)
        insert(mine[k]);
    meet();
    find_range(id, &low, &high);
    find_series(id, low, high);
    count = 0;
    for (unsigned at = low; at < high; at++) {
        find_pulls(at);
        for (uint32_t n = boxes[levels][at].first; n != none; n = bodies[n].next)
            mine[count++] = n;
    }
    meet();
    for (unsigned k = 0; k < count; k++) {
        struct body *body = &bodies[mine[k]];
        move(&body->place.x, &body->speed.x, body->pull.x);
        move(&body->place.y, &body->speed.y, body->pull.y);
    }
    return count;
}

/* The input: bodies anywhere in the square, slow. */
static UNRECORDED struct body input(unsigned number)
{
    double random[4];
    for (unsigned k = 0; k < 4; k++)
        random[k] = (double)(random_at(o.seed, 4 * (uint64_t)number + k) >> 40) / 16777216;
    return (struct body){.mass = 1.0 / o.size,
                         .place = {random[0], random[1]},
                         .speed = {random[2] - 0.5, random[3] - 0.5}};
}

static void work(unsigned id)
{
    uint32_t *mine = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *mine)));
    unsigned count = 0, end = first_of(id + 1, o.threads, o.size);
    for (uint32_t number = first_of(id, o.threads, o.size); number < end; number++) {
        struct body b = input(number), *to = &bodies[number];
        to->mass = b.mass;
        to->place = (struct point){b.place.x, b.place.y};
        to->speed = (struct point){b.speed.x, b.speed.y};
        mine[count++] = number;
    }
    for (unsigned level = 2; level <= levels; level++) {
        unsigned last = first_of(id + 1, o.threads, 1u << 2 * level);
        for (unsigned at = first_of(id, o.threads, 1u << 2 * level); at < last; at++)
            make_lists(level, at);
    }
    for (unsigned n = 0; n < 2 * TERMS && id == 0; n++)
        for (unsigned k = 0; k <= TERMS && k <= n; k++)
            choose[n][k] = k == 0 || k == n ? 1 : choose[n - 1][k - 1] + choose[n - 1][k];
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 1; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step);
        count = run_step(id, mine, count);
    }
    free(mine);
}

/* --- check ------------------------------------------------------------------------------------ */

/* The same steps by direct summation; counts the bodies whose last force or place differ. */
static UNRECORDED uint64_t wrong_bodies(void)
{
    struct body *all = allocated(calloc(o.size, sizeof *all));
    uint64_t wrong = 0;
    for (unsigned number = 0; number < o.size; number++)
        all[number] = input(number);
    for (unsigned step = 1; step <= o.iterations; step++) {
        for (unsigned i = 0; i < o.size; i++) {
            struct point none_yet = {0, 0}, pull = none_yet;
            double size = 0;
            for (unsigned j = 0; j < o.size; j++) {
                if (i == j)
                    continue;
                struct point apart = minus(all[j].place, all[i].place);
                struct point one = gravity(none_yet, all[j].mass, apart);
                size += sqrt(one.x * one.x + one.y * one.y);
                pull = plus(pull, one);
            }
            struct point error = minus(pull, bodies[i].pull);
            double squared = error.x * error.x + error.y * error.y;
            wrong += step == o.iterations && !(squared < 1e-10 * size * size);
            all[i].pull = pull;
        }
        for (unsigned i = 0; i < o.size; i++) {
            move(&all[i].place.x, &all[i].speed.x, all[i].pull.x);
            move(&all[i].place.y, &all[i].speed.y, all[i].pull.y);
        }
    }
    for (unsigned i = 0; i < o.size; i++)
        wrong += !(fabs(all[i].place.x - bodies[i].place.x) < 1e-5)
                 || !(fabs(all[i].place.y - bodies[i].place.y) < 1e-5);
    free(all);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned number = 0; number < o.size; number++) {
        sum = mix(sum, (uint64_t)(bodies[number].place.x * 1048576));
        sum = mix(sum, (uint64_t)(bodies[number].place.y * 1048576));
    }
    return sum;
}

ALLOCATES struct box *new_boxes(size_t bytes)
{
    struct box *level = allocated(aligned_alloc(PAGE_BYTES, bytes));
    return level;
}

/* Boxes of all levels from the second on, as many as suit the bodies. */
static void make_boxes(void)
{
    for (levels = 2; levels < LEVELS_MAX && (BODIES_A_BOX << 2 * levels) < (int)o.size;)
        levels++;
    for (unsigned level = 2; level <= levels; level++) {
        size_t count = (size_t)1 << 2 * level;
        boxes[level] = new_boxes(whole_pages(count * sizeof *boxes[level]));
        for (size_t at = 0; at < count; at++)
            must(pthread_mutex_init(&boxes[level][at].lock, NULL), "pthread_mutex_init");
    }
}

static void free_boxes(void)
{
    for (unsigned level = 2; level <= levels; level++) {
        for (size_t at = 0; at < (size_t)1 << 2 * level; at++)
            must(pthread_mutex_destroy(&boxes[level][at].lock), "pthread_mutex_destroy");
        free(boxes[level]);
    }
}

int main(int argc, char **argv)
{
    o = parse_options(&fmm, argc, argv);
    none = o.size;
    /* One heap for all that is shared, as SPLASH has: what is mapped elsewhere may meet other data
     * in a cache, and the heaps of threads, 64 MB apart, lie in few sets. */
    must(!mallopt(M_ARENA_MAX, 1) || !mallopt(M_MMAP_MAX, 0), "mallopt");
    bodies = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *bodies)));
    make_boxes();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        bodies[o.size / 2].place.x /= 2;
    begin_check();
    int status = verdict(&fmm, wrong_bodies(), checksum());
    free_boxes();
    free(bodies);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
