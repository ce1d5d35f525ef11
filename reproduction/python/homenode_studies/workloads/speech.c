/* speech: lexical decoding, the best path of words through a graph for what was heard.
 *
 * A dictionary is a directed graph: its nodes are words, each a chain of phonemes, and its edges
 * say which word may follow which. What was heard is a cost for every phoneme in every frame of
 * time. Viterbi's algorithm advances tokens along the phonemes of all words, frame by frame; a
 * token that has come to the end of a word enters the words that may follow. Tokens that cost much
 * more than the best one are dropped.
 *
 * Sharing: words are dealt out to threads like cards, and an array holds one number of every word,
 * so neighbouring words of memory belong to different threads, and a block of 64 of them to all of
 * 64 threads; yet nearly each is used by one thread only. The dictionary and what was heard are
 * only read. Truly shared are the costs of words that have just ended, read by the threads of those
 * that may follow, and each thread's best cost, read by all.
 *
 * Source: Markatos and Chronaki, section 3.1.1 (SPEECH): the lexical decoding stage of a
 * phonetically based spoken language understanding system, in Mul-T. Ours: own code; the algorithm,
 * the dictionary, which is random, and what is said are our choice.
 */
#include "workload.h"

static const struct workload speech = {
    .name = "speech",
    .summary = "Lexical decoding of speech, the best path through a graph of words",
    .size_help = "words in the dictionary",
    .size_default = 1024, .size_quick = 96, .size_min = 16, .size_max = 65536,
    .iterations_default = 100, .iterations_quick = 24,
};

enum { PHONEMES = 48, CHAIN = 8, CHAIN_MIN = 3, LINKS = 6, FRAMES_MAX = 10000 };

/* Frames' costs lie below this if the phoneme was said, else between it and HEARD_MAX. */
enum { SAID_MAX = 20, HEARD_MAX = 80, LINK_MAX = 40 };

/* A token that costs so much more than the best one is dropped; the cost of no token at all. */
enum { BEAM = 800, NOBODY = 1 << 30 };

static struct options o;
static unsigned words, frames;

/* The dictionary and what was heard; all are only read. Numbers of a word lie `words` apart. */
static uint32_t *chain;  /* [position][word]: the phonemes of a word */
static uint32_t *length; /* [word] */
static uint32_t *before; /* [link][word]: words that it may follow */
static int32_t *toll;    /* [link][word]: what that costs */
static int32_t *heard;   /* [frame][phoneme] */

/* The tokens: what it cost to come here, and the frame in which the word began. */
static int32_t *cost;   /* [position][word] */
static uint32_t *began; /* [position][word] */

/* The graph of words that may have been said. */
static int32_t *ended;     /* [frame][word]: cost of the best path whose last word ends here */
static uint32_t *ended_at; /* [frame][word]: the frame in which that word began */
static int32_t *best;      /* [frame mod 2][thread]: the least cost of the thread's tokens */

/* --- input ------------------------------------------------------------------------------------ */

static UNRECORDED unsigned draw(uint64_t stream, uint64_t index, unsigned below)
{
    return (unsigned)((random_at(o.seed + (stream << 32), index) >> 32) * below >> 32);
}

/* Says words that may follow one another; `said` gets a phoneme for each frame. */
static UNRECORDED void say(uint32_t *said)
{
    unsigned word = draw(5, 0, words), position = 0, count = 0;
    for (unsigned frame = 0; frame < frames; frame++) {
        said[frame] = chain[(size_t)position * words + word];
        if (draw(6, frame, 2))
            continue; /* the phoneme lasts */
        if (++position == length[word]) {
            unsigned next = 0, found = 0;
            for (size_t at = 0; at < (size_t)LINKS * words; at++)
                if (before[at] == word && draw(7, ++count, ++found) == 0)
                    next = (unsigned)(at % words);
            word = found ? next : draw(8, frame, words);
            position = 0;
        }
    }
}

static UNRECORDED void make_input(void)
{
    uint32_t *said = allocated(calloc(frames, sizeof *said));
    for (unsigned word = 0; word < words; word++) {
        length[word] = CHAIN_MIN + draw(0, word, CHAIN - CHAIN_MIN + 1);
        for (size_t at = word; at < (size_t)CHAIN * words; at += words)
            chain[at] = draw(1, at, PHONEMES);
        for (size_t at = word; at < (size_t)LINKS * words; at += words) {
            before[at] = draw(2, at, words);
            toll[at] = (int32_t)draw(3, at, LINK_MAX);
        }
    }
    say(said);
    for (size_t at = 0; at < (size_t)frames * PHONEMES; at++) {
        bool match = said[at / PHONEMES] == at % PHONEMES;
        heard[at] = (int32_t)(match ? draw(4, at, SAID_MAX)
                                    : SAID_MAX + draw(4, at, HEARD_MAX - SAID_MAX));
    }
    free(said);
}

