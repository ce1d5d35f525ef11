/* Files whose contents differ from run to run, in deterministic order: the random devices, and
 * files about time, load, memory and the process in /proc, and about a node's memory in /sys. Data
 * from a random device is overwritten after the call. Other files are replaced when they are
 * opened, under the same descriptor, by a file in memory that has the same text with other numbers.
 */
#include "guest.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <linux/memfd.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <sys/vfs.h>
#include <unistd.h>

enum { GROWTH_MAX = 12 };   /* limit of the factor by which replaced numbers lengthen a line */
enum { WIDENED = 7 };       /* the same for numbers of one width */
enum { TEXT_BYTES = 1 << 20, PATH_BYTES = 64, MEMORY_DEVICES = 1, RANDOM = 8, URANDOM = 9 };

/* The text that a program reads, made from the real one. */
typedef size_t rewriter(const char *text, char *made, size_t room);

static size_t text_of_uuid(const char *text, char *made, size_t room)
{
    uint8_t b[16];

    (void)text;
    random_bytes(b, sizeof b);
    b[6] = (b[6] & 0x0f) | 0x40;        /* RFC 4122: version 4, variant 1 */
    b[8] = (b[8] & 0x3f) | 0x80;
    return (size_t)snprintf(made, room,
                            "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-"
                            "%02x%02x%02x%02x%02x%02x\n",
                            b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10],
                            b[11], b[12], b[13], b[14], b[15]);
}

static size_t text_of_uptime(const char *text, char *made, size_t room)
{
    const uint64_t ns_per_hundredth = HN_NS_PER_SECOND / 100;
    const uint64_t now = hn_read_clock_in_turn(hn_me, CLOCK_BOOTTIME) / ns_per_hundredth;

    (void)text;
    return (size_t)snprintf(made, room, "%llu.%02llu 0.00\n", (unsigned long long)(now / 100),
                            (unsigned long long)(now % 100));
}

static size_t text_of_load(const char *text, char *made, size_t room)
{
    (void)text;
    return (size_t)snprintf(made, room, "0.00 0.00 0.00 1/1 1\n");
}

/* Copies a line with every number in it replaced, and one blank for several, as their number
 * depends on the length of the numbers. */
static size_t with_numbers(const char *line, size_t length, const char *number, char *made)
{
    size_t size = 0;

    for (size_t i = 0; i < length;) {
        if (!isdigit((unsigned char)line[i])) {
            if (line[i] != ' ' || size == 0 || made[size - 1] != ' ')
                made[size++] = line[i];
            i++;
            continue;
        }
        for (const char *c = number; *c != '\0'; c++)
            made[size++] = *c;
        while (i < length && (isdigit((unsigned char)line[i]) || line[i] == '.'))
            i++;
    }
    return size;
}

static int begins(const char *line, const char *const *words)
{
    for (; *words != NULL; words++)
        if (strncmp(line, *words, strlen(*words)) == 0)
            return 1;
    return 0;
}

/* Replaces the numbers behind the first colon or blank by `number` in lines that begin with one of
 * `words`, or in all others. */
static size_t lines_with(const char *text, char *made, size_t room, const char *const *words,
                         int these, const char *number)
{
    size_t size = 0;

    while (*text != '\0') {
        const size_t line = strcspn(text, "\n");
        const size_t length = line + (text[line] == '\n');
        const size_t name = strcspn(text, ": \n");
        const size_t kept = name < length && begins(text, words) == these ? name : length;

        if (size + GROWTH_MAX * length >= room)
            return 0;
        memcpy(made + size, text, kept);
        size += kept;
        size += with_numbers(text + kept, length - kept, number, made + size);
        text += length;
    }
    return size;
}

/* Keeps sizes that are constant while the machine runs; half of the memory is free. */
static size_t text_of_memory(const char *text, char *made, size_t room)
{
    static const char *const free_memory[] = {"MemFree", "MemAvailable", NULL};
    static const char *const constant[] = {"MemTotal", "SwapTotal", "CommitLimit", "VmallocTotal",
                                           "HugePages_", "Hugepagesize", "MemFree",
                                           "MemAvailable", NULL};
    static char halved[TEXT_BYTES];
    unsigned long long total = 0;
    char half[24];
    size_t size;

    sscanf(text, "MemTotal: %llu", &total);
    snprintf(half, sizeof half, "%llu", total / 2);
    size = lines_with(text, halved, sizeof halved - 1, free_memory, 1, half);
    halved[size] = '\0';
    return lines_with(halved, made, room, constant, 0, "0");
}

static size_t without_numbers(const char *text, char *made, size_t room)
{
    static const char *const none[] = {NULL};

    return lines_with(text, made, room, none, 0, "0");
}

/* Text that consists of numbers. */
static size_t text_of_zeros(const char *text, char *made, size_t room)
{
    const size_t length = strlen(text);

    return length < room ? with_numbers(text, length, "0", made) : 0;
}

