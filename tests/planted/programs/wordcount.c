/* Counts words in a text, a stretch of it for each thread. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS 8
#define TEXT 160000

static char text[TEXT + 1];
#ifdef FIXED
static struct {
    _Alignas(64) long n;
} words_found[THREADS];
#else
static struct {
    long n;
} words_found[THREADS]; /* mark: words_found */
#endif

static int is_letter(char c)
{
    return c >= 'a' && c <= 'z';
}

static void *count(void *arg)
{
    int me = (int)(size_t)arg;
    size_t from = (size_t)me * (TEXT / THREADS), to = from + TEXT / THREADS;
    int inside = 0;

    for (size_t i = from; i < to; i++) {
        int letter = is_letter(text[i]);
        if (letter && !inside)
            words_found[me].n++;
        inside = letter;
    }
    return NULL;
}

int main(void)
{
    pthread_t ids[THREADS];
    long total = 0, expected = 0;

    for (int i = 0; i < TEXT; i++)
        text[i] = i % 5 == 4 ? ' ' : (char)('a' + i % 26);
    for (size_t t = 0; t < THREADS; t++)
        pthread_create(&ids[t], NULL, count, (void *)t);
    for (int t = 0; t < THREADS; t++)
        pthread_join(ids[t], NULL);
    for (int t = 0; t < THREADS; t++)
        total += words_found[t].n;
    expected = TEXT / 5;
    printf("%ld words\n", total);
    return total == expected ? EXIT_SUCCESS : EXIT_FAILURE;
}
