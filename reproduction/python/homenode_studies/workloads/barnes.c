/* barnes: a cluster of stars, by the method of Barnes and Hut.
 *
 * In each step all threads put their bodies into one octree, whose cells are divided when they hold
 * too many; find mass and centre of mass of every cell from the leaves up; divide the bodies among
 * themselves; and compute what acts on each of theirs: a cell that is far away for its size acts as
 * one body, a near one through its parts. Speeds and places follow by leapfrog.
 *
 * Sharing: the tree is written by all threads at once, under a lock a cell, then read, its top by
 * all and each branch mostly by those whose bodies are near. A body is written by its owner and
 * read by many; its neighbours in the array are anybody's, because bodies are in no order. In each
 * step a thread takes bodies next to each other in the tree, of as much cost as the others' had.
 *
 * Source: Talbot and Kelly, table 1.3 (SPLASH-2's); Barnes and Hut 1986; Singh's cost zones. Ours:
 * own code; a cell acts by its mass and centre only, a leaf has its bodies in order of number. */
#include "vector.h"

#include <malloc.h>
#include <stdatomic.h>

static const struct workload barnes = {
    .name = "barnes",
    .summary = "Bodies that attract each other, by an octree of cells",
    .size_help = "bodies",
    .size_default = 2048, .size_quick = 128, .size_min = 32, .size_max = 200000,
    .iterations_default = 3, .iterations_quick = 2,
};

/* Units: mass and radius of the cluster and the constant of gravity are 1. */
enum { LEAF_BODIES = 8, DEPTH_MAX = 64, CHUNK = 53, SPLIT_LEVEL = 3 };
static const double opening = 1, softening = 0.05, time_step = 0.025;

struct body {
    double mass;
    struct vector place, speed, pull;
    uint64_t cost;  /* what it acted upon the body in the step before */
};

/* A cube of space: a leaf with bodies, or a cell of eight smaller cubes. */
struct node {
    double mass;
    struct vector centre; /* of mass */
    uint64_t cost;        /* of all bodies in it */
    bool is_cell;         /* for as long as the tree stands */
    uint32_t count;       /* bodies of a leaf */
    pthread_mutex_t lock; /* of a cell's children, and of leaves among them */
    union {
        struct node *_Atomic children[8];
        struct body *bodies[LEAF_BODIES]; /* in the order of their numbers */
    };
};

/* Where a node is: its middle, and half its side. */
struct cube {
    struct vector middle;
    double half;
};

/* A thread's nodes, taken anew in each step in the same order; a chunk of them fills two pages. */
struct pool {
    struct chunk {
        struct chunk *next;
        struct node nodes[CHUNK];
    } *first, *current;
    unsigned used;
};

/* What a thread keeps for itself. */
struct zone {
    struct body **bodies; /* its own */
    unsigned count, room;
    struct pool pool;
};

/* What threads tell each other. */
struct global {
    pthread_mutex_t lock; /* of the reach */
    double reach;         /* of all bodies from the origin, along any axis, so far */
    double half;          /* half the side of the tree's cube */
    struct node *root;
};

static struct options o;
static struct body *bodies;
static struct global *global;

/* Which of a cube's eight parts a place is in. */
INLINED unsigned octant(struct cube cube, struct vector place)
{
    return (place.x >= cube.middle.x) | (unsigned)(place.y >= cube.middle.y) << 1
           | (unsigned)(place.z >= cube.middle.z) << 2;
}

INLINED struct cube part(struct cube cube, unsigned which)
{
    double half = cube.half / 2;
    struct vector m = cube.middle;
    m.x += which & 1 ? half : -half;
    m.y += which & 2 ? half : -half;
    m.z += which & 4 ? half : -half;
    return (struct cube){m, half};
}

/* A body of Plummer's model; its speed has the model's dispersion where it is. */
static UNRECORDED struct body input(unsigned number)
{
    uint64_t at = 8 * (uint64_t)number;
    double share = uniform_at(o.seed, at, 0.001, 0.999);
    double turn = uniform_at(o.seed, at + 1, 0, 6.283185307), z = uniform_at(o.seed, at + 2, -1, 1);
    double r = 1 / sqrt(pow(share, -2.0 / 3) - 1), flat = r * sqrt(1 - z * z);
    return (struct body){
        .mass = 1.0 / o.size,
        .place = {flat * cos(turn), flat * sin(turn), r * z},
        .speed = plus((struct vector){0, 0, 0}, 0.7 / pow(1 + r * r, 0.25),
                      vector_at(o.seed, at + 3)),
        .cost = 1,
    };
}

