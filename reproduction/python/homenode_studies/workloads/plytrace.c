/* plytrace: pictures of surfaces made of polygons, from a sorted pile of work.
 *
 * Renders frames of a scene of balls, each approximated by triangles and lit by one lamp. For each
 * frame the first thread alone turns and projects the scene, sorts the triangles by distance and
 * makes, for every tile of the picture, the list of those that may show there, nearest first; it
 * sorts the lists by the time they should take, longest first. Then all threads take lists from
 * that pile and draw them with a depth buffer. At last the first thread packs the picture.
 *
 * Sharing: the lists are written by the first thread and each is read by another one with each
 * frame; the scene is the first thread's. A tile of the picture is written by its taker, a
 * different thread with each frame, and read by the first; a block larger than a piece of its rows
 * holds pieces of other tiles. A thread draws a tile in private memory first.
 *
 * Source: Bolosky's thesis, section 2.2.5 (by A. Garcia at IBM): lists of polygons sorted by
 * expected time, between serial phases; one processor makes 55 % of all references. Ours: own code;
 * the scene, that a list is that of a tile, and what else is serial are our choice.
 */
#include "workload.h"

#include <math.h>

static const struct workload plytrace = {
    .name = "plytrace",
    .summary = "Pictures of surfaces made of polygons, from a sorted pile of work",
    .size_help = "width and height of the picture",
    .size_default = 512, .size_quick = 96, .size_min = 8, .size_max = 2048,
    .iterations_default = 6, .iterations_quick = 2,
};

enum { BALLS = 16, RINGS_MIN = 8, RINGS_MAX = 16, /* of triangles of a ball */
       TILE = 32, CHUNK = 29, SUB = 16 /* parts of a pixel */ };

struct vector {
    double x, y, z;
};

/* A corner as seen in the present frame. */
struct corner {
    int32_t x, y;       /* place in the picture, in parts of a pixel */
    float near, light;  /* reciprocal of the distance; intensity, at most 1 */
};

struct ball {
    struct vector centre;
    double radius;
    unsigned grey;          /* when fully lit */
    struct vector *normals; /* at its corners, as they are before the scene turns */
    struct corner *corners;
    struct polygon *polygons;
};

struct polygon {
    const struct ball *ball;
    unsigned corner[3];             /* numbers of its corners in the ball */
    int32_t left, top, right, bottom; /* pixels it lies within, right and bottom excluded */
    struct corner seen[3];
};

/* A polygon that shows, to be sorted by how near it is. */
struct visible {
    float near;
    const struct polygon *polygon;
};

/* What is needed of a polygon to draw it. */
struct item {
    struct corner seen[3];
    int32_t left, top, right, bottom;
    unsigned grey;
};

/* A piece of the list of a tile. */
struct chunk {
    struct chunk *next;
    unsigned count;
    struct item items[CHUNK];
};

struct tile {
    int32_t left, top, right, bottom;
    struct chunk *chunks;
    uint64_t cost; /* pixels to look at */
};

struct pixel {
    float near; /* 0: nothing here */
    unsigned grey;
};

static struct options o;
static int32_t side;
static unsigned rings, sectors, corners, polygons; /* of a ball */
static struct ball *balls;
static struct visible *order; /* the polygons of a frame, farthest first */
static uint8_t *picture; /* rows of greys */
static uint8_t *packed; /* the picture in runs, as the first thread leaves it */
static size_t packed_size;

static unsigned tiles_across, tiles;
static struct tile *tile, **pile;
static unsigned taken;
static pthread_mutex_t pile_lock = PTHREAD_MUTEX_INITIALIZER;

/* --- the scene -------------------------------------------------------------------------------- */

static UNRECORDED double random_between(uint64_t index, double low, double high)
{
    return low + (high - low) * (double)(random_at(o.seed, index) >> 40) / 16777216;
}

