// kind: system calls
// expect: from written=0 read=3000
// expect: to written=3000 read=0
// compile: gcc clang; O0 O2
// with: -pthread
// why: one thread writes three messages into a pipe; a read gets those that are there.
#include "truth.h"
#include <pthread.h>
#include <unistd.h>

char from[3000], to[3000];
static int ends[2];

static void *send_all(void *unused)
{
    for (int i = 0; i < 3; i++)
        if (write(ends[1], from + 1000 * i, 1000) != 1000)
            return &ends;
    return NULL;
}

int main(void)
{
    pthread_t sender;
    long done = 0, got = 1;

    if (pipe(ends) != 0)
        return 1;
    pthread_create(&sender, NULL, send_all, NULL);
    while (done < 3000 && got > 0)
        done += got = read(ends[0], to + done, 3000 - done);
    pthread_join(sender, NULL);
    return done != 3000;
}
