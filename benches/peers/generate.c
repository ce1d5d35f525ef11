/* Writes the records of a trace: `generate product N` or `generate mix REFERENCES SEED`. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

enum { READ, WRITE };

static void reference(unsigned thread, uint64_t address, int write, int site) {
  struct record made = {address, (uint32_t)(address >> BLOCK_BITS), thread, write, 8, site};
  if (fwrite(&made, sizeof made, 1, stdout) != 1) {
    perror("generate");
    exit(1);
  }
}

/* The product of two matrices of n x n doubles: each thread has a quarter of the rows, and in turn
   they make one step of their inner loops. */
static void product(uint64_t n) {
  const uint64_t a = 0x10000000, b = a + 8 * n * n, c = b + 8 * n * n, rows = n / THREADS;
  for (uint64_t row = 0; row < rows; row++)
    for (uint64_t column = 0; column < n; column++)
      for (uint64_t k = 0; k < n; k++)
        for (unsigned thread = 0; thread < THREADS; thread++) {
          uint64_t i = thread * rows + row;
          reference(thread, a + 8 * (i * n + k), READ, 0);
          reference(thread, b + 8 * (k * n + column), READ, 1);
          if (k == n - 1) reference(thread, c + 8 * (i * n + column), WRITE, 2);
        }
}

/* SplitMix64. */
static uint64_t state;
static uint64_t below(uint64_t limit) {
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return (uint32_t)(z >> 32) * limit >> 32;
}

/* Of 98 draws two are a read and, in the thread's next turn, a write of the same record. So of 100
   references 70 are private, 25 to a shared MiB, 4 to these records and one to a thread's own word
   of a shared line. */
static void mix(uint64_t references) {
  const uint64_t shared = 0x20000000, records = 0x30000000, lines = 0x40000000;
  uint64_t to_write[THREADS] = {0};
  for (uint64_t made = 0; made < references; made++) {
    unsigned thread = made % THREADS;
    if (to_write[thread]) {
      reference(thread, to_write[thread], WRITE, 5);
      to_write[thread] = 0;
      continue;
    }
    uint64_t draw = below(98);
    if (draw < 70) {
      uint64_t bytes = below(100) < 80 ? 24 << 10 : 256 << 10;
      uint64_t address = 0x1000000 * (1 + thread) + 8 * below(bytes / 8);
      int write = below(4) == 0;
      reference(thread, address, write, write);
    } else if (draw < 95) {
      uint64_t address = shared + 8 * below((1 << 20) / 8);
      int write = below(100) < 5;
      reference(thread, address, write, 2 + write);
    } else if (draw < 97) {
      to_write[thread] = records + 64 * below(64);
      reference(thread, to_write[thread], READ, 4);
    } else {
      uint64_t address = lines + 64 * below(32) + 8 * thread;
      int write = below(2) == 0;
      reference(thread, address, write, 6 + write);
    }
  }
}

int main(int count, char **words) {
  static char buffer[1 << 20];
  setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
  if (count == 3 && strcmp(words[1], "product") == 0) {
    product(strtoull(words[2], NULL, 10));
  } else if (count == 4 && strcmp(words[1], "mix") == 0) {
    state = strtoull(words[3], NULL, 10);
    mix(strtoull(words[2], NULL, 10));
  } else {
    fprintf(stderr, "usage: generate product N | generate mix REFERENCES SEED\n");
    return 2;
  }
  return fflush(stdout) != 0;
}