/* Stores a body number by number, as a recorder sees it. */
static void put(struct body *to, struct body b)
{
    to->mass = b.mass;
    to->place = (struct vector){b.place.x, b.place.y, b.place.z};
    to->speed = (struct vector){b.speed.x, b.speed.y, b.speed.z};
    to->cost = b.cost;
}

/* --- the tree --------------------------------------------------------------------------------- */

/* More memory for nodes, their locks ready. */
static struct chunk *new_chunk(void)
{
    struct chunk *chunk = allocated(aligned_alloc(PAGE_BYTES, whole_pages(sizeof *chunk)));
    chunk->next = NULL;
    for (unsigned k = 0; k < CHUNK; k++)
        must(pthread_mutex_init(&chunk->nodes[k].lock, NULL), "pthread_mutex_init");
    return chunk;
}

static void free_pool(struct pool *pool)
{
    while (pool->first) {
        struct chunk *chunk = pool->first;
        pool->first = chunk->next;
        for (unsigned k = 0; k < CHUNK; k++)
            must(pthread_mutex_destroy(&chunk->nodes[k].lock), "pthread_mutex_destroy");
        free(chunk);
    }
}

/* A node of the thread's own: an empty leaf, or a cell without children. */
static struct node *new_node(struct pool *pool, bool is_cell)
{
    if (!pool->current || pool->used == CHUNK) {
        struct chunk **link = pool->current ? &pool->current->next : &pool->first;
        if (!*link)
            *link = new_chunk();
        pool->current = *link;
        pool->used = 0;
    }
    struct node *node = &pool->current->nodes[pool->used++];
    node->is_cell = is_cell;
    node->count = 0;
    for (unsigned k = 0; is_cell && k < 8; k++)
        atomic_store_explicit(&node->children[k], NULL, memory_order_relaxed);
    return node;
}

/* A child as it is; the tree does not change, or the caller has the lock. */
static struct node *child_of(struct node *cell, unsigned which)
{
    return atomic_load_explicit(&cell->children[which], memory_order_relaxed);
}

static void add_to_leaf(struct node *leaf, struct body *body)
{
    unsigned at = leaf->count++;
    for (; at > 0 && leaf->bodies[at - 1] > body; at--)
        leaf->bodies[at] = leaf->bodies[at - 1];
    leaf->bodies[at] = body;
}

/* A cell in place of a full leaf, with leaves for its bodies; no other thread has it yet. */
static struct node *divided(struct pool *pool, const struct node *leaf, struct cube cube)
{
    struct node *cell = new_node(pool, true);
    for (unsigned k = 0; k < LEAF_BODIES; k++) {
        unsigned which = octant(cube, leaf->bodies[k]->place);
        struct node *child = child_of(cell, which);
        if (!child) {
            child = new_node(pool, false);
            atomic_store_explicit(&cell->children[which], child, memory_order_relaxed);
        }
        add_to_leaf(child, leaf->bodies[k]);
    }
    return cell;
}

/* Adds a body to a leaf below a cell, or makes room for it; is it in the tree now? */
static bool add_below(struct node *cell, unsigned which, struct cube cube, struct body *body,
                      struct pool *pool)
{
    must(pthread_mutex_lock(&cell->lock), "pthread_mutex_lock");
    struct node *child = child_of(cell, which);
    bool room = !child || (!child->is_cell && child->count < LEAF_BODIES);
    if (!child) {
        child = new_node(pool, false);
        add_to_leaf(child, body);
        atomic_store_explicit(&cell->children[which], child, memory_order_release);
    } else if (room) {
        add_to_leaf(child, body);
    } else if (!child->is_cell) {
        atomic_store_explicit(&cell->children[which], divided(pool, child, cube),
                              memory_order_release);
    }
    must(pthread_mutex_unlock(&cell->lock), "pthread_mutex_unlock");
    return room;
}

static void insert(struct body *body, struct node *cell, double half, struct pool *pool)
{
    struct cube cube = {.half = half};
    struct vector place = body->place;
    for (unsigned depth = 0; depth < DEPTH_MAX;) {
        unsigned which = octant(cube, place);
        struct node *child = atomic_load_explicit(&cell->children[which], memory_order_acquire);
        if (child && child->is_cell) {
            cell = child;
            cube = part(cube, which);
            depth++;
        } else if (add_below(cell, which, part(cube, which), body, pool)) {
            return;
        }
    }
    fprintf(stderr, "barnes: bodies are too close to be told apart; choose another seed\n");
    exit(1);
}

