/* Waits with time-outs, as in servers and event loops, and others that only the kernel can end:
 * prints their results. Time-outs are exact in virtual time, and far from all other events.
 *
 * The argument is how many milliseconds pass before each signal: in real time a thread that is late
 * for its wait misses the signal that should end it. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

enum { BIG = 300000, MS = 1000000 };

static int to[2], back[2], pair[2], queue, semaphore;
static char file[] = "/tmp/homenode-events-XXXXXX";
static char big[BIG], copy[BIG];
static volatile long cells[64];

static void busy(int times)
{
    for (int i = 0; i < times; i++)
        cells[i % 64]++;
}

static long long now_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (t.tv_sec * 1000000000LL + t.tv_nsec) / MS;
}

static void rest(long ms)
{
    nanosleep(&(struct timespec){ms / 1000, ms % 1000 * MS}, NULL);
}

static void on_signal(int number)
{
    (void)number;
}

/* Nothing arrives: all of them wait until their time-outs. */
static void time_outs(void)
{
    struct pollfd p = {to[0], POLLIN, 0};
    struct epoll_event want = {.events = EPOLLIN}, got;
    struct timespec t = {0, 30 * MS};
    struct timeval v = {0, 20000};
    const int epoll = epoll_create1(0);
    const long long begin = now_ms();
    fd_set set;

    epoll_ctl(epoll, EPOLL_CTL_ADD, to[0], &want);
    FD_ZERO(&set);
    FD_SET(to[0], &set);
    printf("poll %d", poll(&p, 1, 50));
    printf(" ppoll %d", ppoll(&p, 1, &t, NULL));
    printf(" select %d", select(to[0] + 1, &set, NULL, NULL, &v));
    printf(" %d left %ld", FD_ISSET(to[0], &set), (long)v.tv_usec);
    printf(" epoll %d %d\n", epoll_wait(epoll, &got, 1, 40), poll(NULL, 0, 10));
    printf("took %d\n", now_ms() - begin >= 150 && now_ms() - begin < 160);
    close(epoll);
}

/* A loop that acts every 10 ms, and when the other thread's bytes arrive. */
static void *server(void *argument)
{
    struct epoll_event want = {.events = EPOLLIN}, got;
    const int epoll = epoll_create1(0);
    int ticks = 0, bytes = 0, quiet = 0;
    char text[64];

    epoll_ctl(epoll, EPOLL_CTL_ADD, to[0], &want);
    while (bytes < 30) {
        const int ready = epoll_wait(epoll, &got, 1, 10);

        quiet += ready == 0;
        ticks++;
        if (ready == 1)
            bytes += (int)read(to[0], text, sizeof text);
        busy(500);
    }
    printf("server %d ticks %d quiet %d bytes\n", ticks, quiet, bytes);
    close(epoll);
    return argument;
}

static void clients(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, server, NULL);
    for (int i = 0; i < 10; i++) {
        rest(7 * i);
        busy(300);
        write(to[1], "abc", 3);
    }
    pthread_join(thread, NULL);
}

static void read_all(int fd)
{
    size_t have = 0;

    memset(copy, 0, sizeof copy);
    while (have < sizeof copy) {
        const size_t left = sizeof copy - have;
        const ssize_t more = read(fd, copy + have, left < 10000 ? left : 10000);

        if (more <= 0)
            break;
        have += (size_t)more;
        busy(100);
    }
    printf("read %d\n", memcmp(big, copy, sizeof big));
}

static void *reader(void *argument)
{
    read_all(to[0]);
    read_all(to[0]);
    read_all(pair[0]);
    read_all(pair[0]);
    return argument;
}

static void large_writes(void)
{
    struct iovec pieces[2] = {{big, 100000}, {big + 100000, BIG - 100000}};
    pthread_t thread;
    int sent = 0;

    pthread_create(&thread, NULL, reader, NULL);
    sent += write(to[1], big, BIG) == BIG;
    sent += writev(to[1], pieces, 2) == BIG;
    sent += write(pair[1], big, BIG) == BIG;
    sent += send(pair[1], big, BIG, 0) == BIG;
    pthread_join(thread, NULL);
    printf("sent %d of 4\n", sent);
}

