// kind: system calls
// expect: page written=5000 read=4096
// expect: noise written=200 read=0
// compile: gcc clang; O0 O2
// why: pwrite takes the page, pread fills 4096 bytes and, at the end of the file, 904; getrandom.
#define _GNU_SOURCE
#include "truth.h"
#include <sys/random.h>
#include <unistd.h>

_Alignas(4096) char page[4096];
char noise[200];

int main(void)
{
    FILE *file = tmpfile();
    const int fd = fileno(file);

    if (pwrite(fd, page, 4096, 0) != 4096 || pread(fd, page, 4096, 0) != 4096)
        return 1;
    if (pread(fd, page, 4096, 4096 - 904) != 904)
        return 2;
    return getrandom(noise, sizeof noise, 0) != sizeof noise;
}
