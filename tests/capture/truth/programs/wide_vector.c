// kind: loops over arrays
// expect: from written=0 read=3200
// expect: to written=3200 read=0
// compile: gcc clang; O3-v3
// why: a hundred vectors of 32 bytes are loaded, added to and stored.
#include "truth.h"
#include <immintrin.h>

__m256i from[100], to[100];

NOINLINE void add(__m256i *a, const __m256i *b)
{
    for (int i = 0; i < 100; i++)
        a[i] = _mm256_add_epi32(b[i], _mm256_set1_epi32(1));
}

int main(void)
{
    add(to, from);
    return 0;
}
