/* Prints where the stack and the arguments are, and whether the environment has variables of
 * the recorder. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    volatile int local = 0;

    for (int i = 1; i < argc; i++)
        local += (int)strlen(argv[i]) + atoi(argv[i]) + (strcmp(argv[i], "--a-longer-word") == 0);
    const int added = getenv("HOMENODE_PAD") != NULL || getenv("HOMENODE_FD") != NULL;
    printf("%p %p %d, %d added\n", (void *)&local, (void *)argv[1], local, added);
    return 0;
}
