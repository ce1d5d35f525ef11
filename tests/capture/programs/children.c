/* Children of every kind while another thread runs: none may appear in the recording. */
#define _GNU_SOURCE
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static long shared[64], childs[4096];
static volatile int stop;

static void *work(void *argument)
{
    while (!stop)
        shared[1]++;
    return argument;
}

static int code_of(pid_t child)
{
    int status = 0;

    waitpid(child, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void touch_much(void)
{
    for (int r = 0; r < 50; r++)
        for (int i = 0; i < 4096; i++)
            childs[i] += r;
}

int main(void)
{
    char *arguments[] = {"sh", "-c", "exit 5", NULL};
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread;
    char line[16] = "";
    pid_t child;
    FILE *pipe;

    pthread_create(&thread, NULL, work, NULL);
    child = fork();
    if (child == 0) {
        touch_much();
        pthread_mutex_lock(&mutex);
        pthread_mutex_unlock(&mutex);
        _exit(3);
    }
    printf("fork %d\n", code_of(child));
    child = vfork();
    if (child == 0)
        _exit(4);
    printf("vfork %d\n", code_of(child));
    child = (pid_t)syscall(SYS_fork);
    if (child == 0) {
        touch_much();
        _exit(6);
    }
    printf("raw fork %d\n", code_of(child));
    if (posix_spawnp(&child, "sh", NULL, NULL, arguments, environ) == 0)
        printf("spawn %d\n", code_of(child));
    printf("system %d\n", WEXITSTATUS(system("exit 7")));
    pipe = popen("echo hello", "r");
    if (fgets(line, sizeof line, pipe) != NULL)
        printf("popen %s", line);
    pclose(pipe);
    stop = 1;
    pthread_join(thread, NULL);
    return childs[5] != 0;
}
