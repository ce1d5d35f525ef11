/* parmult: multiplication and nothing else.
 *
 * Multiplies integers in registers: pieces of work are numbered, and a piece is a chain of
 * multiplications that begins with a number of its own. The results are added up modulo 2^64.
 *
 * Sharing: none worth the name. The only references are to the counter from which threads take
 * pieces, and one addition a thread at the end. It shows what a program costs that no placement
 * can help or harm.
 *
 * Source: Bolosky's thesis, section 3.2.2 (ParMult): integer multiplication, references only to
 * hand out work; a check of the model by which the ACE's programs are judged (beta is 0). Ours:
 * own code.
 */
#include "workload.h"

static const struct workload parmult = {
    .name = "parmult",
    .summary = "Multiplication in registers, next to no references",
    .size_help = "pieces of work",
    .size_default = 2000, .size_quick = 200, .size_min = 1, .size_max = 10000000,
};

enum { CHAIN = 10000 }; /* multiplications in a piece */

/* One link of the chain is x * FACTOR + STEP modulo 2^64 (Knuth's MMIX). */
#define FACTOR UINT64_C(6364136223846793005)
#define STEP UINT64_C(1442695040888963407)

static struct options o;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned taken;
static uint64_t total;

/* The next piece, or `size` when all are taken. */
static unsigned take(void)
{
    pthread_mutex_lock(&lock);
    unsigned piece = taken < o.size ? taken++ : o.size;
    pthread_mutex_unlock(&lock);
    return piece;
}

static void work(unsigned id)
{
    uint64_t sum = 0;
    meet();
    if (id == 0) {
        homenode_init_done();
        homenode_phase(1);
    }
    for (unsigned piece = take(); piece < o.size; piece = take()) {
        uint64_t x = random_at(o.seed, piece);
        for (unsigned k = 0; k < CHAIN; k++)
            x = x * FACTOR + STEP;
        sum += x;
    }
    pthread_mutex_lock(&lock);
    total += sum;
    pthread_mutex_unlock(&lock);
    meet();
}

/* The end of all chains by repeated squaring of the link; is the total another one? */
static UNRECORDED uint64_t wrong_total(void)
{
    uint64_t factor = 1, step = 0, sum = 0;
    for (unsigned bit = 1U << 31; bit > 0; bit /= 2) {
        step = factor * step + step;
        factor *= factor;
        if (CHAIN & bit) {
            step = FACTOR * step + STEP;
            factor *= FACTOR;
        }
    }
    for (unsigned piece = 0; piece < o.size; piece++)
        sum += factor * random_at(o.seed, piece) + step;
    return sum != total;
}

int main(int argc, char **argv)
{
    o = parse_options(&parmult, argc, argv);
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        total++;
    begin_check();
    int status = verdict(&parmult, wrong_total(), mix(CHECKSUM_START, total));
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