/* Direction from the centre of a ball to one of its corners. */
static UNRECORDED struct vector direction(unsigned corner)
{
    double down = 3.14159265358979323846 * (corner / sectors) / rings;
    double around = 2 * 3.14159265358979323846 * (corner % sectors) / sectors;
    return (struct vector){sin(down) * cos(around), cos(down), sin(down) * sin(around)};
}

/* The vector turned about the vertical axis as far as the scene has turned in this frame. */
static UNRECORDED struct vector turned(struct vector v, unsigned frame)
{
    double angle = 0.15 * frame, c = cos(angle), s = sin(angle);
    return (struct vector){c * v.x - s * v.z, v.y, s * v.x + c * v.z};
}

/* Where and how bright the camera sees the corner of a ball that lies in the direction `normal`
 * from its centre; the camera is 8 before the scene's centre. */
static UNRECORDED struct corner seen(struct vector centre, double radius, struct vector normal,
                                     unsigned frame)
{
    struct vector place = {centre.x + radius * normal.x, centre.y + radius * normal.y,
                           centre.z + radius * normal.z};
    place = turned(place, frame);
    normal = turned(normal, frame);
    double near = 1 / (place.z + 8), scale = 1.6 * (double)side * SUB;
    double lit = 0.48 * normal.x + 0.6 * normal.y - 0.64 * normal.z;
    return (struct corner){.x = (int32_t)floor(place.x * near * scale) + side * SUB / 2,
                           .y = side * SUB / 2 - (int32_t)floor(place.y * near * scale),
                           .near = (float)near,
                           .light = (float)(0.2 + (lit > 0 ? 0.8 * lit : 0))};
}

/* Triangle `index` of a ball, two for each patch, in clockwise order as seen from outside. */
static UNRECORDED void corners_of(unsigned index, unsigned found[3])
{
    unsigned ring = index / 2 / sectors, sector = index / 2 % sectors;
    unsigned next = (sector + 1) % sectors;
    found[0] = ring * sectors + sector;
    found[1] = index % 2 ? (ring + 1) * sectors + next : ring * sectors + next;
    found[2] = index % 2 ? (ring + 1) * sectors + sector : (ring + 1) * sectors + next;
}

/* The larger the picture, the more triangles make a ball. */
static UNRECORDED void set_detail(void)
{
    unsigned across = o.size / TILE;
    rings = across < RINGS_MIN ? RINGS_MIN : across > RINGS_MAX ? RINGS_MAX : across;
    sectors = rings + rings / 2;
    corners = (rings + 1) * sectors;
    polygons = 2 * rings * sectors;
}

static void make_scene(void)
{
    order = allocated(calloc(BALLS * polygons, sizeof *order));
    balls = allocated(calloc(BALLS, sizeof *balls));
    for (unsigned b = 0; b < BALLS; b++) {
        uint64_t at = 8 * (uint64_t)b;
        struct ball *ball = &balls[b];
        ball->centre = (struct vector){random_between(at, -2, 2), random_between(at + 1, -2, 2),
                                       random_between(at + 2, -2, 2)};
        ball->radius = random_between(at + 3, 0.2, 0.9);
        ball->grey = 64 + (unsigned)(random_at(o.seed, at + 4) % 192);
        ball->normals = allocated(calloc(corners, sizeof *ball->normals));
        for (unsigned corner = 0; corner < corners; corner++) {
            struct vector n = direction(corner);
            ball->normals[corner] = (struct vector){n.x, n.y, n.z};
        }
        ball->corners = allocated(calloc(corners, sizeof *ball->corners));
        ball->polygons = allocated(calloc(polygons, sizeof *ball->polygons));
        for (unsigned index = 0; index < polygons; index++) {
            ball->polygons[index].ball = ball;
            corners_of(index, ball->polygons[index].corner);
        }
    }
}

/* --- serial: projection and lists ------------------------------------------------------------- */

/* Twice the area of the triangle a b c, positive when its corners are in clockwise order. */
INLINED int64_t area(struct corner a, int32_t bx, int32_t by, int32_t cx, int32_t cy)
{
    return (int64_t)(bx - a.x) * (cy - a.y) - (int64_t)(by - a.y) * (cx - a.x);
}