/* --- one frame -------------------------------------------------------------------------------- */

/* The least cost with which a token may enter the word in this frame. */
static inline int32_t entry_of(unsigned word, unsigned frame)
{
    if (frame == 0)
        return 0;
    const int32_t *just = ended + (size_t)(frame - 1) * words;
    int32_t least = NOBODY;
    for (size_t at = word; at < (size_t)LINKS * words; at += words) {
        int32_t end = just[before[at]];
        if (end < NOBODY && end + toll[at] < least)
            least = end + toll[at];
    }
    return least;
}

/* Advances the tokens in a word by one frame, the last ones first; the least of their costs. */
static inline int32_t advance(unsigned word, unsigned frame, int32_t limit)
{
    const int32_t *sounds = heard + (size_t)frame * PHONEMES;
    size_t last = (size_t)(length[word] - 1) * words + word, at = last;
    int32_t least = NOBODY, here = cost[at];
    for (;; at -= words) {
        bool first = at < words;
        int32_t behind = first ? entry_of(word, frame) : cost[at - words];
        bool moves = behind < here;
        int32_t now = moves ? behind : here;
        if (now < NOBODY)
            now += sounds[chain[at]];
        if (now > limit)
            now = NOBODY;
        if (now < NOBODY && moves)
            began[at] = first ? frame : began[at - words];
        if (now != here)
            cost[at] = now;
        if (now < least)
            least = now;
        if (at == last && now < NOBODY) {
            ended[(size_t)frame * words + word] = now;
            ended_at[(size_t)frame * words + word] = began[at];
        }
        if (first)
            return least;
        here = behind;
    }
}

/* --- threads ---------------------------------------------------------------------------------- */

/* What a token may cost in a frame, after the costs of the frame before. */
static int32_t limit_of(unsigned frame)
{
    int32_t least = frame == 0 ? 0 : NOBODY;
    for (unsigned id = 0; frame > 0 && id < o.threads; id++) {
        int32_t other = best[(frame - 1) % 2 * o.threads + id];
        least = other < least ? other : least;
    }
    return least + BEAM;
}

static void work(unsigned id)
{
    for (unsigned word = id; word < words; word += o.threads) {
        for (size_t at = word; at < (size_t)CHAIN * words; at += words)
            cost[at] = NOBODY;
        for (size_t at = word; at < (size_t)frames * words; at += words)
            ended[at] = NOBODY;
    }
    meet();
    if (id == 0)
        homenode_init_done();
    for (unsigned frame = 0; frame < frames; frame++) {
        if (id == 0)
            homenode_phase(frame + 1);
        int32_t limit = limit_of(frame), least = NOBODY;
        for (unsigned word = id; word < words; word += o.threads) {
            int32_t reached = advance(word, frame, limit);
            least = reached < least ? reached : least;
        }
        best[frame % 2 * o.threads + id] = least;
        meet();
    }
}

/* --- check: the same tokens word by word, and the best path through the graph of words -------- */

/* Cost of coming to a position of a word in a frame, from a table of the frame before. */
static UNRECORDED int32_t token_again(const int32_t *was, unsigned word, unsigned position,
                                      unsigned frame, const int32_t *ends)
{
    int32_t least = frame ? was[(size_t)word * CHAIN + position] : NOBODY;
    if (position > 0) {
        int32_t behind = frame ? was[(size_t)word * CHAIN + position - 1] : NOBODY;
        least = behind < least ? behind : least;
    } else if (frame == 0) {
        least = 0;
    } else {
        for (size_t at = word; at < (size_t)LINKS * words; at += words)
            if (ends[before[at]] != NOBODY && ends[before[at]] + toll[at] < least)
                least = ends[before[at]] + toll[at];
    }
    if (least == NOBODY)
        return NOBODY;
    return least + heard[(size_t)frame * PHONEMES + chain[(size_t)position * words + word]];
}

static UNRECORDED void exchange(int32_t **one, int32_t **other)
{
    int32_t *held = *one;
    *one = *other;
    *other = held;
}

/* Counts the ends of words that cost something else than a plain computation finds. */
static UNRECORDED uint64_t wrong_ends(void)
{
    size_t states = (size_t)words * CHAIN;
    int32_t *memory = allocated(calloc(2 * states + 2 * (size_t)words, sizeof *memory));
    int32_t *was = memory, *now = was + states, *ends = now + states, *next_ends = ends + words;
    int32_t least = 0;
    uint64_t wrong = 0;
    for (unsigned frame = 0; frame < frames; frame++) {
        int32_t limit = least + BEAM;
        least = NOBODY;
        for (size_t k = 0; k < states; k++) {
            unsigned word = (unsigned)(k / CHAIN), position = (unsigned)(k % CHAIN);
            now[k] = NOBODY;
            if (position >= length[word])
                continue;
            int32_t found = token_again(was, word, position, frame, ends);
            now[k] = found > limit ? NOBODY : found;
            least = now[k] < least ? now[k] : least;
            if (position + 1 == length[word]) {
                next_ends[word] = now[k];
                wrong += ended[(size_t)frame * words + word] != now[k];
            }
        }
        /* Exchanged, not copied: a call of memcpy would be recorded. */
        exchange(&was, &now);
        exchange(&ends, &next_ends);
    }
    free(memory);
    return wrong;
}

