/* Blocking calls whose other end is another thread of the same program. */
#define _GNU_SOURCE
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static int to[2], from[2], pair[2], event;
static char big[200000], copy[200000];
static long work_done[64];

static void busy(void)
{
    for (int i = 0; i < 20000; i++)
        work_done[i % 64]++;
}

static void *other(void *argument)
{
    struct pollfd p = {from[0], POLLIN, 0};
    struct epoll_event want = {.events = EPOLLIN}, got;
    fd_set set;
    char text[16] = "";
    size_t have = 0;
    int epoll = epoll_create1(0);

    busy();
    write(to[1], "first", 5);
    poll(&p, 1, -1);
    read(from[0], text, 6);
    busy();
    send(pair[1], text, 6, 0);
    FD_ZERO(&set);
    FD_SET(pair[1], &set);
    select(pair[1] + 1, &set, NULL, NULL, NULL);
    recv(pair[1], text, sizeof text, 0);
    epoll_ctl(epoll, EPOLL_CTL_ADD, event, &want);
    epoll_wait(epoll, &got, 1, -1);
    while (have < sizeof copy)
        have += (size_t)read(to[0], copy + have, sizeof copy - have);
    close(epoll);
    return argument;
}

int main(void)
{
    unsigned long one = 1;
    char text[16] = "";
    pthread_t thread;

    pipe(to);
    pipe(from);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    event = eventfd(0, 0);
    memset(big, 'x', sizeof big);
    big[77777] = 'y';
    pthread_create(&thread, NULL, other, NULL);
    read(to[0], text, sizeof text);
    printf("%s\n", text);
    write(from[1], "second", 6);
    memset(text, 0, sizeof text);
    recv(pair[0], text, sizeof text, 0);
    printf("%s\n", text);
    busy();
    send(pair[0], "third", 5, 0);
    busy();
    write(event, &one, sizeof one);
    write(to[1], big, sizeof big);
    pthread_join(thread, NULL);
    printf("%d\n", memcmp(big, copy, sizeof big));
    return 0;
}
