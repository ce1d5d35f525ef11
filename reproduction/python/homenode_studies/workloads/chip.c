/* chip: placement of chips on a board by simulated annealing.
 *
 * Looks for places for chips on a square board that need little wire, by the half perimeter of the
 * box around each net. In each round all chips are paired with those a certain distance away, at
 * most as far as the temperature allows; a pair changes places if that saves wire or, the hotter
 * the likelier, even if not. The board cools down from round to round.
 *
 * Sharing: a thread has a band of places and considers the pairs that begin there. It looks up
 * where all the chips on their nets are, anywhere on the board, once, and computes in memory of its
 * own. Places are written by the owner of the pair, a different thread with each distance. The
 * board with the decisions is 1053 bytes, so all threads write and read the same few blocks all the
 * time. The nets themselves are only read.
 *
 * Source: Bolosky's thesis, section 2.2.3 (adapted by R. Fitzgerald): 81 chips on a 9 by 9 board,
 * 643552 moves considered, 146670 accepted. Ours: own code; nets are random, and all pairs of a
 * round are judged before any changes places, so that the result does not depend on the order of
 * threads as it does in the thesis's program. That its 640 references for a move are mostly to
 * memory of the thread's own, in which it computes, follows from its cost with blocks of any size.
 */
#include "workload.h"

#include <math.h>

static const struct workload chip = {
    .name = "chip",
    .summary = "Simulated annealing of the places of chips on a board",
    .size_help = "places along a side of the board",
    .size_default = 9, .size_quick = 6, .size_min = 2, .size_max = 32,
    .iterations_default = 2000, .iterations_quick = 60,
};

enum { PINS_MIN = 2, PINS_MAX = 4 };
static const double hot = 6, cold = 0.15; /* temperatures, in units of wire */

struct place {
    int x, y;
};

struct net {
    unsigned pins, chips[PINS_MAX];
};

/* A pin of the net in hand: its chip and where that is. */
struct pin {
    unsigned chip;
    int x, y;
};

/* The box around a net. Volatile, because compilers of today would keep it in registers. */
struct box {
    volatile int left, right, top, bottom;
};

/* What a thread computes in, on a page of its own. */
struct workspace {
    struct pin pins[PINS_MAX];
    struct box box;
};

/* The nets of one chip: those numbered by net_list[first .. end - 1]. */
struct wiring {
    unsigned first, end;
};

static struct options o;
static int side;
static unsigned chips, nets;
static struct net *net;
static struct wiring *wiring;
static unsigned *net_list;
static struct place *place_of;  /* of each chip */
static unsigned *chip_at;       /* on each place */
static bool *accepted;          /* for the pair that begins at each place */
static unsigned *moves;         /* considered and accepted, by each thread */

/* --- input and schedule ----------------------------------------------------------------------- */

/* Chip `pin` of a net: a random one that is not on the net yet. */
static UNRECORDED unsigned random_chip(const struct net *n, unsigned number, unsigned pin)
{
    for (uint64_t attempt = 0;; attempt++) {
        uint64_t index = ((uint64_t)number * PINS_MAX + pin) * 1024 + attempt;
        unsigned chosen = (unsigned)(random_at(o.seed, index) % chips);
        bool fresh = true;
        for (unsigned k = 0; k < pin; k++)
            fresh = fresh && n->chips[k] != chosen;
        if (fresh)
            return chosen;
    }
}

static UNRECORDED void make_nets(void)
{
    unsigned most = chips < PINS_MAX ? chips : PINS_MAX, at = 0;
    for (unsigned number = 0; number < nets; number++) {
        uint64_t bits = random_at(o.seed + 1, number);
        net[number].pins = PINS_MIN + (unsigned)(bits % (most - PINS_MIN + 1));
        for (unsigned pin = 0; pin < net[number].pins; pin++)
            net[number].chips[pin] = random_chip(&net[number], number, pin);
    }
    for (unsigned c = 0; c < chips; c++) {
        wiring[c].first = at;
        for (unsigned number = 0; number < nets; number++)
            for (unsigned pin = 0; pin < net[number].pins; pin++)
                if (net[number].chips[pin] == c)
                    net_list[at++] = number;
        wiring[c].end = at;
    }
}

/* Part of the schedule that is over, from 0 to 1. */
INLINED double elapsed(unsigned round)
{
    return (double)round / o.iterations;
}

INLINED double temperature(unsigned round)
{
    return hot * pow(cold / hot, elapsed(round));
}

