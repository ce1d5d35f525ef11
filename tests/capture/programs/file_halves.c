/* The first thread reads a file into a buffer of four pages; two threads then read a half each.
 * The first argument is the file, the second one of the ways of reading it. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { BYTES = 4 * 4096, WORDS = BYTES / 2 / sizeof(long) };

static char buffer[BYTES] __attribute__((aligned(4096)));
static char source[BYTES + 64] __attribute__((aligned(64)));
static int ends[2];

static void *use(void *half)
{
    const volatile long *word = half;
    long sum = 0;

    for (size_t i = 0; i < WORDS; i++)
        sum += word[i];
    return (void *)sum;
}

static size_t fill(const char *name, const char *how)
{
    const int fd = open(name, O_RDONLY);
    struct iovec halves[2] = {{buffer, 100}, {buffer + 100, BYTES - 100}};
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    FILE *file;
    size_t done = 0;

    if (strcmp(how, "read") == 0) {
        done = (size_t)read(fd, buffer, 10000);
        done += (size_t)read(fd, buffer + done, BYTES - done);
    } else if (strcmp(how, "pread") == 0) {
        done = (size_t)pread(fd, buffer, sizeof buffer, 0);
    } else if (strcmp(how, "readv") == 0) {
        done = (size_t)readv(fd, halves, 2);
    } else if (strcmp(how, "preadv") == 0) {
        done = (size_t)preadv(fd, halves, 2, 0);
    } else if (strcmp(how, "fread") == 0) {
        file = fdopen(fd, "r");
        done = fread(buffer, 16, BYTES / 16, file) * 16;
    } else {
        socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
        send(ends[0], source, sizeof source, 0);
        /* With the flag the result is the size of the message, for which there is no room. */
        done = strcmp(how, "recv") == 0 ? (size_t)recv(ends[1], buffer, BYTES, MSG_TRUNC)
                                        : (size_t)recvmsg(ends[1], &message, 0);
    }
    return done;
}

int main(int argc, char **argv)
{
    pthread_t threads[2];

    (void)argc;
    printf("%zu\n", fill(argv[1], argv[2]));
    for (int i = 0; i < 2; i++)
        pthread_create(&threads[i], NULL, use, buffer + i * (BYTES / 2));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
