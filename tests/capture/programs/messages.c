/* Calls that transfer several buffers. Prints what they return. With an argument, only what QEMU
 * passes on: it ignores the time of recvmmsg, lacks process_vm_readv, and reads a message's header
 * once more after the call. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/sendfile.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum { COUNT = 40, SIZE = 128 };
char outgoing[COUNT * SIZE] __attribute__((aligned(64)));
char incoming[COUNT * SIZE] __attribute__((aligned(64)));
char own[256] __attribute__((aligned(64))), rest[64] __attribute__((aligned(64)));
char copied[64] __attribute__((aligned(64))), copy[64] __attribute__((aligned(64)));
char flowing[200000] __attribute__((aligned(64)));
static int datagrams[2], in[2], out[2];

static void prepare(struct mmsghdr *messages, struct iovec *pieces, char *memory)
{
    memset(messages, 0, COUNT * sizeof *messages);
    for (int i = 0; i < COUNT; i++) {
        pieces[i] = (struct iovec){memory + i * SIZE, 64 + (size_t)i};
        messages[i].msg_hdr.msg_iov = &pieces[i];
        messages[i].msg_hdr.msg_iovlen = 1;
    }
}

/* More than the receiver's queue holds. */
static void *transmit(void *argument)
{
    struct mmsghdr messages[COUNT];
    struct iovec pieces[COUNT];

    prepare(messages, pieces, outgoing);
    *(int *)argument = sendmmsg(datagrams[1], messages, COUNT, 0);
    return NULL;
}

static void receive(int all)
{
    struct mmsghdr messages[COUNT];
    struct iovec pieces[COUNT];
    struct timespec limit = {60, 0}, wrong = {0, -1};
    pthread_t other;
    int sent = 0, got;

    prepare(messages, pieces, incoming);
    got = all ? recvmmsg(datagrams[0], messages, 1, 0, &wrong) : -1;
    printf("wrong time: %d %s\n", got, all ? strerror(errno) : "");
    printf("nothing: %d\n", recvmmsg(datagrams[0], messages, 1, MSG_DONTWAIT, NULL));
    pthread_create(&other, NULL, transmit, &sent);
    got = recvmmsg(datagrams[0], messages, 1, MSG_WAITFORONE, NULL);
    got += recvmmsg(datagrams[0], messages + 1, COUNT - 1, 0, &limit);
    pthread_join(other, NULL);
    printf("messages: %d %d %u\n", sent, got, messages[COUNT - 1].msg_len);
}

/* The kernel writes over the lists that it is given. */
static void overlap(int byte)
{
    struct iovec *const list = (struct iovec *)own;
    struct msghdr *const message = (struct msghdr *)(own + 64);

    memset(outgoing, byte, 192);
    list[0] = (struct iovec){own, 160};
    list[1] = (struct iovec){rest, 32};
    if (byte == 'r') {
        if (write(in[1], outgoing, 192) != 192)
            return;
        printf("readv: %zd %c\n", readv(in[0], list, 2), own[0]);
        return;
    }
    *message = (struct msghdr){.msg_iov = list, .msg_iovlen = 2};
    if (send(datagrams[1], outgoing, 192, 0) != 192)
        return;
    printf("recvmsg: %zd %c\n", recvmsg(datagrams[0], message, 0), own[0]);
}

/* Moves everything from the one pipe to the other. */
static void *forward(void *argument)
{
    ssize_t part, done = 0;

    while ((part = splice(in[0], NULL, out[1], NULL, sizeof flowing, 0)) > 0)
        done += part;
    close(out[1]);
    *(ssize_t *)argument = done;
    return NULL;
}

static void *drain(void *argument)
{
    ssize_t part;

    while ((part = read(out[0], copied, sizeof copied)) > 0)
        *(ssize_t *)argument += part;
    return NULL;
}

static void flow(void)
{
    struct iovec all = {flowing, sizeof flowing};
    ssize_t part, moved = 0, drained = 0, sent = 0;
    pthread_t others[2];
    off_t at = 0;
    FILE *const file = tmpfile();

    fwrite(flowing, 1, sizeof flowing, file);
    fflush(file);
    pthread_create(&others[0], NULL, forward, &moved);
    pthread_create(&others[1], NULL, drain, &drained);
    for (; all.iov_len > 0; all.iov_len -= (size_t)part, sent += part) {
        part = vmsplice(in[1], &all, 1, 0);
        if (part <= 0)
            break;
        all.iov_base = (char *)all.iov_base + part;
    }
    while ((part = sendfile(in[1], fileno(file), &at, sizeof flowing)) > 0)
        sent += part;
    close(in[1]);
    pthread_join(others[0], NULL);
    pthread_join(others[1], NULL);
    printf("flow: %zd %zd %zd\n", sent, moved, drained);
}

int main(int count, char **words)
{
    struct iovec here = {copy, 40}, there = {copied, 40};

    if (socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams) != 0 || pipe(in) != 0 || pipe(out) != 0)
        return 1;
    receive(count == 1);
    overlap('r');
    if (count == 1)
        overlap('m');
    if (count == 1)
        printf("own memory: %zd\n", process_vm_readv(getpid(), &here, 1, &there, 1, 0));
    flow();
    return 0;
}
