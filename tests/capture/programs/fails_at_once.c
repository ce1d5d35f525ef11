/* Calls that fail at once although their descriptor is not ready. Prints what each returns. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <unistd.h>

static char bytes[4096];
static struct iovec piece = {bytes, 5};
static const struct sockaddr_un nowhere = {AF_UNIX, "/nowhere"};
static struct msghdr message = {.msg_iov = &piece, .msg_iovlen = 1};

static void say(const char *call, ssize_t result)
{
    printf("%s %zd %s\n", call, result, result < 0 ? strerror(errno) : "");
}

static void fill(int fd)
{
    fcntl(fd, F_SETFL, O_NONBLOCK);
    while (write(fd, bytes, sizeof bytes) > 0)
        ;
    fcntl(fd, F_SETFL, 0);
}

static void receive(const char *from, int fd)
{
    puts(from);
    say("recv", recv(fd, bytes, 5, 0));
    say("recvfrom", recvfrom(fd, bytes, 5, MSG_PEEK, NULL, NULL));
    say("recvmsg", recvmsg(fd, &message, 0));
}

static void transmit(const char *to, int fd)
{
    puts(to);
    say("send", send(fd, bytes, 5, 0));
    say("sendto", sendto(fd, bytes, 5, 0, NULL, 0));
    say("sendmsg", sendmsg(fd, &message, 0));
}

static int listener(void)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);

    bind(fd, (struct sockaddr *)&at, sizeof at);
    listen(fd, 1);
    return fd;
}

static void sockets(void)
{
    const int listening = listener(), idle = socket(AF_INET, SOCK_STREAM, 0);
    const int alone = socket(AF_UNIX, SOCK_STREAM, 0);
    int pair[2], datagrams[2];

    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, datagrams);
    receive("from a listening socket", listening);
    say("read", read(listening, bytes, 5));
    say("readv", readv(listening, &piece, 1));
    transmit("to a listening socket", listening);
    say("write", write(listening, bytes, 5));
    say("writev", writev(listening, &piece, 1));
    receive("from a socket that is not connected", idle);
    transmit("to a socket that is not connected", idle);
    receive("from a socket without a name", alone);
    transmit("to a socket without a name", alone);

    say("accept at a connection", accept(pair[0], NULL, NULL));
    say("accept at datagrams", accept(datagrams[0], NULL, NULL));
    say("accept at an idle socket", accept4(idle, NULL, NULL, SOCK_CLOEXEC));
    say("accept with other flags", accept4(listening, NULL, NULL, 1));
    say("connect to nowhere", connect(alone, (const struct sockaddr *)&nowhere, sizeof nowhere));

    shutdown(pair[0], SHUT_RD);
    say("recv after shutdown", recv(pair[0], bytes, 5, 0));
    fill(pair[0]);
    shutdown(pair[0], SHUT_WR);
    say("write after shutdown", write(pair[0], bytes, 5));
    transmit("after shutdown", pair[0]);
}

int main(void)
{
    int empty[2], full[2];

    signal(SIGPIPE, SIG_IGN);
    if (pipe(empty) != 0 || pipe(full) != 0)
        return 1;
    fill(full[1]);
    receive("from a pipe", empty[0]);
    transmit("to a pipe", full[1]);
    say("accept at a pipe", accept(empty[0], NULL, NULL));
    say("connect a pipe", connect(empty[0], (struct sockaddr *)&nowhere, sizeof nowhere));
    say("shutdown of a pipe", shutdown(empty[0], SHUT_RD));
    say("readv of the other end", readv(empty[1], &piece, 1));
    say("writev of the other end", writev(full[0], &piece, 1));
    say("read beyond memory", read(empty[0], (char *)-4096, 5));
    say("write beyond memory", write(full[1], (char *)-4096, 5));
    piece.iov_base = (char *)-4096;
    say("readv beyond memory", readv(empty[0], &piece, 1));
    say("writev beyond memory", writev(full[1], &piece, 1));
    piece.iov_base = bytes;
    say("read of a negative length", read(empty[0], bytes, (size_t)-1));
    sockets();
    return 0;
}