INLINED int32_t smaller(int32_t x, int32_t y)
{
    return x < y ? x : y;
}

INLINED int32_t larger(int32_t x, int32_t y)
{
    return x > y ? x : y;
}

/* Copies the corners into the polygon; is it turned to the camera and in the picture? */
static bool set_up(struct polygon *polygon)
{
    struct corner c[3];
    for (unsigned k = 0; k < 3; k++)
        c[k] = polygon->ball->corners[polygon->corner[k]];
    if (area(c[0], c[1].x, c[1].y, c[2].x, c[2].y) <= 0)
        return false;
    for (unsigned k = 0; k < 3; k++)
        polygon->seen[k] = c[k];
    polygon->left = larger(smaller(smaller(c[0].x, c[1].x), c[2].x) / SUB, 0);
    polygon->top = larger(smaller(smaller(c[0].y, c[1].y), c[2].y) / SUB, 0);
    polygon->right = smaller(larger(larger(c[0].x, c[1].x), c[2].x) / SUB + 1, side);
    polygon->bottom = smaller(larger(larger(c[0].y, c[1].y), c[2].y) / SUB + 1, side);
    return polygon->left < polygon->right && polygon->top < polygon->bottom;
}

static void put_into_list(const struct polygon *polygon, struct tile *t)
{
    if (!t->chunks || t->chunks->count == CHUNK) {
        struct chunk *chunk = allocated(malloc(sizeof *chunk));
        chunk->next = t->chunks;
        chunk->count = 0;
        t->chunks = chunk;
    }
    struct item *item = &t->chunks->items[t->chunks->count++];
    for (unsigned k = 0; k < 3; k++) {
        struct corner c = polygon->seen[k];
        item->seen[k] = c;
    }
    item->left = polygon->left;
    item->top = polygon->top;
    item->right = polygon->right;
    item->bottom = polygon->bottom;
    item->grey = polygon->ball->grey;
}

/* Puts a polygon into the lists of all tiles it may show in. */
static void put_into_lists(const struct polygon *polygon)
{
    for (int32_t row = polygon->top / TILE; row <= (polygon->bottom - 1) / TILE; row++)
        for (int32_t col = polygon->left / TILE; col <= (polygon->right - 1) / TILE; col++) {
            struct tile *t = &tile[row * (int32_t)tiles_across + col];
            int32_t wide = smaller(polygon->right, t->right) - larger(polygon->left, t->left);
            int32_t high = smaller(polygon->bottom, t->bottom) - larger(polygon->top, t->top);
            put_into_list(polygon, t);
            t->cost += (uint64_t)(wide * high);
        }
}

INLINED void empty_list(struct tile *t)
{
    while (t->chunks) {
        struct chunk *next = t->chunks->next;
        free(t->chunks);
        t->chunks = next;
    }
    t->cost = TILE * TILE;
}

/* Sorts the pile by cost, highest first; tiles of equal cost stay in order. Shell's method. */
static void sort_pile(void)
{
    for (unsigned gap = tiles / 2; gap > 0; gap /= 2)
        for (unsigned i = gap; i < tiles; i++) {
            struct tile *moved = pile[i];
            unsigned j = i;
            for (; j >= gap && pile[j - gap]->cost < moved->cost; j -= gap)
                pile[j] = pile[j - gap];
            pile[j] = moved;
        }
}

/* Sorts polygons by how near their first corners are, farthest first. Shell's method. */
static void sort_polygons(unsigned count)
{
    for (unsigned gap = count / 2; gap > 0; gap /= 2)
        for (unsigned i = gap; i < count; i++) {
            struct visible moved = {order[i].near, order[i].polygon};
            unsigned j = i;
            for (; j >= gap && order[j - gap].near > moved.near; j -= gap) {
                order[j].near = order[j - gap].near;
                order[j].polygon = order[j - gap].polygon;
            }
            order[j].near = moved.near;
            order[j].polygon = moved.polygon;
        }
}

