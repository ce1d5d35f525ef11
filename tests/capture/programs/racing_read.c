/* The first thread reads a file into a page, to which the second writes meanwhile. */
#include <fcntl.h>
#include <pthread.h>
#include <unistd.h>

static volatile char page[4096];
static volatile long rounds[2];

static void *write_late(void *argument)
{
    while (rounds[1] < 3000)
        rounds[1]++;
    page[4000] = 1;
    return argument;
}

int main(int argc, char **argv)
{
    const int fd = open(argv[argc - 1], O_RDONLY);
    pthread_t other;

    pthread_create(&other, NULL, write_late, NULL);
    while (rounds[0] < 1000)
        rounds[0]++;
    read(fd, (char *)page, sizeof page);
    pthread_join(other, NULL);
    return 0;
}