/* The processors that the program sees, as the kernel lists them. */
static size_t list_of_processors(char *made, size_t room)
{
    size_t size = 0;

    for (int first = 0; first < CPU_SETSIZE; first++) {
        int last = first;

        if (!CPU_ISSET(first, &hn_affinity))
            continue;
        while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, &hn_affinity))
            last++;
        if (size + 2 * GROWTH_MAX >= room)
            return 0;
        size += (size_t)snprintf(made + size, room - size, last > first ? "%s%d-%d" : "%s%d",
                                 size == 0 ? "" : ",", first, last);
        first = last;
    }
    return size;
}

/* The same as a mask of as many hexadecimal digits as the real one, lowest processor last. */
static void mask_of_processors(char *mask, size_t length)
{
    int processor = 0;

    for (size_t i = length; i-- > 0;) {
        unsigned digit = 0;

        if (!isxdigit((unsigned char)mask[i]))
            continue;
        for (unsigned bit = 0; bit < 4; bit++, processor++)
            if (processor < CPU_SETSIZE && CPU_ISSET(processor, &hn_affinity))
                digit |= 1U << bit;
        mask[i] = "0123456789abcdef"[digit];
    }
}

/* Copies a line with the kernel's numbers padded to one width: a reader takes the same steps for
 * 9999 and 10000, and finds the same number. */
static size_t with_wide_numbers(const char *line, size_t length, char *made)
{
    enum { WIDTH = 7 };         /* of the largest number of a process, 4194304 */
    size_t size = 0, at = 0;

    while (at < length) {
        const size_t digits = strspn(line + at, "0123456789");

        for (size_t blanks = digits; blanks != 0 && blanks < WIDTH; blanks++)
            made[size++] = ' ';
        memcpy(made + size, line + at, digits == 0 ? 1 : digits);
        size += digits == 0 ? 1 : digits;
        at += digits == 0 ? 1 : digits;
    }
    return size;
}

/* Shows the processors that the program had when it began: by now all threads are pinned to one. */
static size_t text_of_status(const char *text, char *made, size_t room)
{
    static const char *const measured[] = {"Vm", "Rss", "SigQ", "voluntary_", "nonvoluntary_",
                                           NULL};
    static const char *const processes[] = {"Tgid:", "Ngid:", "Pid:", "PPid:", "TracerPid:", "NS",
                                            NULL};
    static const char mask[] = "Cpus_allowed:\t", list[] = "Cpus_allowed_list:\t";
    static char known[TEXT_BYTES];
    size_t size = 0;

    while (*text != '\0') {
        const size_t length = strcspn(text, "\n") + 1;

        if (text[length - 1] != '\n' || size + WIDENED * length >= sizeof known)
            return 0;
        if (begins(text, processes)) {
            size += with_wide_numbers(text, length, known + size);
            text += length;
            continue;
        }
        memcpy(known + size, text, length);
        if (strncmp(text, mask, sizeof mask - 1) == 0)
            mask_of_processors(known + size + sizeof mask - 1, length - sizeof mask);
        if (strncmp(text, list, sizeof list - 1) == 0) {
            size += sizeof list - 1;
            size += list_of_processors(known + size, sizeof known - size - 1);
            known[size++] = '\n';
        } else {
            size += length;
        }
        text += length;
    }
    known[size] = '\0';
    return lines_with(known, made, room, measured, 1, "0");
}

/* Shows the frequency of the virtual time-stamp counter. */
static size_t text_of_processors(const char *text, char *made, size_t room)
{
    static const char *const measured[] = {"cpu MHz", "bogomips", NULL};

    return lines_with(text, made, room, measured, 1, "1000.000");
}

/* A node's memory: lines as in meminfo, each behind "Node 0 ". */
static size_t text_of_node(const char *text, char *made, size_t room)
{
    static char lines[TEXT_BYTES], known[TEXT_BYTES];
    unsigned node = 0;
    size_t size = 0;
    int start = 0;

    for (; sscanf(text, "Node %u %n", &node, &start) == 1; text += strcspn(text, "\n") + 1) {
        const size_t length = strcspn(text, "\n") + 1 - (size_t)start;

        if (text[(size_t)start + length - 1] != '\n')
            return 0;
        memcpy(lines + size, text + start, length);
        size += length;
    }
    lines[size] = '\0';
    size = text_of_memory(lines, known, sizeof known - 1);
    known[size] = '\0';
    size = 0;
    for (const char *line = known; *line != '\0'; line += strcspn(line, "\n") + 1) {
        const int length = (int)strcspn(line, "\n");
        const int more = snprintf(made + size, room - size, "Node %u %.*s\n", node, length, line);

        if (more < 0 || (size_t)more >= room - size)
            return 0;
        size += (size_t)more;
    }
    return size;
}

/* In the folder of a node, in /sys. */
static rewriter *rewriter_of_node(const char *name)
{
    if (strcmp(name, "meminfo") == 0)
        return text_of_node;
    return strcmp(name, "numastat") == 0 || strcmp(name, "vmstat") == 0 ? without_numbers : NULL;
}