/* Projects the scene; gives how many polygons show. */
static unsigned project(unsigned frame)
{
    unsigned count = 0;
    for (unsigned b = 0; b < BALLS; b++) {
        struct ball *ball = &balls[b];
        struct vector centre = {ball->centre.x, ball->centre.y, ball->centre.z};
        for (unsigned corner = 0; corner < corners; corner++) {
            struct vector *n = &ball->normals[corner], normal = {n->x, n->y, n->z};
            struct corner c = seen(centre, ball->radius, normal, frame);
            ball->corners[corner] = (struct corner){c.x, c.y, c.near, c.light};
        }
        for (unsigned index = 0; index < polygons; index++) {
            struct polygon *polygon = &ball->polygons[index];
            if (set_up(polygon))
                order[count++] = (struct visible){polygon->seen[0].near, polygon};
        }
    }
    return count;
}

static void prepare(unsigned frame)
{
    for (unsigned index = 0; index < tiles; index++) {
        empty_list(&tile[index]);
        pile[index] = &tile[index];
    }
    unsigned count = project(frame);
    sort_polygons(count);
    for (unsigned k = 0; k < count; k++)
        put_into_lists(order[k].polygon);
    sort_pile();
    taken = 0;
}

/* --- parallel: drawing ------------------------------------------------------------------------ */

/* A quantity that is linear in the picture, known at three corners. */
struct plane {
    double start, right, down;
};

static inline struct plane through(const struct corner c[3], double v0, double v1, double v2)
{
    double x1 = (double)(c[1].x - c[0].x), y1 = (double)(c[1].y - c[0].y);
    double x2 = (double)(c[2].x - c[0].x), y2 = (double)(c[2].y - c[0].y);
    double determinant = x1 * y2 - x2 * y1;
    struct plane p = {.right = ((v1 - v0) * y2 - (v2 - v0) * y1) / determinant,
                      .down = ((v2 - v0) * x1 - (v1 - v0) * x2) / determinant};
    p.start = v0 - p.right * (double)c[0].x - p.down * (double)c[0].y;
    return p;
}

/* Does the edge from a to b count as inside? Of two triangles that share it, it does in one. */
static inline int64_t edge_bias(struct corner a, struct corner b)
{
    return b.y < a.y || (b.y == a.y && b.x > a.x) ? 0 : 1;
}

/* Draws the part of a polygon that lies in a tile, on the thread's `canvas`. */
static void draw(const struct item *polygon, const struct tile *t, struct pixel *canvas)
{
    struct corner c[3] = {polygon->seen[0], polygon->seen[1], polygon->seen[2]};
    struct plane near = through(c, c[0].near, c[1].near, c[2].near);
    struct plane light = through(c, c[0].light, c[1].light, c[2].light);
    int64_t bias[3] = {edge_bias(c[0], c[1]), edge_bias(c[1], c[2]), edge_bias(c[2], c[0])};
    int32_t left = larger(polygon->left, t->left), right = smaller(polygon->right, t->right);
    int32_t top = larger(polygon->top, t->top), bottom = smaller(polygon->bottom, t->bottom);
    double grey = polygon->grey;
    for (int32_t row = top; row < bottom; row++)
        for (int32_t col = left; col < right; col++) {
            int32_t x = col * SUB + SUB / 2, y = row * SUB + SUB / 2;
            if (area(c[0], c[1].x, c[1].y, x, y) < bias[0]
                || area(c[1], c[2].x, c[2].y, x, y) < bias[1]
                || area(c[2], c[0].x, c[0].y, x, y) < bias[2])
                continue;
            struct pixel *pixel = &canvas[(row - t->top) * TILE + col - t->left];
            double here = near.start + near.right * (double)x + near.down * (double)y;
            if ((float)here <= pixel->near)
                continue;
            double lit = light.start + light.right * (double)x + light.down * (double)y;
            *pixel = (struct pixel){.near = (float)here, .grey = (unsigned)(grey * lit)};
        }
}

