/* Runs in a recorded system: `mark start` and `mark stop`.
 *
 * The mark is a no-op instruction. The load after the start mark shows the plugin a table of
 * offsets in the kernel's data about its tasks: from the kernel's list of symbols and its type
 * information, for which /proc and /sys must be mounted and the caller be root. Without them
 * recording starts, too, but all processes have number 0. Before and after the recording, report.c
 * reports the names in the system.
 */
#include "report.h"

#include <stdio.h>
#include <string.h>

enum { TYPES_MAX = 32 << 20 };

/* Type information, as the kernel documents it (Documentation/bpf/btf.rst). */
enum {
    BTF_INT = 1, BTF_ARRAY = 3, BTF_STRUCT = 4, BTF_UNION = 5, BTF_ENUM = 6, BTF_PROTOTYPE = 13,
    BTF_VARIABLE = 14, BTF_SECTION = 15, BTF_TAG = 17, BTF_ENUM64 = 19, BTF_MAGIC = 0xeb9f
};

struct btf_header {
    uint16_t magic;
    uint8_t version, flags;
    uint32_t size, types, types_size, strings, strings_size;
};

static struct mark_table table __attribute__((aligned(64)));
static uint32_t words[TYPES_MAX / sizeof(uint32_t)];

static int find_symbols(void)
{
    FILE *list = fopen("/proc/kallsyms", "r");
    char line[512], name[256];
    unsigned long long address;
    int found = 0;

    while (list != NULL && fgets(line, sizeof line, list) != NULL) {
        if (sscanf(line, "%llx %*c %255s", &address, name) != 2)
            continue;
        if (strcmp(name, "__per_cpu_offset") == 0) {
            table.own_data = address;
            found |= 1;
        }
        /* Its name from Linux 6.2 to 6.14; the task comes first in it. */
        if (strcmp(name, "current_task") == 0 || strcmp(name, "pcpu_hot") == 0) {
            table.current = address;
            found |= 2;
        }
    }
    if (list != NULL)
        fclose(list);
    return found == 3 && table.own_data != 0;
}

/* Number of words after the three that every type has. */
static size_t words_behind(uint32_t kind, uint32_t members)
{
    switch (kind) {
    case BTF_INT: case BTF_VARIABLE: case BTF_TAG:
        return 1;
    case BTF_ARRAY:
        return 3;
    case BTF_STRUCT: case BTF_UNION: case BTF_SECTION: case BTF_ENUM64:
        return 3 * (size_t)members;
    case BTF_ENUM: case BTF_PROTOTYPE:
        return 2 * (size_t)members;
    default:
        return 0;
    }
}

static int find_members(const uint32_t *type, const char *strings)
{
    int found = 0;

    for (uint32_t i = 0; i < (type[1] & 0xffff); i++) {
        const uint32_t *member = type + 3 + 3 * (size_t)i;
        const uint64_t offset = (type[1] >> 31 ? member[2] & 0xffffff : member[2]) / 8;

        if (strcmp(strings + member[0], "tgid") == 0) {
            table.process = offset;
            found |= 1;
        } else if (strcmp(strings + member[0], "comm") == 0) {
            table.name = offset;
            found |= 2;
        } else if (strcmp(strings + member[0], "group_leader") == 0) {
            table.leader = offset;
            found |= 4;
        }
    }
    return found == 7;
}

static int find_task(void)
{
    FILE *file = fopen("/sys/kernel/btf/vmlinux", "r");
    const struct btf_header *header = (const struct btf_header *)words;
    size_t size;

    if (file == NULL)
        return 0;
    size = fread(words, 1, sizeof words, file);
    fclose(file);
    if (size < sizeof *header || header->magic != BTF_MAGIC ||
        (uint64_t)header->size + header->strings + header->strings_size > size)
        return 0;
    const char *strings = (const char *)words + header->size + header->strings;
    const uint32_t *type = words + (header->size + header->types) / sizeof *words;
    const uint32_t *end = type + header->types_size / sizeof *words;

    for (; type < end; type += 3 + words_behind(type[1] >> 24 & 31, type[1] & 0xffff))
        if ((type[1] >> 24 & 31) == BTF_STRUCT && strcmp(strings + type[0], "task_struct") == 0)
            return find_members(type, strings);
    return 0;
}

/* Mark and load are in one block of code, as they do not straddle a page. */
static __attribute__((noinline)) void start(void)
{
    uint64_t magic;

    __asm__ volatile(".p2align 6\n" MARK_NOP(0x006e4801) "movq %1, %0" : "=r"(magic) : "m"(table));
}

static __attribute__((noinline)) void stop(void)
{
    __asm__ volatile(".p2align 6\n" MARK_NOP(0x006e4802));
}

int main(int argc, char **argv)
{
    const char *what = argc == 2 ? argv[1] : "";

    if (strcmp(what, "stop") == 0) {
        stop();
        report_processes();
        return 0;
    }
    if (strcmp(what, "start") != 0) {
        fprintf(stderr, "usage: mark start | mark stop\n");
        return 2;
    }
    if (find_symbols() && find_task())
        table.magic = MARK_MAGIC;
    else
        fprintf(stderr, "mark: this kernel does not tell where its tasks are; references will not "
                        "say which process made them\n");
    report_kernel();
    report_processes();
    start();
    return 0;
}
