/* More references than any buffer holds, of a kind that does not compress. */
#include <stdio.h>
#include <stdlib.h>

static unsigned char table[1 << 20];

int main(int count, char **words)
{
    const long rounds = count > 1 ? atol(words[1]) : 1000000;
    unsigned long x = 88172645463325252UL;

    for (long i = 0; i < rounds; i++) {
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        table[x % sizeof table]++;
    }
    printf("%lu\n", x);
    return 0;
}
