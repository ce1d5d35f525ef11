// kind: gathers, masks, streaming
// expect: from written=0 read=12
// expect qemu: from written=0 read=32
// expect machine clang: from written=0 read=32
// expect: to written=32 read=0
// compile: gcc clang; O3-v3
// why: a masked load of three of eight ints; the emulator reports all 32 bytes. clang knows the
// mask and loads the whole vector.
#include "truth.h"
#include <immintrin.h>

int from[8], to[8];

NOINLINE void load(int *a, const int *b)
{
    __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, 0, -1);

    _mm256_storeu_si256((__m256i *)a, _mm256_maskload_epi32(b, mask));
}

int main(void)
{
    load(to, from);
    return 0;
}
