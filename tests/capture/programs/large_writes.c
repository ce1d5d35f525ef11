/* A thread reads what the main thread writes at once: more than a pipe or a stream holds. Argument:
 * how it is written. */
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

enum { SIZE = 600000, FIRST = 1000 };
char sent[SIZE], received[SIZE];
static int ends[2];
static const char *how;

static int is(const char *name)
{
    return strcmp(how, name) == 0;
}

static void *read_all(void *argument)
{
    size_t done = 0;
    ssize_t part;

    if (strcmp(how, "waitall") == 0)
        done = (size_t)recv(ends[0], received, SIZE, MSG_WAITALL);
    while (done < SIZE && (part = read(ends[0], received + done, SIZE - done)) > 0)
        done += (size_t)part;
    *(size_t *)argument = done;
    return NULL;
}

static ssize_t write_all(void)
{
    struct iovec halves[2] = {{sent, FIRST}, {sent + FIRST, SIZE - FIRST}};
    struct mmsghdr messages[2] = {{.msg_hdr = {.msg_iov = halves, .msg_iovlen = 1}},
                                  {.msg_hdr = {.msg_iov = halves + 1, .msg_iovlen = 1}}};
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};

    if (is("writev") || is("writev-socket"))
        return writev(ends[1], halves, 2);
    if (is("pwritev2"))
        return pwritev2(ends[1], halves, 2, -1, 0);
    if (is("send"))
        return send(ends[1], sent, SIZE, 0);
    if (is("sendmsg"))
        return sendmsg(ends[1], &message, 0);
    if (is("sendmmsg"))
        return sendmmsg(ends[1], messages, 2, 0) == 2 ? messages[0].msg_len + messages[1].msg_len
                                                      : -1;
    return write(ends[1], sent, SIZE);
}

int main(int count, char **words)
{
    pthread_t reader;
    size_t got = 0;
    ssize_t put;

    how = words[1];
    for (int i = 0; i < SIZE; i++)
        sent[i] = (char)(i * 7 % 251);
    if (is("write") || is("writev") || is("pwritev2") ? pipe(ends)
                                                      : socketpair(AF_UNIX, SOCK_STREAM, 0, ends))
        return 1;
    pthread_create(&reader, NULL, read_all, &got);
    put = write_all();
    close(ends[1]);
    pthread_join(reader, NULL);
    printf("%zd %zu %d\n", put, got, memcmp(sent, received, SIZE));
    return 0;
}
