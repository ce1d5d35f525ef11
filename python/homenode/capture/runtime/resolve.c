/* Looks up the functions that the runtime interposes: the next ones in the symbol search.
 *
 * The loader allocates a message for each name that it does not find, whose length depends on the
 * program's path: on the program's heap later addresses would depend on it. So only names that some
 * library has are looked up.
 */
#include "hn.h"

#ifndef HN_STATIC
#include <dlfcn.h>
#include <link.h>
#include <string.h>

enum { GNU_HASH_WORDS = 4, GNU_HASH_FACTOR = 33, GNU_HASH_START = 5381 };

extern const struct hn_real __start_hn_reals[], __stop_hn_reals[];

struct wanted {
    const char *name;
    uint32_t hash;
};

struct tables {
    const uint32_t *hash;       /* DT_GNU_HASH */
    const ElfW(Sym) *symbols;
    const char *strings;
};

static uint32_t hash_of(const char *name)
{
    uint32_t hash = GNU_HASH_START;

    for (; *name != '\0'; name++)
        hash = hash * GNU_HASH_FACTOR + (unsigned char)*name;
    return hash;
}

/* The loader has made the addresses absolute, but for the kernel's own library. */
static struct tables tables_of(const ElfW(Dyn) *at, uintptr_t base)
{
    struct tables found = {NULL, NULL, NULL};

    for (; at->d_tag != DT_NULL; at++) {
        uintptr_t address = at->d_un.d_ptr < base ? base + at->d_un.d_ptr : at->d_un.d_ptr;

        if (at->d_tag == DT_GNU_HASH)
            found.hash = (const uint32_t *)address;
        else if (at->d_tag == DT_SYMTAB)
            found.symbols = (const ElfW(Sym) *)address;
        else if (at->d_tag == DT_STRTAB)
            found.strings = (const char *)address;
    }
    return found;
}

/* Without such a table the loader has to say. */
static int may_define(const struct tables *of, const struct wanted *wanted)
{
    const uint32_t *words = of->hash;
    uint32_t first, at;
    const uint32_t *buckets;

    if (words == NULL)
        return 1;
    first = words[1];
    buckets = words + GNU_HASH_WORDS + words[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
    at = words[0] == 0 ? 0 : buckets[wanted->hash % words[0]];
    for (; at >= first && at != 0; at++) {
        const uint32_t hash = buckets[words[0] + at - first];

        if ((hash | 1) == (wanted->hash | 1) && of->symbols[at].st_shndx != SHN_UNDEF &&
            strcmp(of->strings + of->symbols[at].st_name, wanted->name) == 0)
            return 1;
        if ((hash & 1) != 0)
            break;
    }
    return 0;
}

static int look_in(struct dl_phdr_info *library, size_t size, void *argument)
{
    const int is_program = library->dlpi_name[0] == '\0';

    (void)size;
    for (int i = 0; i < library->dlpi_phnum && !is_program; i++) {
        const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
        struct tables tables;

        if (segment->p_type != PT_DYNAMIC)
            continue;
        tables = tables_of((const void *)(library->dlpi_addr + segment->p_vaddr),
                           library->dlpi_addr);
        return may_define(&tables, argument);
    }
    return 0;
}

void *hn_resolve(void **slot, const char *name)
{
    struct wanted wanted = {name, hash_of(name)};

    *slot = dl_iterate_phdr(look_in, &wanted) != 0 ? dlsym(RTLD_NEXT, name) : NULL;
    return *slot;
}

void hn_resolve_all(void)
{
    for (const struct hn_real *r = __start_hn_reals; r < __stop_hn_reals; r++)
        if (*r->slot == NULL)
            hn_resolve(r->slot, r->name);
}
#else
void hn_resolve_all(void) {}
#endif