static void *holder(void *argument)
{
    struct {
        long type;
        char text[8];
    } message = {3, "message"};
    struct sembuf up = {0, 1, 0};
    const int fd = open(file, O_RDWR);

    flock(fd, LOCK_EX);
    write(back[1], "x", 1);
    rest(5);
    flock(fd, LOCK_UN);
    rest(5);
    msgsnd(queue, &message, sizeof message.text, 0);
    rest(5);
    semop(semaphore, &up, 1);
    close(fd);
    return argument;
}

static void locks_and_messages(void)
{
    struct {
        long type;
        char text[8];
    } message;
    struct flock region = {.l_type = F_WRLCK};
    struct sembuf down = {0, -1, 0};
    const int fd = open(file, O_RDWR);
    pthread_t thread;
    char c;

    pthread_create(&thread, NULL, holder, NULL);
    read(back[0], &c, 1);
    printf("flock %d", flock(fd, LOCK_EX));
    printf(" fcntl %d", fcntl(fd, F_SETLKW, &region));
    printf(" message %d %s", (int)msgrcv(queue, &message, sizeof message.text, 3, 0), message.text);
    printf(" semaphore %d", semop(semaphore, &down, 1));
    printf(" again %d", semtimedop(semaphore, &down, 1, &(struct timespec){0, MS}));
    printf(" %d\n", errno == EAGAIN);
    pthread_join(thread, NULL);
    close(fd);
}

static void *answer(void *argument)
{
    const int fd = accept(*(int *)argument, NULL, NULL);

    rest(3);
    write(fd, "hello", 5);
    close(fd);
    return NULL;
}

static void sockets(void)
{
    struct sockaddr_un name = {AF_UNIX, "\0homenode-events"};
    int listening = socket(AF_UNIX, SOCK_STREAM, 0), fd = socket(AF_UNIX, SOCK_STREAM, 0);
    pthread_t thread;
    char text[8] = "";

    snprintf(name.sun_path + 1, sizeof name.sun_path - 1, "%s", file);
    bind(listening, (struct sockaddr *)&name, sizeof name);
    listen(listening, 1);
    pthread_create(&thread, NULL, answer, &listening);
    printf("connect %d", connect(fd, (struct sockaddr *)&name, sizeof name));
    read(fd, text, sizeof text);
    printf(" %s\n", text);
    pthread_join(thread, NULL);
    close(fd);
    close(listening);
}

static void *interrupted(void *argument)
{
    struct pollfd p = {back[0], POLLIN, 0};
    sigset_t none, only;
    int result, number = 0;

    result = poll(&p, 1, 100000);
    printf("poll %d %d", result, errno == EINTR);
    sigemptyset(&none);
    result = ppoll(&p, 1, &(struct timespec){100, 0}, &none);
    printf(" ppoll %d %d", result, errno == EINTR);
    sigemptyset(&only);
    sigaddset(&only, SIGUSR2);
    result = sigwait(&only, &number);
    printf(" sigwait %d %d", result, number == SIGUSR2);
    result = sigtimedwait(&only, NULL, &(struct timespec){1, 0});
    printf(" %d %d", result, errno == EAGAIN);
    result = sigsuspend(&none);
    printf(" sigsuspend %d %d", result, errno == EINTR);
    result = pause();
    printf(" pause %d %d\n", result, errno == EINTR);
    return argument;
}

static void signals(long wait_ms)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigset_t both;
    pthread_t thread;

    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGUSR2, &action, NULL);
    sigemptyset(&both);
    sigaddset(&both, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &both, NULL);
    pthread_create(&thread, NULL, interrupted, NULL);
    rest(wait_ms);
    pthread_kill(thread, SIGUSR1);
    rest(wait_ms);
    pthread_kill(thread, SIGUSR2);
    rest(wait_ms);
    pthread_kill(thread, SIGUSR2);
    rest(3000);
    pthread_kill(thread, SIGUSR2);
    rest(wait_ms);
    pthread_kill(thread, SIGUSR1);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);
    close(mkstemp(file));
    pipe(to);
    pipe(back);
    socketpair(AF_UNIX, SOCK_STREAM, 0, pair);
    queue = msgget(IPC_PRIVATE, 0600);
    semaphore = semget(IPC_PRIVATE, 1, 0600);
    for (int i = 0; i < BIG; i++)
        big[i] = (char)(i % 251);
    time_outs();
    clients();
    large_writes();
    locks_and_messages();
    sockets();
    signals(argc > 1 ? atol(argv[1]) : 10);
    msgctl(queue, IPC_RMID, NULL);
    semctl(semaphore, 0, IPC_RMID);
    unlink(file);
    return 0;
}
