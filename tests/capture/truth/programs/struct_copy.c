// kind: structures
// expect: from16 written=0 read=16
// expect: to16 written=16 read=0
// expect: to24 written=24 read=0
// expect: from24 written=0 read=24
// expect: from48 written=0 read=48
// expect: to48 written=48 read=0
// expect: from112 written=0 read=112
// expect: to112 written=112 read=0
// expect qemu clang O0: from48 written=0 read=64
// expect qemu clang O0: to48 written=64 read=0
// expect qemu clang O0: from112 written=0 read=128
// expect qemu clang O0: to112 written=128 read=0
// expect machine clang O3-v3: from48 written=0 read=64
// expect machine clang O3-v3: to48 written=64 read=0
// expect machine clang O3-v3: from112 written=0 read=128
// expect machine clang O3-v3: to112 written=128 read=0
// compile: gcc clang; O0 O2 O3-v3
// why: each structure is copied once; the sizes are sums of powers of two, so stores need not
// overlap. clang with vectors of 32 bytes, and the library that it calls at -O0, let them.
#include "truth.h"

#define COPY(size)                                                            \
    struct s##size { long v[size / 8]; } from##size, to##size;                \
    NOINLINE void copy##size(struct s##size *to, const struct s##size *from)  \
    {                                                                         \
        *to = *from;                                                          \
    }

COPY(16)
COPY(24)
COPY(48)
COPY(112)

int main(void)
{
    copy16(&to16, &from16);
    copy24(&to24, &from24);
    copy48(&to48, &from48);
    copy112(&to112, &from112);
    return 0;
}
