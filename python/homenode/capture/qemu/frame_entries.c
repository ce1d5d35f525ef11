/* Finds the entry of a function in the tables for walks of the stack: by the sorted index that most
 * files have for .eh_frame, else by one of our own, for .eh_frame or .debug_frame.
 */
#include "unwind.h"

#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { ENCODED_OMITTED = 0xff, ENCODED_PAIRS = 0x3b, ENTRIES_MORE = 1 << 10 };

static struct reader reader_in(const struct frame_table *t, uint64_t offset)
{
    if (t->bytes == NULL || offset > t->size)
        return (struct reader){.failed = 1};
    return (struct reader){t->bytes + offset, t->bytes + t->size, t->address + offset, 0};
}

/* Begins to read an entry, and ends the reader where it ends. Returns the number by which it refers
 * to another, and that number's place. */
static uint64_t begin_entry(struct reader *r, uint64_t *place)
{
    uint64_t size = take(r, 4);
    const size_t width = size == UINT32_MAX ? 8 : 4;

    if (width == 8)
        size = take(r, 8);
    if (size <= (uint64_t)(r->end - r->at))
        r->end = r->at + size;
    else
        r->failed = 1;
    *place = r->address;
    return take(r, width);
}

static void read_augmentation(struct reader *r, struct common *c, const char *letters)
{
    const uint64_t size = take_uleb(r);
    struct reader rest = *r;

    c->augmented = 1;
    skip(r, size);
    for (; *letters != '\0' && !rest.failed; letters++) {
        uint8_t encoding;

        switch (*letters) {
        case 'R':
            c->encoding = (uint8_t)take(&rest, 1);
            break;
        case 'L':
            take(&rest, 1);
            break;
        case 'P':
            encoding = (uint8_t)take(&rest, 1);
            take_encoded(&rest, encoding & 0x0f, 0);
            break;
        default:
            break;
        }
    }
}

static int read_common(const struct frame_table *t, uint64_t offset, struct common *c)
{
    struct reader r = reader_in(t, offset);
    const char *letters;
    uint64_t place;
    uint8_t version;

    memset(c, 0, sizeof *c);
    begin_entry(&r, &place);
    version = (uint8_t)take(&r, 1);
    letters = (const char *)r.at;
    while (take(&r, 1) != 0)
        continue;
    if (version >= 4)
        skip(&r, 2);            /* sizes of addresses and of segments */
    c->code_step = take_uleb(&r);
    c->data_step = take_sleb(&r);
    c->link = version == 1 ? take(&r, 1) : take_uleb(&r);
    if (!r.failed && letters[0] == 'z')
        read_augmentation(&r, c, letters + 1);
    c->rules = r;
    return !r.failed && c->link == hn_registers->dwarf_link;
}

/* Reads the entry at an offset; returns whether it is that of a function. */
static int read_entry(const struct frame_table *t, uint64_t offset, struct frame_entry *e)
{
    struct reader r = reader_in(t, offset);
    uint64_t place, to = begin_entry(&r, &place);

    if (r.failed || to == (t->is_debug ? UINT32_MAX : 0) || to == UINT64_MAX)
        return 0;
    if (!t->is_debug)
        to = place - to - t->address;
    if (!read_common(t, to, &e->common))
        return 0;
    e->begin = take_encoded(&r, e->common.encoding, 0);
    e->size = take_encoded(&r, e->common.encoding & 0x0f, 0);
    if (e->common.augmented)
        skip(&r, take_uleb(&r));
    e->rules = r;
    return !r.failed;
}

static int compare_entries(const void *a, const void *b)
{
    const uint64_t first = ((const struct indexed_entry *)a)->begin;
    const uint64_t second = ((const struct indexed_entry *)b)->begin;

    return (first > second) - (first < second);
}

