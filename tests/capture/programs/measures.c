/* Measures and draws: processor time, ticks, random files, the machine's state.
 * Prints what must be the same in every recording, then "ok" if it makes sense. With an argument
 * it tests a child. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static volatile long cells[64];
static int bad;

static void expect(int so, const char *what)
{
    if (!so)
        printf("wrong: %s\n", what);
    bad += !so;
}

static long long read_clock(clockid_t clock)
{
    struct timespec t;

    expect(clock_gettime(clock, &t) == 0, "a clock");
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static long long ticks(void)
{
#if defined(__x86_64__)
    unsigned low, high, processor;

    __asm__ volatile("rdtscp" : "=a"(low), "=d"(high), "=c"(processor));
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (long long)high << 32 | low;
#elif defined(__aarch64__)
    long long value;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
    return value;
#else
    long long value;

    __asm__ volatile("rdcycle %0" : "=r"(value));
    __asm__ volatile("rdtime %0" : "=r"(value));
    return value;
#endif
}

static void work(int times)
{
    for (int i = 0; i < times; i++)
        cells[i % 64]++;
}

static void *other(void *argument)
{
    clockid_t clock;

    pthread_getcpuclockid(pthread_self(), &clock);
    work(20000);
    printf("thread %lld %lld cpu %d\n", read_clock(CLOCK_THREAD_CPUTIME_ID), read_clock(clock),
           sched_getcpu());
    return argument;
}

static void processor_time(void)
{
    const struct timespec nap = {3, 0};
    long long before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    struct rusage usage;
    struct tms t;
    pthread_t thread;

    work(50000);
    expect(read_clock(CLOCK_PROCESS_CPUTIME_ID) > before + 50000, "work takes processor time");
    before = read_clock(CLOCK_PROCESS_CPUTIME_ID);
    nanosleep(&nap, NULL);
    expect(read_clock(CLOCK_PROCESS_CPUTIME_ID) < before + 1000000000, "sleep takes none");
    pthread_create(&thread, NULL, other, NULL);
    pthread_join(thread, NULL);
    expect(read_clock(CLOCK_PROCESS_CPUTIME_ID) > read_clock(CLOCK_THREAD_CPUTIME_ID),
           "the process takes what its threads do");
    printf("clock %ld times %ld %ld\n", (long)clock(), (long)times(&t), (long)t.tms_utime);
    getrusage(RUSAGE_SELF, &usage);
    printf("used %ld.%06ld faults %ld size %ld\n", (long)usage.ru_utime.tv_sec,
           (long)usage.ru_utime.tv_usec, usage.ru_minflt, usage.ru_maxrss);
}

static void counters(void)
{
    const long long first = ticks();
    long long now = first, looks = 0;

    for (; now - first < 100000 && looks < 1000000; looks++)
        now = ticks();
    expect(now - first >= 100000, "ticks go on");
    printf("ticks %lld after %lld looks\n", first, looks);
}

static void print_bytes(const unsigned char *bytes, int count)
{
    for (int i = 0; i < count; i++)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void random_files(void)
{
    unsigned char bytes[24] = {0};
    struct iovec pieces[2] = {{bytes, 5}, {bytes + 5, 6}};
    int fd = open("/dev/urandom", O_RDONLY), copy = dup(fd);

    read(copy, bytes, 16);
    print_bytes(bytes, 16);
    readv(fd, pieces, 2);
    pread(fd, bytes + 11, 5, 0);
    print_bytes(bytes, 24);
    close(fd);
    fd = open("/dev/random", O_RDONLY);
    read(fd, bytes, 8);
    print_bytes(bytes, 8);
    print_bytes(bytes, 8);
}

static void child(void)
{
    unsigned char bytes[8];
    struct rusage usage;
    int status = -1, fd = open("/dev/urandom", O_RDONLY);

    fflush(stdout);
    if (fork() == 0) {
        read(fd, bytes, 8);
        expect(clock() < 1000, "a child begins without processor time");
        expect(ticks() > 0 && system("date > /dev/null") == 0, "other programs read the counter");
        _exit(bad ? 0 : bytes[0] | 1);
    }
    memset(&usage, 1, sizeof usage);
    wait4(-1, &status, 0, &usage);
    read(fd, bytes, 8);
    expect(WEXITSTATUS(status) != 0, "the child saw what it should");
    expect((bytes[0] | 1) != WEXITSTATUS(status), "a child draws other numbers");
    printf("child %d used %ld %ld\n", WEXITSTATUS(status), (long)usage.ru_utime.tv_usec,
           usage.ru_minflt);
    print_bytes(bytes, 8);
}

static void print_file(const char *name)
{
    char text[100000];
    FILE *file = fopen(name, "r");
    size_t size = file == NULL ? 0 : fread(text, 1, sizeof text, file);

    if (file == NULL && strncmp(name, "/sys/", 5) == 0)
        return;         /* a kernel without NUMA nodes */
    expect(size > 0, name);
    printf("%s:\n%.*s", name, (int)size, text);
    if (file != NULL)
        fclose(file);
}

/* The recorder keeps the program on one processor, but reports all that it may use. */
static void allowed_processors(void)
{
    FILE *file = fopen("/proc/self/status", "r");
    cpu_set_t set;
    char line[4096];
    int found = 0, allowed = 0;

    sched_getaffinity(0, sizeof set, &set);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, "Cpus_allowed", 12) == 0) {
            printf("%s", line);
            for (char *c = strchr(line, ':'); found == 0 && *c != '\0'; c++)
                if (*c >= '0' && *c <= '9')
                    allowed += __builtin_popcount((unsigned)(*c - '0'));
                else if (*c >= 'a' && *c <= 'f')
                    allowed += __builtin_popcount((unsigned)(*c - 'a' + 10));
            found++;
        } else if (strncmp(line, "Pid:", 4) == 0) {
            /* 9999 and 10000 must be read with the same width. */
            expect(strlen(line) == 13, "a number of one width");
        }
    expect(found == 2 && allowed == CPU_COUNT(&set), "processors in /proc/self/status");
    if (file != NULL)
        fclose(file);
}

int main(int count)
{
    static const char *const names[] = {"/proc/sys/kernel/random/uuid", "/proc/uptime",
                                        "/proc/loadavg", "/proc/meminfo", "/proc/stat",
                                        "/proc/vmstat", "/proc/cpuinfo", "/proc/self/statm",
                                        "/sys/devices/system/node/node0/meminfo",
                                        "/sys/devices/system/node/node0/numastat",
                                        "/sys/devices/system/node/node0/vmstat"};
    struct sysinfo info;

    if (count > 1) {
        child();
        return bad != 0;
    }
    processor_time();
    counters();
    random_files();
    allowed_processors();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        print_file(names[i]);
    sysinfo(&info);
    expect(info.freeram > 0 && info.freeram <= info.totalram, "free memory");
    printf("up %ld free %lu loads %lu processes %d\n", info.uptime, info.freeram, info.loads[0],
           (int)info.procs);
    printf(bad ? "bad\n" : "ok\n");
    return bad != 0;
}