/* Below /proc; those of `own` in the process' own folder. */
static const struct {
    const char *name;
    int own;
    rewriter *rewrite;
} files[] = {
    {"sys/kernel/random/uuid", 0, text_of_uuid},
    {"uptime", 0, text_of_uptime},
    {"loadavg", 0, text_of_load},
    {"meminfo", 0, text_of_memory},
    {"stat", 0, without_numbers},
    {"vmstat", 0, without_numbers},
    {"cpuinfo", 0, text_of_processors},
    {"statm", 1, text_of_zeros},
    {"status", 1, text_of_status},
    {"io", 1, without_numbers},
    {"schedstat", 1, text_of_zeros},
};

/* The rewriter of a file in /proc or /sys, or null. */
static rewriter *rewriter_of(const char *path)
{
    const size_t root = sizeof "/proc/" - 1;
    unsigned number = 0;
    int end = 0;

    if (sscanf(path, "/sys/devices/system/node/node%u/%n", &number, &end) == 1 && end != 0)
        return rewriter_of_node(path + end);
    if (strncmp(path, "/proc/", root) != 0)
        return NULL;
    path += root;
    end = 0;
    if (sscanf(path, "%u/%n", &number, &end) < 1 || end == 0 || number != (unsigned)hn_c->pid)
        number = 0;
    if (number != 0)
        path += end;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (files[i].own == (number != 0) && strcmp(path, files[i].name) == 0)
            return files[i].rewrite;
    return NULL;
}

static int is_of_kernel(int fd)
{
    struct statfs about;

    return fstatfs(fd, &about) == 0 &&
           (about.f_type == PROC_SUPER_MAGIC || about.f_type == SYSFS_MAGIC);
}

/* Name of the file behind a descriptor, links resolved. */
static int path_of(int fd, char *path)
{
    char link[PATH_BYTES];
    ssize_t length;

    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    length = readlink(link, path, PATH_BYTES - 1);
    path[length > 0 ? length : 0] = '\0';
    return length > 0;
}

/* The contents of a file, as text. */
static int read_text(int fd, char *text)
{
    size_t size = 0;
    ssize_t more;

    while (size < TEXT_BYTES - 1 &&
           (more = pread(fd, text + size, TEXT_BYTES - 1 - size, (off_t)size)) > 0)
        size += (size_t)more;
    text[size] = '\0';
    return size != 0;
}

/* Replaces an open file by one with this text. */
static void put_in_place(int fd, const char *text, size_t size)
{
    const int flags = fcntl(fd, F_GETFD);
    const int made = (int)hn_sys(SYS_memfd_create, (long)"proc", MFD_CLOEXEC, 0, 0);

    if (made < 0)
        return;
    if (write(made, text, size) == (ssize_t)size && lseek(made, 0, SEEK_SET) == 0)
        dup3(made, fd, (flags & FD_CLOEXEC) != 0 ? O_CLOEXEC : 0);
    close(made);
}

/* Called after the program has opened a file. */
void file_opened(struct hn_thread *me, int fd)
{
    static char text[TEXT_BYTES], made[TEXT_BYTES];
    char path[PATH_BYTES];
    rewriter *rewrite;
    size_t size;

    if (!hn_deterministic() || !is_of_kernel(fd) || !path_of(fd, path) ||
        (rewrite = rewriter_of(path)) == NULL)
        return;
    me->in_runtime++;
    if (read_text(fd, text) && (size = rewrite(text, made, sizeof made)) != 0)
        put_in_place(fd, made, size);
    me->in_runtime--;
}

static int is_random_device(int fd)
{
    struct stat about;

    return fstat(fd, &about) == 0 && S_ISCHR(about.st_mode) &&
           major(about.st_rdev) == MEMORY_DEVICES &&
           (minor(about.st_rdev) == RANDOM || minor(about.st_rdev) == URANDOM);
}

static void fill_with_random(uint64_t address, uint64_t size)
{
    uint8_t bytes[4096];

    while (size > 0) {
        const size_t part = size < sizeof bytes ? (size_t)size : sizeof bytes;

        random_bytes(bytes, part);
        if (!poke(address, bytes, part))
            return;
        address += part;
        size -= part;
    }
}

/* Called after the program has read a file. */
void file_read(enum call call, const uint64_t a[6], uint64_t bytes)
{
    struct iovec piece;

    if (!hn_deterministic() || !is_random_device((int)a[0]))
        return;
    if (call != CALL_READV) {
        fill_with_random(a[1], bytes);
        return;
    }
    for (uint64_t i = 0; i < a[2] && bytes > 0; i++) {
        if (!peek(a[1] + i * sizeof piece, &piece, sizeof piece))
            return;
        if (piece.iov_len > bytes)
            piece.iov_len = bytes;
        fill_with_random((uint64_t)(uintptr_t)piece.iov_base, piece.iov_len);
        bytes -= piece.iov_len;
    }
}

/* Clears the resource usage of a child, which is QEMU's and differs. */
void child_waited_for(enum call call, const uint64_t a[6])
{
    static const struct rusage none;
    const uint64_t usage = call == CALL_WAIT4 ? a[3] : a[4];

    if (hn_deterministic() && usage != 0)
        poke(usage, &none, sizeof none);
}
