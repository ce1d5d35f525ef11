/* Meters padded for machines with lines of 32 bytes. */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

#define METERS 8
#ifdef FIXED
#define LINE 64
#else
#define LINE 32
#endif

union meter {
    struct {
        uint32_t pulses;
        uint32_t overflows;
    } m;
    char line[LINE];
};

static union meter meter[METERS] __attribute__((aligned(LINE))); /* mark: meter */
static uint8_t wire[4096];

static void *read_meter(void *arg)
{
    uintptr_t k = (uintptr_t)arg;
    for (int round = 0; round < 6; round++)
        for (unsigned i = 0; i < sizeof wire; i++) {
            if (wire[i] & (1u << k)) {
                meter[k].m.pulses++;
                if ((meter[k].m.pulses & 1023) == 0)
                    meter[k].m.overflows++;
            }
        }
    return 0;
}

int main(void)
{
    pthread_t id[METERS];
    uint32_t pulses = 0, overflows = 0, expected = 0;

    for (unsigned i = 0; i < sizeof wire; i++) {
        wire[i] = (uint8_t)(i * 167 >> 3);
        expected += 6 * (unsigned)__builtin_popcount(wire[i]);
    }
    for (uintptr_t k = 0; k < METERS; k++)
        pthread_create(&id[k], 0, read_meter, (void *)k);
    for (int k = 0; k < METERS; k++)
        pthread_join(id[k], 0);
    for (int k = 0; k < METERS; k++) {
        pulses += meter[k].m.pulses;
        overflows += meter[k].m.overflows;
    }
    printf("%u pulses, %u overflows\n", pulses, overflows);
    return pulses != expected;
}
