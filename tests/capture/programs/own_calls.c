/* Makes calls that the runtime serves by copying and clearing memory of its own. */
#include <homenode.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/socket.h>
#include <unistd.h>

static void handler(int number) { (void)number; }

int main(void)
{
    static struct sigaction action, old;
    static fd_set set;
    static struct timeval nothing;
    static struct msghdr message;
    static int ends[2];
    char *volatile block;

    homenode_init_done();
    block = malloc(10);
    free(block);
    block = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(block, 4096);
    pipe(ends);
    select(1, &set, NULL, NULL, &nothing);
    action.sa_handler = handler;
    sigaction(SIGUSR1, &action, &old);
    raise(SIGUSR1);
    socketpair(AF_UNIX, SOCK_DGRAM, 0, ends);
    recvmsg(ends[0], &message, MSG_DONTWAIT);
    homenode_marker("done");
    puts("served");
    return 0;
}
