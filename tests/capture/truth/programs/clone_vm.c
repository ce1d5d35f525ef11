// kind: processes and marks
// expect: count written=800 read=808
// expect qemu: count written=0 read=8
// compile: gcc clang; O0 O2
// why: a child that shares this process's memory counts a long up 100 times; main reads it once.
// It counts while main waits in clone (CLONE_VFORK); if main waited elsewhere, its references
// might be lost, and lost_threads says so. The emulator makes a fork of such a child, so there the
// count stays where it was.
#define _GNU_SOURCE
#include "truth.h"
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

volatile long count;
static _Alignas(16) char stack[65536];

static int child(void *unused)
{
    for (int i = 0; i < 100; i++)
        count++;
    return 0;
}

int main(void)
{
    int flags = CLONE_VM | CLONE_VFORK | CLONE_FS | CLONE_FILES | SIGCHLD;
    int id = clone(child, stack + sizeof stack, flags, NULL);

    waitpid(id, NULL, 0);
    printf("%ld\n", count);
    return 0;
}