/* Makes our own index of a table. */
static void make_index(struct frame_table *t)
{
    size_t room = 0;

    t->is_indexed = 1;
    for (uint64_t offset = 0; offset + 4 < t->size;) {
        struct reader r = reader_in(t, offset);
        struct frame_entry e;
        uint64_t place;

        begin_entry(&r, &place);
        if (r.failed)
            break;
        if (read_entry(t, offset, &e) && e.size != 0) {
            if (t->count == room) {
                struct indexed_entry *more =
                    realloc(t->index, (2 * room + ENTRIES_MORE) * sizeof *more);

                if (more == NULL)
                    break;
                room = 2 * room + ENTRIES_MORE;
                t->index = more;
            }
            t->index[t->count++] = (struct indexed_entry){e.begin, offset};
        }
        offset = (uint64_t)(r.end - t->bytes);
    }
    qsort(t->index, t->count, sizeof *t->index, compare_entries);
}

/* The offset of the last entry that begins at most at an address, by our own index. */
static int entry_by_our_index(struct frame_table *t, uint64_t pc, uint64_t *offset)
{
    size_t low = 0, high;

    if (!t->is_indexed)
        make_index(t);
    high = t->count;
    while (low < high) {
        const size_t middle = (low + high) / 2;

        if (t->index[middle].begin <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low != 0)
        *offset = t->index[low - 1].offset;
    return low != 0;
}

/* Reads the beginning of the file's own index; returns the number of its pairs, which follow. */
static uint64_t begin_index(const struct loaded_file *f, struct reader *r, uint64_t *table)
{
    uint8_t version, pointer, number, pairs;
    size_t left = 0;
    uint64_t count;

    r->at = f->frames_address == 0 ? NULL : bytes_at(f, f->frames_address, &left);
    r->end = r->at == NULL ? NULL : r->at + left;
    r->address = f->frames_address;
    r->failed = r->at == NULL;
    version = (uint8_t)take(r, 1);
    pointer = (uint8_t)take(r, 1);
    number = (uint8_t)take(r, 1);
    pairs = (uint8_t)take(r, 1);
    if (r->failed || version != 1)
        return 0;
    *table = take_encoded(r, pointer, f->frames_address);
    if (number == ENCODED_OMITTED || pairs != ENCODED_PAIRS)
        return 0;
    count = take_encoded(r, number, f->frames_address);
    return r->failed || count > (uint64_t)(r->end - r->at) / 8 ? 0 : count;
}

/* The same by the file's index. */
static int entry_by_its_index(const struct loaded_file *f, uint64_t pc, uint64_t *offset)
{
    struct reader r, pair;
    uint64_t table, low = 0, high = begin_index(f, &r, &table);

    while (low < high) {
        const uint64_t middle = (low + high) / 2;

        pair = r;
        skip(&pair, 8 * middle);
        if (take_encoded(&pair, ENCODED_PAIRS, f->frames_address) <= pc)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return 0;
    skip(&r, 8 * (low - 1) + 4);
    *offset = take_encoded(&r, ENCODED_PAIRS, f->frames_address) - f->tables[0].address;
    return !r.failed;
}

/* Finds the tables of a file, by its index and by its sections. */
static void find_tables(struct loaded_file *f)
{
    struct frame_table *t = &f->tables[0];
    struct reader r;
    uint64_t table = 0;

    f->tables_found = 1;
    f->has_index = begin_index(f, &r, &table) != 0;
    if (f->has_index) {
        t->address = table;
        t->bytes = bytes_at(f, table, &t->size);
        f->has_index = t->bytes != NULL;
    } else {
        find_section(f, ".eh_frame", t);
    }
    find_section(f, ".debug_frame", &f->tables[1]);
    f->tables[1].address = 0;
    f->tables[1].is_debug = 1;
}

/* The entry of the function at an address of the file; returns whether there is one. */
int frame_entry(struct loaded_file *f, uint64_t pc, struct frame_entry *e)
{
    uint64_t offset;

    if (!f->tables_found)
        find_tables(f);
    for (int i = 0; i < 2; i++) {
        struct frame_table *t = &f->tables[i];
        int found = 0;

        if (i == 0 && f->has_index)
            found = entry_by_its_index(f, pc, &offset);
        else if (t->bytes != NULL)
            found = entry_by_our_index(t, pc, &offset);
        if (found && read_entry(t, offset, e) && pc >= e->begin && pc - e->begin < e->size)
            return 1;
    }
    return 0;
}
