/* Where the stack is, and whether anything was added to the environment. */
#include <stdio.h>
#include <string.h>

extern char **environ;

int main(void)
{
    volatile int local = 0;
    int longer = 0;

    for (char **e = environ; *e != NULL; e++)
        longer += strlen(*e) > 2 && strcmp(*e + strlen(*e) - 2, "xx") == 0;
    printf("%p %d\n", (void *)&local, longer);
    return local;
}
