/* The files with the program's code: their allocation functions, by symbol, and their tables for
 * walks of the stack. They are mapped a second time, for the plugin, which therefore depends on
 * nothing that the program may unmap or change.
 */
#include "registers.h"

#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALLOCATORS_FIRST = 1 << 8, LINE_BYTES = 4352 };

static struct loaded_file *loaded_files;

/* Addresses of allocation functions, in a hash table. */
static struct {
    uint64_t *address;
    uint8_t *kind;
    size_t size, used;
} known_allocators;

/* Sorted by name. */
static const struct {
    const char *name;
    enum allocator kind;
} functions[] = {
    {"_ZdaPv", FREES}, {"_ZdaPvRKSt9nothrow_t", FREES}, {"_ZdaPvSt11align_val_t", FREES},
    {"_ZdaPvSt11align_val_tRKSt9nothrow_t", FREES}, {"_ZdaPvm", FREES},
    {"_ZdaPvmSt11align_val_t", FREES}, {"_ZdlPv", FREES}, {"_ZdlPvRKSt9nothrow_t", FREES},
    {"_ZdlPvSt11align_val_t", FREES}, {"_ZdlPvSt11align_val_tRKSt9nothrow_t", FREES},
    {"_ZdlPvm", FREES}, {"_ZdlPvmSt11align_val_t", FREES}, {"_Znam", OF_SIZE},
    {"_ZnamRKSt9nothrow_t", OF_SIZE}, {"_ZnamSt11align_val_t", OF_SIZE},
    {"_ZnamSt11align_val_tRKSt9nothrow_t", OF_SIZE}, {"_Znwm", OF_SIZE},
    {"_ZnwmRKSt9nothrow_t", OF_SIZE}, {"_ZnwmSt11align_val_t", OF_SIZE},
    {"_ZnwmSt11align_val_tRKSt9nothrow_t", OF_SIZE},
    {"__libc_calloc", OF_PRODUCT}, {"__libc_free", FREES}, {"__libc_malloc", OF_SIZE},
    {"__libc_memalign", OF_ALIGNED}, {"__libc_realloc", OF_OLD},
    {"__rdl_alloc", OF_SIZE}, {"__rdl_alloc_zeroed", OF_SIZE}, {"__rdl_dealloc", FREES},
    {"__rdl_realloc", OF_OLD_ALIGNED}, {"__rg_alloc", OF_SIZE}, {"__rg_alloc_zeroed", OF_SIZE},
    {"__rg_dealloc", FREES}, {"__rg_realloc", OF_OLD_ALIGNED}, {"__rust_alloc", OF_SIZE},
    {"__rust_alloc_zeroed", OF_SIZE}, {"__rust_dealloc", FREES},
    {"__rust_realloc", OF_OLD_ALIGNED}, {"aligned_alloc", OF_ALIGNED}, {"calloc", OF_PRODUCT},
    {"cfree", FREES}, {"free", FREES}, {"malloc", OF_SIZE}, {"memalign", OF_ALIGNED},
    {"mmap", MAPS}, {"mmap64", MAPS}, {"mremap", MAPS}, {"posix_memalign", TO_PLACE},
    {"pvalloc", OF_SIZE}, {"realloc", OF_OLD}, {"reallocarray", OF_OLD_PRODUCT},
    {"runtime.stackalloc", GO_STACK}, {"valloc", OF_SIZE},
};

static int compare_names(const void *name, const void *function)
{
    return strcmp(name, *(const char *const *)function);
}

/* The name that Rust's own mangling hides: `_RNvCs1a2B_7___rustc12___rust_alloc`. */
static const char *plain_name(const char *name)
{
    const char *inner = strncmp(name, "_RNv", 4) == 0 ? strstr(name, "7___rustc") : NULL;

    if (inner == NULL)
        return name;
    inner += 9;
    inner += strspn(inner, "0123456789");
    return inner + (*inner == '_');
}

/* A local function of C may have any name; those of Rust and Go are often local. */
static enum allocator kind_of(const char *name, int local)
{
    const char *plain = plain_name(name);
    const void *found;

    if (strncmp(name, "runtime.mallocgc", 16) == 0)
        return GO_BLOCK;
    if (local && strncmp(plain, "__r", 3) != 0 && strncmp(plain, "runtime.", 8) != 0)
        return NO_ALLOCATOR;
    found = bsearch(plain, functions, sizeof functions / sizeof *functions, sizeof *functions,
                    compare_names);
    return found == NULL ? NO_ALLOCATOR : ((const __typeof__(functions[0]) *)found)->kind;
}