/* Finds mass, centre and cost of a node from its parts; those `levels` below it are known. */
static void sum_up(struct node *node, unsigned levels)
{
    if (levels == 0)
        return;
    double mass = 0;
    struct vector moment = {0, 0, 0};
    uint64_t cost = 0;
    for (unsigned k = 0; !node->is_cell && k < node->count; k++) {
        const struct body *body = node->bodies[k];
        mass += body->mass;
        moment = plus(moment, body->mass, body->place);
        cost += body->cost;
    }
    for (unsigned k = 0; node->is_cell && k < 8; k++) {
        struct node *child = child_of(node, k);
        if (!child)
            continue;
        sum_up(child, levels - 1);
        mass += child->mass;
        moment = plus(moment, child->mass, child->centre);
        cost += child->cost;
    }
    node->mass = mass;
    node->centre = (struct vector){moment.x / mass, moment.y / mass, moment.z / mass};
    node->cost = cost;
}

/* Sums up those subtrees at the level SPLIT_LEVEL whose turn it is, by their place. */
static void sum_branches(unsigned id, struct node *node, unsigned level, unsigned path)
{
    if (level == SPLIT_LEVEL && path % o.threads == id)
        sum_up(node, DEPTH_MAX + 1);
    for (unsigned k = 0; level < SPLIT_LEVEL && node->is_cell && k < 8; k++)
        if (child_of(node, k))
            sum_branches(id, child_of(node, k), level + 1, path * 8 + k);
}

/* Gives a thread one more body. */
static void take(struct zone *zone, struct body *body)
{
    if (zone->count == zone->room) {
        zone->room *= 2;
        zone->bodies = allocated(realloc(zone->bodies, zone->room * sizeof *zone->bodies));
    }
    zone->bodies[zone->count++] = body;
}

/* Takes those bodies before which, in order of the tree, is a cost from `low` to below `high`. */
static void take_zone(struct zone *zone, struct node *node, uint64_t before, uint64_t low,
                      uint64_t high)
{
    for (unsigned k = 0; !node->is_cell && k < node->count; k++) {
        if (before >= low && before < high)
            take(zone, node->bodies[k]);
        before += node->bodies[k]->cost;
    }
    for (unsigned k = 0; node->is_cell && k < 8; k++) {
        struct node *child = child_of(node, k);
        if (!child)
            continue;
        if (before < high && before + child->cost > low)
            take_zone(zone, child, before, low, high);
        before += child->cost;
    }
}

/* --- forces ----------------------------------------------------------------------------------- */

/* The body in hand, on the stack of its thread. */
struct in_hand {
    struct vector place, pull;
    const struct body *body;
    uint64_t cost;
};

/* What a mass does to a body, to be added to its pull. */
INLINED struct vector gravity(struct vector pull, double mass, struct vector apart, double squared)
{
    double distance2 = squared + softening * softening;
    return plus(pull, mass / (distance2 * sqrt(distance2)), apart);
}

static void attract_by_bodies(const struct node *leaf, struct in_hand *it)
{
    struct vector place = it->place, pull = it->pull;
    uint32_t count = leaf->count;
    for (unsigned k = 0; k < count; k++) {
        const struct body *other = leaf->bodies[k];
        if (other == it->body)
            continue;
        struct vector apart = minus(other->place, place);
        pull = gravity(pull, other->mass, apart, dot(apart, apart));
    }
    it->pull = (struct vector){pull.x, pull.y, pull.z};
    it->cost += count;
}

static void attract(struct node *node, double side, struct in_hand *it)
{
    if (!node->is_cell) {
        attract_by_bodies(node, it);
        return;
    }
    struct vector apart = minus(node->centre, it->place);
    double squared = dot(apart, apart);
    if (side * side < opening * opening * squared) {
        struct vector pull = gravity(it->pull, node->mass, apart, squared);
        it->pull = (struct vector){pull.x, pull.y, pull.z};
        it->cost++;
        return;
    }
    for (unsigned k = 0; k < 8; k++) {
        struct node *child = child_of(node, k);
        if (child)
            attract(child, side / 2, it);
    }
}

