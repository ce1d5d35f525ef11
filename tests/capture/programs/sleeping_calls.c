/* Calls of libraries that sleep unseen, until another thread has made them ready: fread of a FIFO,
 * and posix_spawn whose child waits for its writer. Argument: the FIFO's path. */
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
static const char *path;
static char buffer[4096] __attribute__((aligned(64))), zeros[128];
static volatile long turns;

/* Opens the FIFO when the other thread waits for it. */
static void *write_later(void *size)
{
    int fd = open(path, O_WRONLY);

    for (long i = 0; i < 1000; i++)
        turns++;
    if (write(fd, zeros, (size_t)size) < 0)
        return NULL;
    close(fd);
    return size;
}

int main(int count, char **words)
{
    char *arguments[] = {"true", NULL};
    posix_spawn_file_actions_t actions;
    pthread_t thread;
    int status = -1;
    FILE *file;
    pid_t child;

    (void)count;
    path = words[1];
    pthread_create(&thread, NULL, write_later, (void *)sizeof zeros);
    file = fopen(path, "r");
    printf("%zu\n", fread(buffer, 1, sizeof buffer, file));
    fclose(file);
    pthread_join(thread, NULL);
    pthread_create(&thread, NULL, write_later, NULL);
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, path, O_RDONLY, 0);
    if (posix_spawnp(&child, "true", &actions, NULL, arguments, environ) == 0)
        waitpid(child, &status, 0);
    pthread_join(thread, NULL);
    printf("%d\n", status);
    return 0;
}
