/* `product N`: the program of which `generate product N` makes the trace, for cachegrind. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "record.h"

static size_t n;
static double *a, *b, *c;

static void *quarter(void *begin) {
  size_t rows = n / THREADS, first = (size_t)begin * rows;
  for (size_t i = first; i < first + rows; i++)
    for (size_t j = 0; j < n; j++) {
      double sum = 0;
      for (size_t k = 0; k < n; k++) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
  return NULL;
}

int main(int count, char **words) {
  pthread_t threads[THREADS];
  n = count == 2 ? strtoul(words[1], NULL, 10) : 0;
  a = calloc(3 * n * n + 1, sizeof *a);
  if (!n || !a) {
    fprintf(stderr, "usage: product N\n");
    return 2;
  }
  b = a + n * n;
  c = b + n * n;
  for (size_t t = 0; t < THREADS; t++) pthread_create(&threads[t], NULL, quarter, (void *)t);
  for (size_t t = 0; t < THREADS; t++) pthread_join(threads[t], NULL);
  return 0;
}