static void draw_tile(const struct tile *t, struct pixel *canvas)
{
    for (unsigned at = 0; at < TILE * TILE; at++)
        canvas[at] = (struct pixel){.near = 0, .grey = 0};
    for (const struct chunk *chunk = t->chunks; chunk; chunk = chunk->next)
        for (unsigned k = chunk->count; k-- > 0;)
            draw(&chunk->items[k], t, canvas);
    for (int32_t row = t->top; row < t->bottom; row++)
        for (int32_t col = t->left; col < t->right; col++)
            picture[row * side + col] =
                (uint8_t)canvas[(row - t->top) * TILE + col - t->left].grey;
}

/* The next tile of the pile, or NULL when none is left. */
static const struct tile *take(void)
{
    pthread_mutex_lock(&pile_lock);
    const struct tile *next = taken < tiles ? pile[taken++] : NULL;
    pthread_mutex_unlock(&pile_lock);
    return next;
}

/* --- serial: packing -------------------------------------------------------------------------- */

/* Writes the picture as runs: a length up to 255 and a grey. */
static void pack(void)
{
    size_t pixels = (size_t)(side * side), at = 0;
    packed_size = 0;
    while (at < pixels) {
        uint8_t grey = picture[at];
        unsigned length = 1;
        while (length < 255 && at + length < pixels && picture[at + length] == grey)
            length++;
        packed[packed_size++] = (uint8_t)length;
        packed[packed_size++] = grey;
        at += length;
    }
}

static void work(unsigned id)
{
    size_t bytes = whole_pages(TILE * TILE * sizeof(struct pixel));
    struct pixel *canvas = allocated(aligned_alloc(PAGE_BYTES, bytes));
    homenode_private(canvas, bytes);
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned frame = 0; frame < o.iterations; frame++) {
        if (id == 0) {
            homenode_phase(3 * frame + 1);
            prepare(frame);
            homenode_phase(3 * frame + 2);
        }
        meet();
        for (const struct tile *t = take(); t; t = take())
            draw_tile(t, canvas);
        meet();
        if (id == 0) {
            homenode_phase(3 * frame + 3);
            pack();
        }
    }
    free(canvas);
}

#include "plytrace-check.h"

/* --- program ---------------------------------------------------------------------------------- */

static void make_tiles(void)
{
    tiles_across = (unsigned)((side + TILE - 1) / TILE);
    tiles = tiles_across * tiles_across;
    tile = allocated(calloc(tiles, sizeof *tile));
    pile = allocated(calloc(tiles, sizeof *pile));
    for (unsigned index = 0; index < tiles; index++) {
        int32_t left = (int32_t)(index % tiles_across * TILE);
        int32_t top = (int32_t)(index / tiles_across * TILE);
        tile[index] = (struct tile){.left = left, .right = smaller(left + TILE, side),
                                    .top = top, .bottom = smaller(top + TILE, side)};
    }
}

static UNRECORDED void release(void)
{
    for (unsigned index = 0; index < tiles; index++)
        empty_list(&tile[index]);
    for (unsigned b = 0; b < BALLS; b++) {
        free(balls[b].normals);
        free(balls[b].corners);
        free(balls[b].polygons);
    }
    free(balls);
    free(order);
    free(tile);
    free(pile);
    free(picture);
    free(packed);
}

int main(int argc, char **argv)
{
    o = parse_options(&plytrace, argc, argv);
    side = (int32_t)o.size;
    size_t pixels = (size_t)(side * side);
    picture = allocated(aligned_alloc(PAGE_BYTES, whole_pages(pixels * sizeof *picture)));
    packed = allocated(malloc(2 * pixels));
    set_detail();
    make_scene();
    make_tiles();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        picture[pixels / 2] ^= 0x80;
    begin_check();
    int status = verdict(&plytrace, wrong_pixels(), checksum());
    release();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
