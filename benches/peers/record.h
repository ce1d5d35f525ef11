/* One reference of a trace as the plain loop and the peers read it. */
#ifndef RECORD_H
#define RECORD_H

#include <stdint.h>

struct record {
  uint64_t address;
  uint32_t block; /* of 64 bytes: libCacheSim takes a field as it is, without a shift */
  uint8_t thread;
  uint8_t write;
  uint8_t size;
  uint8_t site; /* which instruction of the program makes the reference */
};

enum { THREADS = 4, BLOCK_BITS = 6 };

#endif