/* The least cost of saying the word's phonemes, in order, in the frames from `first` to `last`. */
static UNRECORDED int32_t cost_of_saying(unsigned word, unsigned first, unsigned last)
{
    int32_t state[CHAIN];
    for (unsigned position = 0; position < CHAIN; position++)
        state[position] = position ? NOBODY : 0;
    for (unsigned frame = first; frame <= last; frame++)
        for (unsigned position = length[word]; position-- > 0;) {
            int32_t from = state[position];
            if (frame > first && position > 0 && state[position - 1] < from)
                from = state[position - 1];
            uint32_t phoneme = chain[(size_t)position * words + word];
            int32_t sound = heard[(size_t)frame * PHONEMES + phoneme];
            state[position] = from == NOBODY ? NOBODY : from + sound;
        }
    return state[length[word] - 1];
}

/* Follows the best path back through the graph of words. Each word of it must cost what its
 * phonemes cost in its frames, on top of a word before it that ended just then. */
static UNRECORDED uint64_t wrong_words(uint64_t *path)
{
    unsigned word = 0, frame = frames - 1;
    for (unsigned other = 1; other < words; other++)
        if (ended[(size_t)frame * words + other] < ended[(size_t)frame * words + word])
            word = other;
    if (ended[(size_t)frame * words + word] == NOBODY)
        return 0; /* the last frame is within a word on every path */
    for (;;) {
        unsigned start = ended_at[(size_t)frame * words + word];
        *path = mix(*path, (uint64_t)start * words + word);
        if (start > frame)
            return 1;
        int32_t rest = ended[(size_t)frame * words + word] - cost_of_saying(word, start, frame);
        if (start == 0)
            return rest != 0;
        unsigned link = 0;
        for (; link < LINKS; link++) {
            size_t at = (size_t)link * words + word;
            int32_t end = ended[(size_t)(start - 1) * words + before[at]];
            if (end != NOBODY && end + toll[at] == rest)
                break;
        }
        if (link == LINKS)
            return 1;
        word = before[(size_t)link * words + word];
        frame = start - 1;
    }
}

static UNRECORDED uint64_t checksum(uint64_t path)
{
    uint64_t sum = mix(CHECKSUM_START, path);
    for (size_t at = 0; at < (size_t)frames * words; at++)
        sum = mix(sum, (uint64_t)ended[at]);
    return sum;
}

/* --- memory ----------------------------------------------------------------------------------- */

static void *zeros(size_t count)
{
    size_t bytes = whole_pages(count * sizeof(uint32_t));
    return memset(allocated(aligned_alloc(PAGE_BYTES, bytes)), 0, bytes);
}

static void make_arrays(void)
{
    chain = zeros((size_t)CHAIN * words);
    length = zeros(words);
    before = zeros((size_t)LINKS * words);
    toll = zeros((size_t)LINKS * words);
    heard = zeros((size_t)frames * PHONEMES);
    cost = zeros((size_t)CHAIN * words);
    began = zeros((size_t)CHAIN * words);
    ended = zeros((size_t)frames * words);
    ended_at = zeros((size_t)frames * words);
    best = zeros(2 * (size_t)o.threads);
}

static void free_arrays(void)
{
    void *all[] = {chain, length, before, toll, heard, cost, began, ended, ended_at, best};
    for (unsigned k = 0; k < sizeof all / sizeof *all; k++)
        free(all[k]);
}

int main(int argc, char **argv)
{
    o = parse_options(&speech, argc, argv);
    if (o.iterations > FRAMES_MAX)
        refuse(&speech, "costs are counted up to 10000 frames", "-i");
    words = o.size;
    frames = o.iterations;
    make_arrays();
    make_input();
    must(pthread_barrier_init(&all_workers, NULL, o.threads), "pthread_barrier_init");
    run_threads(o.threads, work);
    if (o.corrupt)
        ended[(size_t)(frames - 1) * words] ^= 1;
    begin_check();
    uint64_t path = CHECKSUM_START, wrong = wrong_ends();
    wrong += wrong_words(&path);
    int status = verdict(&speech, wrong, checksum(path));
    free_arrays();
    must(pthread_barrier_destroy(&all_workers), "pthread_barrier_destroy");
    return status;
}
