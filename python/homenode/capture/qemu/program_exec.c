/* Programs that the program executes: each is recorded to a trace of its own, as a child of fork
 * is.
 *
 * QEMU would let the kernel execute the program natively. So before it makes the call, the emulator
 * is executed, with its own options and the program. It finds the recorder's memory by a
 * descriptor, as the first program did. A program for which that is not possible, of another
 * machine, is left to QEMU; it is counted, as nothing behind it is recorded.
 */
#include "registers.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS_MAX = 1 << 17, HEAD_BYTES = 256, DESCRIPTOR_FIRST = 900, SCRIPTS_MAX = 4 };

/* The emulator's own words, up to the program's name, and the plugin that is preloaded. */
static char **own_words;
static size_t own_count;
static char *preloaded;

/* The words of a program to execute, most of them in the program's memory. */
struct command {
    const char **words, **variables;
    size_t word_count, variable_count;
    char path[PATH_MAX];
    char head[HEAD_BYTES];      /* of a script: its interpreter and argument */
};

void exec_begin(int argc, char **argv, const char *preload)
{
    int count = 1;

    while (count < argc && strcmp(argv[count], "-0") != 0)
        count++;
    if (preload == NULL || count == argc)
        return;
    own_words = calloc((size_t)count, sizeof *own_words);
    for (int i = 0; own_words != NULL && i < count; i++)
        own_words[i] = strdup(argv[i]);
    own_count = own_words == NULL ? 0 : (size_t)count;
    preloaded = strdup(preload);
}

static void add_word(struct command *c, const char *word)
{
    c->words[c->word_count++] = word;
}

/* Number of pointers in a list of the program's; WORDS_MAX if it cannot be read. */
static size_t list_length(uint64_t list)
{
    uint64_t item = 1;
    size_t count = 0;

    while (list != 0 && count < WORDS_MAX && peek(list + 8 * count, &item, sizeof item) &&
           item != 0)
        count++;
    return item == 0 || list == 0 ? count : WORDS_MAX;
}

static const char *item_of(uint64_t list, size_t number)
{
    uint64_t item = 0;

    peek(list + 8 * number, &item, sizeof item);
    return (const char *)(uintptr_t)item;
}

static int read_path(uint64_t address, char path[PATH_MAX])
{
    for (size_t i = 0; i < PATH_MAX; i++) {
        if (!peek(address + i, &path[i], 1))
            return 0;
        if (path[i] == '\0')
            return i != 0;
    }
    return 0;
}

/* Whether a file is a program of the emulated machine; if it is a script, `head` has its first
 * line. */
static int is_program(const char *path, char head[HEAD_BYTES], int *is_script)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const Elf64_Ehdr *header = (const Elf64_Ehdr *)head;
    ssize_t length;

    *is_script = 0;
    if (fd < 0 || access(path, X_OK) != 0) {
        if (fd >= 0)
            close(fd);
        return 0;
    }
    length = read(fd, head, HEAD_BYTES - 1);
    close(fd);
    if (length <= 2)
        return 0;
    head[length] = '\0';
    *is_script = head[0] == '#' && head[1] == '!';
    return *is_script || ((size_t)length >= sizeof *header &&
                          memcmp(header->e_ident, ELFMAG, SELFMAG) == 0 &&
                          header->e_machine == elf_machine());
}

/* Adds the program's words: its name and file, and the arguments but for the name. A script's are
 * its interpreter and one argument, then the script. */
static int add_program(struct command *c, const uint64_t a[6], size_t arguments)
{
    const char *name = arguments == 0 ? c->path : item_of(a[1], 0);
    char *interpreter, *argument, *end;
    char head[HEAD_BYTES];
    int is_script;

    if (!is_program(c->path, c->head, &is_script))
        return 0;
    add_word(c, "-0");
    if (!is_script) {
        add_word(c, name);
        add_word(c, c->path);
        return 1;
    }
    end = strchr(c->head, '\n');
    if (end == NULL)
        return 0;
    *end = '\0';
    interpreter = c->head + 2 + strspn(c->head + 2, " \t");
    end = interpreter + strcspn(interpreter, " \t");
    argument = end + strspn(end, " \t");
    *end = '\0';
    if (!is_program(interpreter, head, &is_script) || is_script)
        return 0;
    add_word(c, interpreter);
    add_word(c, interpreter);
    if (*argument != '\0')
        add_word(c, argument);
    add_word(c, c->path);
    return 1;
}

static int starts_with(const char *at, const char *text)
{
    char begin[32];
    const size_t length = strlen(text);

    return peek((uintptr_t)at, begin, length) && memcmp(begin, text, length) == 0;
}

/* Makes the command of the emulator; returns whether the program can be emulated. */
static int make_command(struct command *c, const uint64_t a[6])
{
    const size_t arguments = list_length(a[1]), variables = list_length(a[2]);

    if (own_count == 0 || arguments == WORDS_MAX || variables == WORDS_MAX ||
        !read_path(a[0], c->path))
        return 0;
    c->words = calloc(own_count + arguments + 12, sizeof *c->words);
    c->variables = calloc(variables + 3, sizeof *c->variables);
    if (c->words == NULL || c->variables == NULL)
        return 0;
    for (size_t i = 0; i < own_count; i++) {
        /* Given for the parent's variable, and given again for this program's. */
        if (strcmp(own_words[i], "-E") == 0)
            i++;
        else
            add_word(c, own_words[i]);
    }
    for (size_t i = 0; i < variables; i++) {
        const char *variable = item_of(a[2], i);

        if (starts_with(variable, "LD_PRELOAD=")) {
            add_word(c, "-E");
            add_word(c, variable);
        } else {
            c->variables[c->variable_count++] = variable;
        }
    }
    if (!add_program(c, a, arguments))
        return 0;
    for (size_t i = 1; i < arguments; i++)
        add_word(c, item_of(a[1], i));
    return 1;
}

/* Executes the emulator with memory that the recorder has opened. */
static void execute(struct hn_thread *me, struct command *c)
{
    char preload[PATH_MAX + 16], descriptor[32];
    const int fd = process_offer_exec(me);
    const int kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, DESCRIPTOR_FIRST);

    if (kept >= 0) {
        snprintf(preload, sizeof preload, "LD_PRELOAD=%s", preloaded);
        snprintf(descriptor, sizeof descriptor, "HOMENODE_FD=%d", kept);
        c->variables[c->variable_count++] = preload;
        c->variables[c->variable_count++] = descriptor;
        if (hn_deterministic())
            hn_sys(SYS_sched_setaffinity, 0, sizeof hn_affinity, (long)&hn_affinity, 0);
        hn_sys(SYS_execve, (long)"/proc/self/exe", (long)c->words, (long)c->variables, 0);
        if (hn_deterministic())
            hn_pin();
        close(kept);
    }
    process_withdraw(fd);
}

/* Called before the program executes another; returns if that fails, or is left to QEMU. */
void exec_follow(struct hn_thread *me, int64_t number, const uint64_t a[6])
{
    struct command c;

    memset(&c, 0, sizeof c);
    me->in_runtime++;
    if (is_plain_exec(number) && make_command(&c, a))
        execute(me, &c);
    me->in_runtime--;
    free(c.words);
    free(c.variables);
}
