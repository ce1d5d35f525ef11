/* Prints what a program sees of its environment: it must not see the recorder. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

int main(void)
{
    cpu_set_t set;
    int ours = 0;

    for (char **e = environ; *e != NULL; e++)
        ours += strncmp(*e, "HOMENODE_", 9) == 0;
    printf("%d variables of the recorder\n", ours);
    printf("file %d\n", open("/dev/null", O_RDONLY));
    sched_getaffinity(0, sizeof set, &set);
    printf("%d processors\n", CPU_COUNT(&set));
    printf("%d\n", fcntl(900, F_GETFD));
    return 0;
}
