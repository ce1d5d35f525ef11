// kind: system calls
// expect: head written=0 read=100
// expect: body written=700 read=2000
// expect: all written=2100 read=700
// compile: gcc clang; O0 O2
// why: pieces are filled in order; of the second message, 700 bytes, the last piece gets only 200.
#include "truth.h"
#include <sys/socket.h>
#include <sys/uio.h>

char head[100], body[2000], all[2100];

int main(void)
{
    const struct iovec sent[2] = {{head, 100}, {body, 2000}};
    const struct iovec got[2] = {{all, 64}, {all + 64, 2036}};
    struct iovec halves[2] = {{body, 500}, {body + 500, 1500}};
    struct msghdr message = {.msg_iov = halves, .msg_iovlen = 2};
    int ends[2];

    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
        return 1;
    if (writev(ends[0], sent, 2) != 2100 || readv(ends[1], got, 2) != 2100)
        return 2;
    if (send(ends[0], all, 700, 0) != 700 || recvmsg(ends[1], &message, 0) != 700)
        return 3;
    return 0;
}
