/* What the C library's operations on its locks and the like access; fields.c records it. */
#ifndef HN_FIELDS_H
#define HN_FIELDS_H

#include "hn.h"

/* An access to a field: kind, size and distance from the beginning of the object. Lists end with
 * 0. A read and a write of an addition are two. */
typedef uint16_t hn_field;

enum { HN_FIELD_KIND = 12, HN_FIELD_SIZE = 8, HN_FIELD_APART = 1 << 14 };

#define HN_FIELD(kind, size, at) \
    ((hn_field)((kind) << HN_FIELD_KIND | (size) << HN_FIELD_SIZE | (at)))
#define R(at) HN_FIELD(HN_READ, 4, at)
#define W(at) HN_FIELD(HN_WRITE, 4, at)
#define A(at) HN_FIELD(HN_ATOMIC, 4, at)
#define LONG_R(at) HN_FIELD(HN_READ, 8, at)
#define LONG_W(at) HN_FIELD(HN_WRITE, 8, at)
#define LONG_A(at) HN_FIELD(HN_ATOMIC, 8, at)
#define ADD(at) R(at), W(at)

/* An operation that takes a lock. */
struct hn_taking {
    const void *lock;
    uintptr_t pc;
    const hn_field *asks;       /* accesses until it is decided whether it gets the lock */
    const hn_field *takes;      /* those that take it, if they are others */
    const hn_field *has;        /* those of the owner */
};

extern const hn_field hn_no_fields[], hn_lock_word[];

void hn_fields(struct hn_thread *me, const void *object, const hn_field *fields, uintptr_t pc);
void hn_fields_of_release(struct hn_thread *me, const void *object, const hn_field *fields,
                          uintptr_t pc);
void hn_put_fields(struct hn_thread *me, const struct hn_thread *whose, const void *object,
                   const hn_field *fields, uintptr_t pc);

/* locks.c: what all kinds of lock share */
void hn_note_acquired(int result, const struct hn_taking *taking);
void hn_note_releasing(struct hn_thread *me, const void *lock, const hn_field *fields,
                       uintptr_t pc);
int hn_wait_for_lock(struct hn_thread *me, const void *lock, int64_t timeout_ns, int shared);

/* mutexes.c: mutexes in a wait for a condition */
void hn_note_waiting(struct hn_thread *me, const void *condition, pthread_mutex_t *m,
                     uintptr_t pc);
int hn_unlock_to_wait(pthread_mutex_t *m);
int hn_relock(pthread_mutex_t *m, uintptr_t pc);
void hn_note_relocked(pthread_mutex_t *m, uintptr_t pc);
void hn_put_relock(struct hn_thread *me, struct hn_thread *t);

#endif
