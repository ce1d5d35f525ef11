/* memcpy and its family: the memory they access must be recorded, split at cache lines. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct large {
    char bytes[1000];
};

char from[512], to[512], filled[300], moved[256], text[64], joined[64];
struct large left, right;

int main(int count, char **words)
{
    size_t size = 448 + (size_t)count - 1;
    char *copy;
    int sum = 0;

    for (size_t i = 0; i < sizeof from; i++)
        from[i] = (char)i;
    memcpy(to + 8, from + 8, size);
    memset(filled, count, 250 + (size_t)count);
    memmove(moved + 10, moved, 100 + (size_t)count);
    left = right;
    strcpy(text, words[0] + strlen(words[0]) - (size_t)count);
    strcat(joined, text);
    copy = strdup(text);
    sum += memcmp(from, to, size) > 0;
    sum += strcmp(copy, text) == 0;
    sum += (int)strlen(text);
    printf("%d %d %d\n", sum, to[455], left.bytes[3]);
    free(copy);
    return 0;
}