/* Distance between the places that change in a round: never 0, shorter when it is cold. */
INLINED struct place distance_in(unsigned round)
{
    uint64_t bits = random_at(o.seed + 2, round);
    int reach = 1 + (int)((side - 2) * (1 - elapsed(round)));
    struct place d = {(int)(bits % (unsigned)(reach + 1)),
                      (int)((bits >> 20) % (unsigned)(2 * reach + 1)) - reach};
    if (d.x == 0)
        d.y = d.y == 0 ? 1 : abs(d.y);
    return d;
}

/* The place that a place is paired with, or -1. No place is in two pairs of a round. */
INLINED int partner(int place, struct place d)
{
    int x = place % side, y = place / side;
    bool begins = d.x > 0 ? x / d.x % 2 == 0 : y / d.y % 2 == 0;
    bool on_board = x + d.x < side && y + d.y >= 0 && y + d.y < side;
    return begins && on_board ? place + d.y * side + d.x : -1;
}

/* Is a change that needs so much more wire made? */
INLINED bool worth_it(int more_wire, double heat, uint64_t bits)
{
    return more_wire <= 0 || (double)(bits >> 40) / 16777216 < exp(-more_wire / heat);
}

INLINED uint64_t luck(unsigned round, int place)
{
    return random_at(o.seed + 3, (uint64_t)round * chips + (unsigned)place);
}

/* --- annealing -------------------------------------------------------------------------------- */

/* Looks up where the chips of a net are. */
static void look_up(const struct net *n, struct workspace *w)
{
    for (unsigned pin = 0; pin < n->pins; pin++) {
        unsigned c = n->chips[pin];
        w->pins[pin] = (struct pin){c, place_of[c].x, place_of[c].y};
    }
}

/* Half perimeter of the box around the pins, with chip `a` at `at_a` and chip `b` at `at_b`. */
static int wire(struct workspace *w, unsigned pins, unsigned a, struct place at_a, unsigned b,
                struct place at_b)
{
    struct box *box = &w->box;
    box->left = box->top = side;
    box->right = box->bottom = 0;
    for (unsigned pin = 0; pin < pins; pin++) {
        unsigned c = w->pins[pin].chip;
        int x = c == a ? at_a.x : c == b ? at_b.x : w->pins[pin].x;
        int y = c == a ? at_a.y : c == b ? at_b.y : w->pins[pin].y;
        if (x < box->left)
            box->left = x;
        if (x > box->right)
            box->right = x;
        if (y < box->top)
            box->top = y;
        if (y > box->bottom)
            box->bottom = y;
    }
    return box->right - box->left + box->bottom - box->top;
}

INLINED struct place place_at(int place)
{
    return (struct place){place % side, place / side};
}

/* How much more wire the nets of chip `a` need if it changes places with `b`. */
static int more_wire(unsigned a, int place, unsigned b, int other, struct workspace *w)
{
    struct place at_a = place_at(place), at_b = place_at(other);
    int more = 0;
    for (unsigned k = wiring[a].first; k < wiring[a].end; k++) {
        const struct net *n = &net[net_list[k]];
        unsigned pins = n->pins;
        look_up(n, w);
        more += wire(w, pins, a, at_b, b, at_a) - wire(w, pins, a, at_a, b, at_b);
    }
    return more;
}

/* A net of both chips counts in both sums, though nothing changes for it. */
static void consider(int place, int other, double heat, uint64_t bits, struct workspace *w)
{
    unsigned a = chip_at[place], b = chip_at[other];
    int more = more_wire(a, place, b, other, w) + more_wire(b, other, a, place, w);
    accepted[place] = worth_it(more, heat, bits);
}

static void change(int place, int other)
{
    unsigned a = chip_at[place], b = chip_at[other];
    chip_at[place] = b;
    chip_at[other] = a;
    place_of[a].x = other % side;
    place_of[a].y = other / side;
    place_of[b].x = place % side;
    place_of[b].y = place / side;
}

static void work(unsigned id)
{
    int low = (int)first_of(id, o.threads, chips), high = (int)first_of(id + 1, o.threads, chips);
    struct workspace *own = allocated(aligned_alloc(PAGE_BYTES, whole_pages(sizeof *own)));
    unsigned considered = 0, made = 0;
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned round = 0; round < o.iterations; round++) {
        struct place distance = distance_in(round);
        double heat = temperature(round);
        for (int place = low; place < high; place++)
            if (partner(place, distance) >= 0) {
                consider(place, partner(place, distance), heat, luck(round, place), own);
                considered++;
            }
        meet();
        for (int place = low; place < high; place++)
            if (partner(place, distance) >= 0 && accepted[place]) {
                change(place, partner(place, distance));
                made++;
            }
        meet();
    }
    free(own);
    moves[2 * id] = considered;
    moves[2 * id + 1] = made;
}