static size_t slot_of_address(uint64_t address)
{
    size_t at = (size_t)hn_mixed(0, address) & (known_allocators.size - 1);

    while (known_allocators.address[at] != 0 && known_allocators.address[at] != address)
        at = (at + 1) & (known_allocators.size - 1);
    return at;
}

static void note_allocator(uint64_t address, enum allocator kind)
{
    if (2 * (known_allocators.used + 1) > known_allocators.size) {
        const __typeof__(known_allocators) old = known_allocators;

        known_allocators.size = old.size == 0 ? ALLOCATORS_FIRST : 2 * old.size;
        known_allocators.address = calloc(known_allocators.size, sizeof *known_allocators.address);
        known_allocators.kind = calloc(known_allocators.size, sizeof *known_allocators.kind);
        if (known_allocators.address == NULL || known_allocators.kind == NULL)
            abort();
        known_allocators.used = 0;
        for (size_t i = 0; i < old.size; i++)
            if (old.address[i] != 0)
                note_allocator(old.address[i], old.kind[i]);
        free(old.address);
        free(old.kind);
    }
    const size_t at = slot_of_address(address);

    known_allocators.used += known_allocators.address[at] == 0;
    known_allocators.address[at] = address;
    known_allocators.kind[at] = (uint8_t)kind;
}

/* What the function at an address allocates. */
enum allocator allocator_at(uint64_t address)
{
    if (known_allocators.size == 0)
        return NO_ALLOCATOR;
    return known_allocators.kind[slot_of_address(address)];
}

static const void *part_of(const struct loaded_file *f, uint64_t offset, uint64_t size)
{
    return offset <= f->size && size <= f->size - offset ? f->bytes + offset : NULL;
}

static void read_symbols(const struct loaded_file *f, const Elf64_Shdr *table,
                         const Elf64_Shdr *texts)
{
    const Elf64_Sym *symbols = part_of(f, table->sh_offset, table->sh_size);
    const char *names = part_of(f, texts->sh_offset, texts->sh_size);

    if (symbols == NULL || names == NULL || texts->sh_size == 0 ||
        names[texts->sh_size - 1] != '\0')
        return;
    for (size_t i = 0; i < table->sh_size / sizeof *symbols; i++) {
        const Elf64_Sym *s = &symbols[i];
        enum allocator kind;

        if (ELF64_ST_TYPE(s->st_info) != STT_FUNC || s->st_shndx == SHN_UNDEF ||
            s->st_name >= texts->sh_size)
            continue;
        kind = kind_of(names + s->st_name, ELF64_ST_BIND(s->st_info) == STB_LOCAL);
        if (kind != NO_ALLOCATOR)
            note_allocator(s->st_value + f->moved, kind);
    }
}

static void read_sections(const struct loaded_file *f, const Elf64_Ehdr *header)
{
    const Elf64_Shdr *sections =
        part_of(f, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);

    for (size_t i = 0; sections != NULL && i < header->e_shnum; i++)
        if ((sections[i].sh_type == SHT_SYMTAB || sections[i].sh_type == SHT_DYNSYM) &&
            sections[i].sh_link < header->e_shnum)
            read_symbols(f, &sections[i], &sections[sections[i].sh_link]);
}

/* The bytes and the address of a section, if the file has it and it is not compressed. */
void find_section(const struct loaded_file *f, const char *name, struct frame_table *t)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)f->bytes;
    const Elf64_Shdr *sections =
        part_of(f, header->e_shoff, (uint64_t)header->e_shnum * sizeof *sections);
    const Elf64_Shdr *texts =
        sections != NULL && header->e_shstrndx < header->e_shnum ? &sections[header->e_shstrndx]
                                                                 : NULL;
    const char *names = texts == NULL ? NULL : part_of(f, texts->sh_offset, texts->sh_size);

    for (size_t i = 0; names != NULL && i < header->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];

        if (s->sh_name >= texts->sh_size || s->sh_type == SHT_NOBITS ||
            (s->sh_flags & SHF_COMPRESSED) != 0 ||
            strncmp(names + s->sh_name, name, texts->sh_size - s->sh_name) != 0)
            continue;
        t->bytes = part_of(f, s->sh_offset, s->sh_size);
        t->size = (size_t)s->sh_size;
        t->address = s->sh_addr;
    }
}

