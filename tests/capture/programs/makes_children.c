/* Makes a child in one of several ways; prints how many processors the child has. */
#define _GNU_SOURCE
#include <sched.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int by_spawn(const char *program, int search)
{
    char *words[] = {"nproc", NULL};
    pid_t child;
    int status = 0;

    if ((search ? posix_spawnp : posix_spawn)(&child, program, NULL, NULL, words, environ) != 0)
        return 7;
    waitpid(child, &status, 0);
    return WEXITSTATUS(status);
}

int main(int count, char **words)
{
    const char *way = count > 1 ? words[1] : "";
    char line[32] = "";
    FILE *from;

    if (strcmp(way, "spawn") == 0)
        return by_spawn("/usr/bin/nproc", 0);
    if (strcmp(way, "spawnp") == 0)
        return by_spawn("nproc", 1);
    if (strcmp(way, "missing") == 0)
        return by_spawn("/nowhere/nproc", 0);
    if (strcmp(way, "system") == 0)
        return system("nproc");
    if (strcmp(way, "shell") == 0)
        return system(NULL) == 0;
    from = popen("nproc", "r");
    if (from == NULL || fgets(line, sizeof line, from) == NULL)
        return 1;
    fputs(line, stdout);
    return pclose(from);
}