/* --- check ------------------------------------------------------------------------------------ */

/* Wire of the whole board, given the place of each chip. */
static UNRECORDED int wire_of(const int *places)
{
    int sum = 0;
    for (unsigned number = 0; number < nets; number++) {
        int low[2] = {side, side}, high[2] = {0, 0};
        for (unsigned pin = 0; pin < net[number].pins; pin++) {
            int at = places[net[number].chips[pin]], xy[2] = {at % side, at / side};
            for (unsigned k = 0; k < 2; k++) {
                low[k] = xy[k] < low[k] ? xy[k] : low[k];
                high[k] = xy[k] > high[k] ? xy[k] : high[k];
            }
        }
        sum += high[0] - low[0] + high[1] - low[1];
    }
    return sum;
}

static UNRECORDED void exchange(int *places, unsigned a, unsigned b)
{
    int place = places[a];
    places[a] = places[b];
    places[b] = place;
}

/* One round, by the wire of the whole board; gives the number of changes made. */
static UNRECORDED unsigned round_again(int *places, int *chips_at, bool *yes, unsigned round)
{
    struct place distance = distance_in(round);
    int before = wire_of(places);
    unsigned made = 0;
    for (unsigned c = 0; c < chips; c++)
        chips_at[places[c]] = (int)c;
    for (int place = 0; place < (int)chips; place++) {
        int other = partner(place, distance);
        yes[place] = false;
        if (other < 0)
            continue;
        unsigned a = (unsigned)chips_at[place], b = (unsigned)chips_at[other];
        exchange(places, a, b);
        yes[place] = worth_it(wire_of(places) - before, temperature(round), luck(round, place));
        exchange(places, a, b);
        made += yes[place];
    }
    for (int place = 0; place < (int)chips; place++)
        if (yes[place])
            exchange(places, (unsigned)chips_at[place],
                     (unsigned)chips_at[partner(place, distance)]);
    return made;
}

/* The same rounds by one thread; counts chips in a wrong place and moves miscounted. */
static UNRECORDED uint64_t wrong_chips(void)
{
    int *places = allocated(calloc(2 * (size_t)chips, sizeof *places));
    bool *yes = allocated(calloc(chips, sizeof *yes));
    unsigned made = 0, counted = 0;
    uint64_t wrong = 0;
    for (unsigned c = 0; c < chips; c++)
        places[c] = (int)c;
    for (unsigned round = 0; round < o.iterations; round++)
        made += round_again(places, places + chips, yes, round);
    for (unsigned c = 0; c < chips; c++) {
        wrong += places[c] != place_of[c].y * side + place_of[c].x;
        wrong += chip_at[places[c]] != c;
    }
    for (unsigned id = 0; id < o.threads; id++)
        counted += moves[2 * id + 1];
    free(places);
    free(yes);
    return wrong + (made != counted);
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (unsigned place = 0; place < chips; place++)
        sum = mix(sum, chip_at[place]);
    return sum;
}

static UNRECORDED void release(void)
{
    free(net);
    free(wiring);
    free(net_list);
    free(place_of);
    free(moves);
}

int main(int argc, char **argv)
{
    o = parse_options(&chip, argc, argv);
    side = (int)o.size;
    chips = o.size * o.size;
    nets = chips;
    /* On pages of their own, because they are no longer written. */
    net = allocated(aligned_alloc(PAGE_BYTES, whole_pages(nets * sizeof *net)));
    wiring = allocated(aligned_alloc(PAGE_BYTES, whole_pages(chips * sizeof *wiring)));
    net_list = allocated(aligned_alloc(PAGE_BYTES,
                                       whole_pages(nets * PINS_MAX * sizeof *net_list)));
    /* The board, and beside it the decisions. */
    size_t bytes = chips * (sizeof *place_of + sizeof *chip_at + sizeof *accepted);
    place_of = allocated(aligned_alloc(PAGE_BYTES, whole_pages(bytes)));
    chip_at = (unsigned *)(place_of + chips);
    accepted = (bool *)(chip_at + chips);
    moves = allocated(calloc(2 * (size_t)o.threads, sizeof *moves));
    make_nets();
    for (unsigned c = 0; c < chips; c++) {
        place_of[c].x = (int)c % side;
        place_of[c].y = (int)c / side;
        chip_at[c] = c;
    }
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        place_of[chips / 2].x++;
    begin_check();
    int status = verdict(&chip, wrong_chips(), checksum());
    release();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
