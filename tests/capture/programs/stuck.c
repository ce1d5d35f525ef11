/* Waits that the runtime cannot see: reading a stream that another thread fills, and spinning in
 * code without hooks. Only the watchdog ends them. */
#include <homenode.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int fds[2];
static volatile int flag;

static void *other(void *argument)
{
    write(fds[1], "line\n", 5);
    flag = 1;
    return argument;
}

HOMENODE_UNRECORDED static void spin(void)
{
    while (!flag) {
    }
}

int main(int count, char **words)
{
    char line[16] = "";
    pthread_t thread;

    pipe(fds);
    pthread_create(&thread, NULL, other, NULL);
    if (count > 1 && strcmp(words[1], "spin") == 0)
        spin();
    if (fgets(line, sizeof line, fdopen(fds[0], "r")) != NULL)
        printf("%s", line);
    pthread_join(thread, NULL);
    return 0;
}
