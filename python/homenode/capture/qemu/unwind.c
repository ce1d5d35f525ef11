/* How to get from a function to its caller.
 *
 * Only rules of compilers are understood: the caller's stack pointer is a register and an offset,
 * and registers are saved at offsets from it. Where there is no table, as in Go, there are frame
 * pointers.
 */
#include "unwind.h"

#include <string.h>

enum { ROWS = 1 << 12, DEPTH_MAX = 4 };

/* Where the registers of the caller are, while rules are followed. */
struct rules {
    uint64_t base;              /* by number in debug information */
    int64_t base_offset;
    int unknown;
    int32_t offset[REGISTERS_MAX + 1];
    uint8_t is_saved[REGISTERS_MAX + 1];
};

static struct unwind_row rows[ROWS];

/* Index of a register for its rule; that of the return address differs, where it is none. */
static unsigned rule_of(uint64_t number)
{
    if (number == hn_registers->dwarf_link)
        return LINK_COLUMN;
    return number < hn_registers->dwarf_count ? (unsigned)number : UINT32_MAX;
}

static void save(struct rules *rules, uint64_t number, int64_t offset)
{
    const unsigned at = rule_of(number);

    if (at == UINT32_MAX)
        return;
    rules->is_saved[at] = 1;
    rules->offset[at] = (int32_t)offset;
}

/* The register is as in the caller, or as at the beginning. */
static void forget(struct rules *rules, uint64_t number, const struct rules *first)
{
    const unsigned at = rule_of(number);

    if (at == UINT32_MAX)
        return;
    rules->is_saved[at] = first != NULL && first->is_saved[at];
    rules->offset[at] = first != NULL ? first->offset[at] : 0;
}

/* Rules that cannot be followed: for a register that is not needed they do no harm. */
static void lose(struct rules *rules, uint64_t number)
{
    const unsigned at = rule_of(number);

    if (at == LINK_COLUMN || at == rules->base)
        rules->unknown = 1;
    forget(rules, number, NULL);
}

/* Its value in the caller is the base anyway; Go's tables have a rule that says so. */
static int is_stack_pointer(uint64_t number)
{
    return number < hn_registers->dwarf_count &&
           register_of_dwarf((unsigned)number) == hn_registers->stack;
}

/* One rule whose number takes all eight bits. */
static void follow_long(struct reader *r, const struct common *c, struct rules *rules,
                        const struct rules *first, uint8_t code)
{
    uint64_t number;

    switch (code) {
    case 0x05:                          /* offset_extended */
        number = take_uleb(r);
        save(rules, number, (int64_t)take_uleb(r) * c->data_step);
        break;
    case 0x11:                          /* offset_extended_sf */
        number = take_uleb(r);
        save(rules, number, take_sleb(r) * c->data_step);
        break;
    case 0x06:                          /* restore_extended */
        forget(rules, take_uleb(r), first);
        break;
    case 0x07:                          /* undefined: for the return address, the first function */
        lose(rules, take_uleb(r));
        break;
    case 0x08:                          /* same_value */
        forget(rules, take_uleb(r), NULL);
        break;
    case 0x0c: case 0x12:               /* def_cfa, def_cfa_sf */
        rules->base = take_uleb(r);
        rules->base_offset = code == 0x0c ? (int64_t)take_uleb(r) : take_sleb(r) * c->data_step;
        break;
    case 0x0d:                          /* def_cfa_register */
        rules->base = take_uleb(r);
        break;
    case 0x0e: case 0x13:               /* def_cfa_offset, def_cfa_offset_sf */
        rules->base_offset = code == 0x0e ? (int64_t)take_uleb(r) : take_sleb(r) * c->data_step;
        break;
    case 0x0f:                          /* def_cfa_expression */
        skip(r, take_uleb(r));
        rules->unknown = 1;
        break;
    case 0x14: case 0x15:               /* val_offset, val_offset_sf */
        number = take_uleb(r);
        if (take_uleb(r) != 0 || !is_stack_pointer(number))
            lose(rules, number);
        break;
    case 0x09:                          /* register */
        lose(rules, take_uleb(r));
        take_uleb(r);
        break;
    case 0x10: case 0x16:               /* expression, val_expression */
        lose(rules, take_uleb(r));
        skip(r, take_uleb(r));
        break;
    case 0x2e:                          /* GNU_args_size */
        take_uleb(r);
        break;
    case 0x00: case 0x2d:               /* nop; a signed return address */
        break;
    default:
        r->failed = 1;
    }
}

