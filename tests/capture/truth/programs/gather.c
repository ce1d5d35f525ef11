// kind: gathers, masks, streaming
// expect: table written=0 read=32
// expect: places written=0 read=32
// expect: to written=32 read=0
// compile: gcc clang; O3-v3
// why: one gather of eight ints, their indices loaded and the result stored as vectors.
#include "truth.h"
#include <immintrin.h>

int table[64], to[8], places[8] = {1, 9, 17, 25, 33, 41, 49, 57};

NOINLINE void gather(int *a, const int *b, const int *at)
{
    __m256i where = _mm256_loadu_si256((const __m256i *)at);

    _mm256_storeu_si256((__m256i *)a, _mm256_i32gather_epi32(b, where, 4));
}

int main(void)
{
    gather(to, table, places);
    return 0;
}
