// kind: gathers, masks, streaming
// expect: words written=400 read=0
// expect: vectors written=1600 read=0
// compile: gcc clang; O0 O2
// why: a hundred non-temporal stores of 4 and of 16 bytes.
#include "truth.h"
#include <immintrin.h>

int words[100];
__m128i vectors[100];

NOINLINE void fill(int *a, __m128i *b)
{
    for (int i = 0; i < 100; i++) {
        _mm_stream_si32(&a[i], i);
        _mm_stream_si128(&b[i], _mm_set1_epi32(i));
    }
    _mm_sfence();
}

int main(void)
{
    fill(words, vectors);
    return 0;
}
