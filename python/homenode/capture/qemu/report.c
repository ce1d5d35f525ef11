/* The mark program's report on its system, by which a recording names functions, processes'
 * mappings and data: text that is passed to the plugin a page at a time. A load after a no-op
 * instruction shows the plugin the address of the page.
 *
 *     K address type name          the kernel's symbols, as in /proc/kallsyms
 *     P process name               a process, then its mappings:
 *     M start end offset name      as in /proc/PID/maps
 *     F name                       a program or library, then:
 *     L offset address size        its loaded parts, at the file's own addresses
 *     S address size type name     its symbols: f functions, o data
 *
 * Numbers are hexadecimal, except those of processes.
 */
#include "report.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LINE_BYTES = 1024, FILES_MAX = 1024 };

static struct mark_page page __attribute__((aligned(MARK_PAGE_BYTES)));
static char *files[FILES_MAX];
static size_t files_reported;

static __attribute__((noinline)) void show_page(void)
{
    uint64_t seen;

    __asm__ volatile(".p2align 6\n" MARK_NOP(0x006e4803) "movq %1, %0" : "=r"(seen) : "m"(page));
    page.used = 0;
}

static __attribute__((format(printf, 1, 2))) void tell(const char *format, ...)
{
    char line[LINE_BYTES];
    va_list arguments;
    int length;

    va_start(arguments, format);
    length = vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    if (length <= 0 || (size_t)length >= sizeof line)
        return;
    if (page.used + (size_t)length > sizeof page.text)
        show_page();
    memcpy(page.text + page.used, line, (size_t)length);
    page.used += (uint32_t)length;
}

/* The kernel's symbols; as they are many, only the first report has them. */
void report_kernel(void)
{
    const int said = open("/homenode/said", O_CREAT | O_EXCL | O_WRONLY, 0600);
    FILE *list = said >= 0 || errno != EEXIST ? fopen("/proc/kallsyms", "r") : NULL;
    char line[LINE_BYTES / 2];

    while (list != NULL && fgets(line, sizeof line, list) != NULL)
        tell("K %s", line);
    if (list != NULL)
        fclose(list);
    if (said >= 0)
        close(said);
}

/* A part of a file, or null if it is not within the file. */
static const void *part(const uint8_t *file, size_t size, uint64_t offset, uint64_t length)
{
    return offset <= size && length <= size - offset ? file + offset : NULL;
}

static void report_symbols(const uint8_t *file, size_t size, const Elf64_Shdr *sections,
                         const Elf64_Shdr *table)
{
    const Elf64_Shdr *names = &sections[table->sh_link];
    const Elf64_Sym *symbols = part(file, size, table->sh_offset, table->sh_size);
    const char *text = part(file, size, names->sh_offset, names->sh_size);

    if (symbols == NULL || text == NULL || names->sh_size == 0 || text[names->sh_size - 1] != '\0')
        return;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const int type = ELF64_ST_TYPE(symbols[i].st_info);

        if (symbols[i].st_shndx != SHN_UNDEF && symbols[i].st_name < names->sh_size &&
            (type == STT_FUNC || type == STT_OBJECT))
            tell("S %lx %lx %c %s\n", symbols[i].st_value, symbols[i].st_size,
                 type == STT_FUNC ? 'f' : 'o', text + symbols[i].st_name);
    }
}

/* Symbols of a file; of a stripped one only those that it exports. */
static void report_elf(const uint8_t *file, size_t size)
{
    const Elf64_Ehdr *head = part(file, size, 0, sizeof *head);

    if (head == NULL || memcmp(head->e_ident, ELFMAG, SELFMAG) != 0 ||
        head->e_ident[EI_CLASS] != ELFCLASS64)
        return;
    const Elf64_Phdr *parts = part(file, size, head->e_phoff, head->e_phnum * sizeof *parts);
    const Elf64_Shdr *sections =
        part(file, size, head->e_shoff, head->e_shnum * sizeof *sections);
    const Elf64_Shdr *table = NULL;

    for (int i = 0; parts != NULL && i < head->e_phnum; i++)
        if (parts[i].p_type == PT_LOAD)
            tell("L %lx %lx %lx\n", parts[i].p_offset, parts[i].p_vaddr, parts[i].p_filesz);
    for (int i = 0; sections != NULL && i < head->e_shnum; i++)
        if (sections[i].sh_type == SHT_SYMTAB || (sections[i].sh_type == SHT_DYNSYM && !table))
            table = &sections[i];
    if (table != NULL && table->sh_link < head->e_shnum)
        report_symbols(file, size, sections, table);
}

static int is_told(const char *name)
{
    for (size_t i = 0; i < files_reported; i++)
        if (strcmp(files[i], name) == 0)
            return 1;
    if (files_reported == FILES_MAX || (files[files_reported] = strdup(name)) == NULL)
        return 1;
    files_reported++;
    return 0;
}

/* Opens the file that the process has mapped, even if the name means another file here. */
static void tell_file(int process, const unsigned long range[2], const char *name)
{
    char path[LINE_BYTES];
    struct stat status;
    int fd;

    if (is_told(name))
        return;
    snprintf(path, sizeof path, "/proc/%d/map_files/%lx-%lx", process, range[0],
             range[1]);
    fd = open(path, O_RDONLY);
    if (fd < 0)
        return;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
        const size_t size = (size_t)status.st_size;
        void *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

        if (file != MAP_FAILED) {
            tell("F %s\n", name);
            report_elf(file, size);
            munmap(file, size);
        }
    }
    close(fd);
}

/* Called once for the mappings and once for the files, so that each list is contiguous. */
static void report_mappings(int process, FILE *maps, int of_files)
{
    char line[LINE_BYTES / 2], rights[8], name[LINE_BYTES / 4];
    unsigned long range[2], offset;

    rewind(maps);
    while (fgets(line, sizeof line, maps) != NULL) {
        name[0] = '\0';
        if (sscanf(line, "%lx-%lx %7s %lx %*s %*s %255[^\n]", &range[0], &range[1], rights, &offset,
                   name) < 4)
            continue;
        if (!of_files)
            tell("M %lx %lx %lx %s\n", range[0], range[1], offset, name);
        else if (name[0] == '/' && strchr(rights, 'x') != NULL)
            tell_file(process, range, name);
    }
}

static const char *name_of(int process, char name[64])
{
    char path[64];
    FILE *file;

    name[0] = '\0';
    snprintf(path, sizeof path, "/proc/%d/comm", process);
    file = fopen(path, "r");
    if (file == NULL)
        return name;
    if (fgets(name, 64, file) != NULL)
        name[strcspn(name, "\n")] = '\0';
    fclose(file);
    return name;
}

void report_processes(void)
{
    DIR *folder = opendir("/proc");
    struct dirent *entry;

    while (folder != NULL && (entry = readdir(folder)) != NULL) {
        const int process = atoi(entry->d_name);
        char path[64], name[64];
        FILE *maps;

        if (process <= 0 || process == getpid())
            continue;
        snprintf(path, sizeof path, "/proc/%d/maps", process);
        maps = fopen(path, "r");
        if (maps == NULL)
            continue;
        tell("P %d %s\n", process, name_of(process, name));
        report_mappings(process, maps, 0);
        report_mappings(process, maps, 1);
        fclose(maps);
    }
    if (folder != NULL)
        closedir(folder);
    show_page();
}
