// `multicachesim RECORDS`: MultiCacheSim on the records, compiled with its sources.
// Four caches of 32 KiB, 8-way, 64-byte lines, kept coherent by MOESI; no prefetching.
#include <cstdio>
#include <memory>
#include <vector>

#include "record.h"
#include "system.h"

int main(int count, char **words) {
  static record records[1 << 12];
  FILE *file = count == 2 ? std::fopen(words[1], "rb") : nullptr;
  if (!file) {
    std::fprintf(stderr, "usage: multicachesim RECORDS\n");
    return 2;
  }
  std::vector<unsigned> domains{0, 1, 2, 3};
  MultiCacheSystem system(domains, 64, 512, 8, std::unique_ptr<Prefetch>(), false, false, THREADS);
  unsigned long references = 0;
  for (size_t read; (read = std::fread(records, sizeof *records, 1 << 12, file)) > 0;) {
    for (size_t i = 0; i < read; i++)
      system.memAccess(records[i].address,
                       records[i].write ? AccessType::Write : AccessType::Read, records[i].thread);
    references += read;
  }
  std::printf("{\"references\": %lu, \"misses\": %lu}\n", references,
              references - system.stats.hits);
}
