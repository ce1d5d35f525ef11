/* Reads the numbers in tables for walks of the stack. */
#include "unwind.h"

#include <string.h>

enum { ENCODED_RELATIVE = 0x10, ENCODED_TO_TABLE = 0x30 };

uint64_t take(struct reader *r, size_t size)
{
    uint64_t value = 0;

    if ((size_t)(r->end - r->at) < size) {
        r->failed = 1;
        return 0;
    }
    memcpy(&value, r->at, size);
    r->at += size;
    r->address += size;
    return value;
}

uint64_t take_uleb(struct reader *r)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = (uint8_t)take(r, 1);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift += 7;
    } while ((byte & 0x80) != 0 && !r->failed);
    return value;
}

int64_t take_sleb(struct reader *r)
{
    const uint8_t *from = r->at;
    uint64_t value = take_uleb(r);
    const unsigned bits = 7 * (unsigned)(r->at - from);

    if (!r->failed && bits < 64 && (r->at[-1] & 0x40) != 0)
        value |= UINT64_MAX << bits;
    return (int64_t)value;
}

void skip(struct reader *r, uint64_t size)
{
    if (size > (uint64_t)(r->end - r->at)) {
        r->failed = 1;
        return;
    }
    r->at += size;
    r->address += size;
}

/* A number or an address; relative to its own place, or to the table. */
uint64_t take_encoded(struct reader *r, uint8_t encoding, uint64_t table)
{
    const uint64_t place = r->address;
    uint64_t value = 0;

    switch (encoding & 0x0f) {
    case 0x00: case 0x04: case 0x0c:
        value = take(r, 8);
        break;
    case 0x01:
        value = take_uleb(r);
        break;
    case 0x02:
        value = take(r, 2);
        break;
    case 0x03:
        value = take(r, 4);
        break;
    case 0x09:
        value = (uint64_t)take_sleb(r);
        break;
    case 0x0a:
        value = (uint64_t)(int64_t)(int16_t)take(r, 2);
        break;
    case 0x0b:
        value = (uint64_t)(int64_t)(int32_t)take(r, 4);
        break;
    default:
        r->failed = 1;
    }
    if ((encoding & 0x70) == ENCODED_RELATIVE)
        value += place;
    else if ((encoding & 0x70) == ENCODED_TO_TABLE)
        value += table;
    else if ((encoding & 0x70) != 0)
        r->failed = 1;
    return value;
}
