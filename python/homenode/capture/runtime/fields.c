/* Records what the C library's own code accesses in a lock, as that code has no hooks.
 *
 * All are references to a synchronisation variable. The first of an operation is like any other
 * reference of a hook; the others follow it with no turn between. In logical order these do not
 * advance the clock, so that the operation is in one turn, however short turns are.
 */
#include "fields.h"

const hn_field hn_no_fields[] = {0};
const hn_field hn_lock_word[] = {A(0), 0};

static uintptr_t field_at(const void *object, hn_field field)
{
    return (uintptr_t)object + (field & 0xff);
}

/* The first word of a record, without the address. */
static uint64_t field_bits(hn_field field)
{
    return UINT64_C(1) << HN_SYNC_BIT |
           HN_WHAT(field >> HN_FIELD_KIND & 3, field >> HN_FIELD_SIZE & 0xf);
}

/* Records accesses of the thread `whose`, which is usually the caller, without a check of the
 * quantum. */
void hn_put_fields(struct hn_thread *me, const struct hn_thread *whose, const void *object,
                   const hn_field *fields, uintptr_t pc)
{
    const uint64_t within = hn_logical ? UINT64_C(1) << HN_WITHIN_BIT : 0;
    uint64_t clock;

    if (fields[0] == 0 || me->state != HN_RUNNING || hn_c->order == 0)
        return;
    if (hn_logical && me->fresh)
        hn_note_turn(me);
    clock = hn_begin_uncounted(me);
    for (size_t i = 0; fields[i] != 0 && hn_c->order != 0; i++)
        hn_put(me, (field_at(object, fields[i]) & 0xffffffffffff) | field_bits(fields[i]) | within,
               (pc & 0xffffffffffff) | whose->tag);
    hn_end_uncounted(me, clock);
}

/* Records the accesses of an operation that the caller performs next. */
void hn_fields(struct hn_thread *me, const void *object, const hn_field *fields, uintptr_t pc)
{
    if (HN_UNLIKELY(hn_directed) && me->state == HN_RUNNING)
        hn_exact_turn(me);
    hn_fields_of_release(me, object, fields, pc);
}

/* The same for the release of a lock: in directed order the simulation decides who gets it, and
 * when, so the turn need not end. */
void hn_fields_of_release(struct hn_thread *me, const void *object, const hn_field *fields,
                          uintptr_t pc)
{
    const volatile void *address = (const void *)field_at(object, fields[0]);

    if (me->state != HN_RUNNING)
        return;
    if (hn_logical)
        hn_ref_in_turn(address, field_bits(fields[0]), pc);
    else
        hn_ref(address, field_bits(fields[0]), pc);
    hn_put_fields(me, me, object, fields + 1, pc);
}
