/* The plain loop: four coherent caches of 32 KiB, 8-way, LRU, MESI, in the order of the trace.
   `plain RECORDS` prints its counts as JSON. It is what one writes in an hour, and no more: the
   yardstick of whole processes, and a check of their counts. */
#include <stdio.h>

#include "record.h"

enum { SETS = 64, WAYS = 8, AT_ONCE = 1 << 12 };
enum { INVALID, SHARED, EXCLUSIVE, MODIFIED };

struct line {
  uint64_t block, used;
  int state;
};
static struct line caches[THREADS][SETS][WAYS];
static uint64_t references, misses, write_misses, invalidates;

static struct line *find(unsigned thread, uint64_t block) {
  struct line *set = caches[thread][block % SETS];
  for (int way = 0; way < WAYS; way++)
    if (set[way].state != INVALID && set[way].block == block) return &set[way];
  return NULL;
}

static struct line *victim(unsigned thread, uint64_t block) {
  struct line *set = caches[thread][block % SETS], *oldest = set;
  for (int way = 0; way < WAYS; way++) {
    if (set[way].state == INVALID) return &set[way];
    if (set[way].used < oldest->used) oldest = &set[way];
  }
  return oldest;
}

/* What a transaction does in the other caches; returns whether any had the block. */
static int snoop(unsigned thread, uint64_t block, int write) {
  int found = 0;
  for (unsigned other = 0; other < THREADS; other++) {
    struct line *line = other == thread ? NULL : find(other, block);
    if (!line) continue;
    found = 1;
    line->state = write ? INVALID : SHARED;
  }
  return found;
}

static void access_block(unsigned thread, uint64_t block, int write) {
  struct line *line = find(thread, block);
  if (!line) {
    int shared = snoop(thread, block, write);
    misses++;
    write_misses += write;
    line = victim(thread, block);
    line->block = block;
    line->state = write ? MODIFIED : shared ? SHARED : EXCLUSIVE;
  } else if (write) {
    if (line->state == SHARED) {
      invalidates++;
      snoop(thread, block, write);
    }
    line->state = MODIFIED;
  }
  line->used = ++references;
}

int main(int count, char **words) {
  static struct record records[AT_ONCE];
  FILE *file = count == 2 ? fopen(words[1], "rb") : NULL;
  if (!file) {
    fprintf(stderr, "usage: plain RECORDS\n");
    return 2;
  }
  for (size_t read; (read = fread(records, sizeof *records, AT_ONCE, file)) > 0;)
    for (size_t i = 0; i < read; i++)
      access_block(records[i].thread, records[i].address >> BLOCK_BITS, records[i].write);
  printf("{\"references\": %lu, \"misses\": %lu, \"write_misses\": %lu, \"invalidates\": %lu}\n",
         references, misses, write_misses, invalidates);
  return ferror(file);
}
