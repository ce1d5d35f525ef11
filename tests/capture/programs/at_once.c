/* Calls that return at once although their descriptor is not ready. Prints what each returns. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

static char bytes[4096];
static char kept[64] = "kept";

static void say(const char *call, ssize_t result)
{
    printf("%s %zd %s\n", call, result, result < 0 ? strerror(errno) : "");
}

/* Two ends of a TCP connection. */
static void connect_pair(int ends[2])
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof at;
    const int listener = socket(AF_INET, SOCK_STREAM, 0);

    bind(listener, (struct sockaddr *)&at, size);
    listen(listener, 1);
    getsockname(listener, (struct sockaddr *)&at, &size);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    connect(ends[0], (struct sockaddr *)&at, size);
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
}

/* Headers and pieces that are wrong, or that the program may not read, on descriptors that are
 * not ready. */
static void refused(int empty, int end)
{
    char *const page = mmap(NULL, 4096, PROT_NONE,
                            MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    struct msghdr good = {.msg_iov = (struct iovec *)page, .msg_iovlen = 1};
    struct msghdr *const bad = (struct msghdr *)page;
    const struct iovec negative[2] = {{bytes, 1}, {bytes, (size_t)-1}};

    say("readv of no pieces", readv(empty, (struct iovec *)page, 1));
    say("readv of a negative length", readv(empty, negative, 2));
    say("receive to no header", recvmsg(end, bad, 0));
    say("receive to no pieces", recvmsg(end, &good, 0));
    say("send no header", sendmsg(end, bad, 0));
    say("send no pieces", sendmsg(end, &good, 0));
    good.msg_iovlen = 1u << 20;
    say("receive to too many pieces", recvmsg(end, &good, 0));
}

int main(void)
{
    int empty[2], full[2], ends[2];
    struct iovec none = {bytes, 0};
    struct msghdr message = {.msg_iov = &none, .msg_iovlen = 1};

    if (pipe(empty) != 0 || pipe(full) != 0)
        return 1;
    connect_pair(ends);
    fcntl(full[1], F_SETFL, O_NONBLOCK);
    while (write(full[1], bytes, sizeof bytes) > 0)
        ;
    fcntl(full[1], F_SETFL, 0);

    say("read of nothing", read(empty[0], bytes, 0));
    say("readv of nothing", readv(empty[0], &none, 1));
    say("read of a socket", read(ends[0], bytes, 0));
    say("write of nothing", write(full[1], bytes, 0));
    say("writev of nothing", writev(full[1], &none, 1));
    say("read of the other end", read(empty[1], bytes, 5));
    say("write of the other end", write(full[0], bytes, 5));
    say("errors", recvmsg(ends[0], &message, MSG_ERRQUEUE));
    say("urgent data", recv(ends[0], bytes, 1, MSG_OOB));

    refused(empty[0], ends[0]);

    /* The kernel discards what was sent: it does not write the buffer. */
    if (send(ends[1], bytes, sizeof kept, 0) != sizeof kept)
        return 1;
    say("discarded", recv(ends[0], kept, sizeof kept, MSG_TRUNC));
    puts(kept);
    return 0;
}