/* Follows rules up to an address. */
static void follow(struct reader r, const struct common *c, struct rules *rules,
                   const struct rules *first, uint64_t begin, uint64_t pc)
{
    struct rules remembered[DEPTH_MAX];
    uint64_t at = begin;
    int depth = 0;

    while (r.at < r.end && !r.failed) {
        const uint8_t code = (uint8_t)take(&r, 1), low = code & 0x3f;
        uint64_t step = 0;

        if (code >> 6 == 1)
            step = low;
        else if (code >> 6 == 2)
            save(rules, low, (int64_t)take_uleb(&r) * c->data_step);
        else if (code >> 6 == 3)
            forget(rules, low, first);
        else if (code >= 0x02 && code <= 0x04)
            step = take(&r, (size_t)1 << (code - 2));
        else if (code == 0x01)
            at = take_encoded(&r, c->encoding, 0);
        else if (code == 0x0a && depth < DEPTH_MAX)
            remembered[depth++] = *rules;
        else if (code == 0x0b && depth > 0)
            *rules = remembered[--depth];
        else
            follow_long(&r, c, rules, first, code);
        at += step * c->code_step;
        if (at > pc)
            return;
    }
    rules->unknown |= r.failed;
}

/* The rules at an address, in the file's own addresses; returns whether there are any. */
static int rules_at(struct loaded_file *f, uint64_t pc, struct rules *rules)
{
    struct frame_entry e;
    struct rules first;

    memset(rules, 0, sizeof *rules);
    if (!frame_entry(f, pc, &e))
        return 0;
    follow(e.common.rules, &e.common, rules, NULL, 0, UINT64_MAX - 1);
    first = *rules;
    follow(e.rules, &e.common, rules, &first, e.begin, pc);
    return 1;
}

/* Where there is no table: the frame pointer is the address of the saved one, with the return
 * address above it; on RISC-V it is behind both. */
static void by_frame_pointer(struct unwind_row *row)
{
    row->base = hn_registers->frame;
    row->base_offset = hn_registers->frame_distance;
    row->saved[0] = hn_registers->frame;
    row->offset[0] = -16;
    row->saved[1] = LINK_COLUMN;
    row->offset[1] = -8;
    row->count = 2;
    row->is_guess = 1;
}

static void make_row(struct unwind_row *row, uint64_t pc)
{
    struct loaded_file *f = file_with_code(pc);
    struct rules rules;

    row->pc = pc;
    row->base = NO_REGISTER;
    row->count = 0;
    row->is_guess = 0;
    if (f == NULL)
        return;
    if (!rules_at(f, pc - f->moved, &rules)) {
        by_frame_pointer(row);
        return;
    }
    if (rules.unknown || rules.base >= hn_registers->dwarf_count)
        return;
    row->base = (uint8_t)register_of_dwarf((unsigned)rules.base);
    row->base_offset = rules.base_offset;
    for (unsigned i = 0; i <= LINK_COLUMN; i++) {
        if (!rules.is_saved[i])
            continue;
        row->saved[row->count] = i == LINK_COLUMN ? LINK_COLUMN : (uint8_t)register_of_dwarf(i);
        row->offset[row->count++] = rules.offset[i];
    }
}

/* How to get to the caller from a program counter; the same row until the next call. */
const struct unwind_row *unwind_row(uint64_t pc)
{
    struct unwind_row *row = &rows[hn_mixed(0, pc) >> 20 & (ROWS - 1)];

    if (row->pc != pc)
        make_row(row, pc);
    return row;
}