/* Sets where the file is in memory, by one of its mappings; returns whether it can be there. */
static int place(struct loaded_file *f, const Elf64_Ehdr *header, uint64_t start, uint64_t offset)
{
    const Elf64_Phdr *parts =
        part_of(f, header->e_phoff, (uint64_t)header->e_phnum * sizeof *parts);
    int found = 0;

    for (size_t i = 0; parts != NULL && i < header->e_phnum; i++) {
        const uint64_t in_page = parts[i].p_offset % 4096;

        if (parts[i].p_type == PT_LOAD && parts[i].p_offset - in_page == offset && !found) {
            f->moved = start + in_page - parts[i].p_vaddr;
            found = 1;
        }
    }
    for (size_t i = 0; found && i < header->e_phnum; i++) {
        const uint64_t low = parts[i].p_vaddr + f->moved;

        if (parts[i].p_type == PT_LOAD && (parts[i].p_flags & PF_X) != 0) {
            f->code_low = low < f->code_low ? low : f->code_low;
            f->code_high = low + parts[i].p_memsz > f->code_high ? low + parts[i].p_memsz
                                                                 : f->code_high;
        } else if (parts[i].p_type == PT_GNU_EH_FRAME) {
            f->frames_address = parts[i].p_vaddr;
        }
    }
    return found && f->code_low < f->code_high;
}

static int is_loaded(const struct loaded_file *f)
{
    const struct loaded_file *other = loaded_files;

    while (other != NULL && (other->moved != f->moved || other->size != f->size ||
                             other->code_low != f->code_low))
        other = other->next;
    return other != NULL;
}

/* Adds a file, unless it is known or no ELF file. */
static void add_file(int fd, uint64_t start, uint64_t offset)
{
    struct loaded_file f = {.code_low = UINT64_MAX}, *kept;
    const Elf64_Ehdr *header;
    struct stat status;
    void *bytes;

    if (fd < 0 || fstat(fd, &status) != 0 || (size_t)status.st_size < sizeof *header)
        return;
    f.size = (size_t)status.st_size;
    bytes = mmap(NULL, f.size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (bytes == MAP_FAILED)
        return;
    header = bytes;
    f.bytes = bytes;
    kept = NULL;
    if (memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
        header->e_ident[EI_CLASS] == ELFCLASS64 && place(&f, header, start, offset) &&
        !is_loaded(&f))
        kept = malloc(sizeof *kept);
    if (kept == NULL) {
        munmap(bytes, f.size);
        return;
    }
    f.next = loaded_files;
    *kept = f;
    /* Readers do not lock: the newest comes first, and none is removed. */
    __atomic_store_n(&loaded_files, kept, __ATOMIC_RELEASE);
    read_sections(kept, header);
}

/* The program has mapped a file whose code it may run. */
void file_mapped(int fd, uint64_t start, uint64_t offset)
{
    char path[32];
    int again;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    again = open(path, O_RDONLY | O_CLOEXEC);
    add_file(again, start, offset);
    if (again >= 0)
        close(again);
}

/* Whether QEMU itself has loaded a file there. */
static int is_of_host(struct dl_phdr_info *info, size_t size, void *address)
{
    const uint64_t wanted = *(const uint64_t *)address;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const uint64_t low = (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) & ~UINT64_C(4095);

        if (info->dlpi_phdr[i].p_type == PT_LOAD && wanted >= low &&
            wanted < info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz)
            return 1;
    }
    return 0;
}

/* Before the program runs: it and its dynamic linker are loaded. */
void files_loaded_first(void)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[LINE_BYTES];

    while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
        unsigned long start, offset;
        uint64_t address;
        int path = 0, fd;

        if (sscanf(line, "%lx-%*x %*s %lx %*s %*u %n", &start, &offset, &path) != 2 ||
            path == 0 || line[path] != '/' || offset != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        address = start;
        if (dl_iterate_phdr(is_of_host, &address))
            continue;
        fd = open(line + path, O_RDONLY | O_CLOEXEC);
        add_file(fd, start, offset);
        if (fd >= 0)
            close(fd);
    }
    if (maps != NULL)
        fclose(maps);
}

/* The file whose code is at an address, or null. */
struct loaded_file *file_with_code(uint64_t pc)
{
    struct loaded_file *f = __atomic_load_n(&loaded_files, __ATOMIC_ACQUIRE);

    while (f != NULL && (pc < f->code_low || pc >= f->code_high))
        f = f->next;
    return f;
}

/* The bytes from an address of the file on, by its own addresses; null if it has none there. */
const uint8_t *bytes_at(const struct loaded_file *f, uint64_t address, size_t *left)
{
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)f->bytes;
    const Elf64_Phdr *parts =
        part_of(f, header->e_phoff, (uint64_t)header->e_phnum * sizeof *parts);

    for (size_t i = 0; parts != NULL && i < header->e_phnum; i++) {
        const uint64_t into = address - parts[i].p_vaddr;

        if (parts[i].p_type != PT_LOAD || address < parts[i].p_vaddr || into >= parts[i].p_filesz)
            continue;
        *left = (size_t)(parts[i].p_filesz - into);
        return part_of(f, parts[i].p_offset + into, *left);
    }
    return NULL;
}
