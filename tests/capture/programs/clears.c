/* Large clears and short copies by the C library. */
#include <string.h>

char page[4096] __attribute__((aligned(512)));
char table[100][32], key[32];
volatile size_t all = sizeof page, some = 24;

int main(void)
{
    memset(page, 0, all);
    for (int i = 0; i < 100; i++)
        memcpy(table[i], key, some);
    return 0;
}
