/* Executes another program in its place, or in a child. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

int before[100], after[100];

static int in_child(const char *self)
{
    int status = 0;
    const pid_t child = fork();

    if (child == 0) {
        execl(self, self, "second", (char *)NULL);
        _exit(100);
    }
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "second") == 0) {
        for (int i = 0; i < 100; i++)
            after[i] = i;
        printf("%s\n", getenv("WORD") == NULL ? "" : getenv("WORD"));
        return 3;
    }
    for (int i = 0; i < 100; i++)
        before[i] = i;
    if (argc > 1 && strcmp(argv[1], "child") == 0)
        return in_child(argv[0]);
    if (argc > 1 && strcmp(argv[1], "missing") == 0)
        return execlp("no-such-program", "no-such-program", (char *)NULL) == -1 ? 4 : 5;
    if (argc > 2)
        execl(argv[2], argv[2], (char *)NULL);
    execle(argv[0], argv[0], "second", (char *)NULL, (char *[]){"WORD=given", NULL});
    return 1;
}