static void find_pull(struct body *body, struct node *root, double half)
{
    struct in_hand it = {.place = {body->place.x, body->place.y, body->place.z},
                         .body = body, .cost = 1};
    attract(root, 2 * half, &it);
    body->pull = (struct vector){it.pull.x, it.pull.y, it.pull.z};
    body->cost = it.cost;
}

/* --- steps ------------------------------------------------------------------------------------ */

/* How far a thread's bodies are from the origin, along any axis. */
static double farthest(const struct zone *zone)
{
    double far = 0;
    for (unsigned k = 0; k < zone->count; k++) {
        struct vector p = zone->bodies[k]->place;
        far = fmax(far, fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))));
    }
    return far;
}

/* Finds how large the tree's cube is, for which thread 0 makes a root. */
static void measure(unsigned id, struct zone *zone)
{
    double far = farthest(zone);
    must(pthread_mutex_lock(&global->lock), "pthread_mutex_lock");
    global->reach = fmax(global->reach, far);
    must(pthread_mutex_unlock(&global->lock), "pthread_mutex_unlock");
    zone->pool.current = NULL;
    meet();
    if (id == 0) {
        global->half = global->reach;
        global->reach = 0;
        global->root = new_node(&zone->pool, true);
    }
    meet();
}

/* Builds the tree and finds whose bodies are whose. */
static void build_tree(unsigned id, struct zone *zone, struct node *root, double half)
{
    for (unsigned k = 0; k < zone->count; k++)
        insert(zone->bodies[k], root, half, &zone->pool);
    meet();
    sum_branches(id, root, 0, 0);
    meet();
    if (id == 0)
        sum_up(root, SPLIT_LEVEL);
    meet();
    zone->count = 0;
    take_zone(zone, root, 0, root->cost * id / o.threads, root->cost * (id + 1) / o.threads);
    meet();
}

/* Half a step of speeds, and a whole one of places if bodies `move`. */
static void accelerate(const struct zone *zone, bool move)
{
    for (unsigned k = 0; k < zone->count; k++) {
        struct body *body = zone->bodies[k];
        body->speed = plus(body->speed, time_step / 2, body->pull);
        if (move)
            body->place = plus(body->place, time_step, body->speed);
    }
}

static void work(unsigned id)
{
    unsigned begin = first_of(id, o.threads, o.size), end = first_of(id + 1, o.threads, o.size);
    size_t bytes = whole_pages((end - begin + 1) * sizeof(struct body *));
    struct zone zone = {.bodies = allocated(aligned_alloc(PAGE_BYTES, bytes)),
                        .room = (unsigned)(bytes / sizeof(struct body *))};
    for (uint32_t number = begin; number < end; number++) {
        put(&bodies[number], input(number));
        take(&zone, &bodies[number]);
    }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned step = 0; step <= o.iterations; step++) {
        if (id == 0)
            homenode_phase(step + 1);
        if (step > 0)
            accelerate(&zone, true);
        measure(id, &zone);
        struct node *root = global->root;
        double half = global->half;
        build_tree(id, &zone, root, half);
        for (unsigned k = 0; k < zone.count; k++)
            find_pull(zone.bodies[k], root, half);
        if (step > 0)
            accelerate(&zone, false);
        meet();
    }
    free(zone.bodies);
    free_pool(&zone.pool);
}

#include "barnes-check.h"

int main(int argc, char **argv)
{
    o = parse_options(&barnes, argc, argv);
    /* One heap for all that is shared, as SPLASH has: those of threads, 64 MB apart, would meet in
     * few sets of a cache, and bodies that are mapped elsewhere the nodes of the tree. */
    must(!mallopt(M_ARENA_MAX, 1) || !mallopt(M_MMAP_MAX, 0), "mallopt");
    bodies = allocated(aligned_alloc(PAGE_BYTES, whole_pages(o.size * sizeof *bodies)));
    global = allocated(aligned_alloc(PAGE_BYTES, whole_pages(sizeof *global)));
    *global = (struct global){.reach = 0};
    must(pthread_mutex_init(&global->lock, NULL), "pthread_mutex_init");
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        bodies[o.size / 2].place.x += 10;
    begin_check();
    int status = verdict(&barnes, wrong_bodies(), checksum());
    must(pthread_mutex_destroy(&global->lock), "pthread_mutex_destroy");
    free(global);
    free(bodies);
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
