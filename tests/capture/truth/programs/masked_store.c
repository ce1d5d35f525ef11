// kind: gathers, masks, streaming
// expect: to written=12 read=0
// compile: gcc clang; O3-v3
// why: three of eight ints are stored, as the mask says.
#include "truth.h"
#include <immintrin.h>

int to[8];

NOINLINE void store(int *at)
{
    __m256i mask = _mm256_setr_epi32(-1, 0, -1, 0, 0, 0, 0, -1);

    _mm256_maskstore_epi32(at, mask, _mm256_set1_epi32(7));
}

int main(void)
{
    store(to);
    return 0;
}
