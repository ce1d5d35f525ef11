/* Pads the program's environment, on whose size the addresses on its stack depend.
 *
 * QEMU writes the program's name, arguments and environment onto its stack as the kernel would, and
 * the stack proper begins below. So before QEMU reads the environment, the value of one variable is
 * padded to make the sum round; before the program reads it, the padding is cut off again.
 */
#include "guest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { STEP_BYTES = 1 << 16, ALIGNED_BYTES = 16 };

static struct {
    char *text;         /* the variable with its name, padded; null: none */
    size_t size;        /* of the text, with its terminator */
    size_t true_length;
} filled;

/* QEMU's own options come first; the plugin is the last of those that are always given. */
static int first_of_program(int argc, char **argv)
{
    for (int i = 1; i + 2 < argc; i++)
        if (strcmp(argv[i], "-plugin") == 0)
            return i + 2;
    return 1;
}

/* Text is padded to a round sum less the pointers to it. The stack begins at a multiple of 16
 * bytes, so the alignment accounts for an odd pointer. */
static size_t missing(int argc, char **argv)
{
    size_t bytes = 0, pointers = 0;

    for (int i = first_of_program(argc, argv); i < argc; i++, pointers++)
        bytes += strlen(argv[i]) + 1;
    for (char **e = environ; *e != NULL; e++, pointers++)
        bytes += strlen(*e) + 1;
    bytes += pointers * sizeof(uint64_t) / ALIGNED_BYTES * ALIGNED_BYTES;
    return (STEP_BYTES - bytes % STEP_BYTES) % STEP_BYTES;
}

/* The last variable that is not one of QEMU's own. */
static char **one_to_fill(void)
{
    char **found = NULL;

    for (char **e = environ; *e != NULL; e++)
        if (strncmp(*e, "QEMU_", 5) != 0 && strchr(*e, '=') != NULL)
            found = e;
    return found;
}

void environment_fill(int argc, char **argv)
{
    char **variable = one_to_fill();
    const size_t more = missing(argc, argv);

    if (variable == NULL || more == 0)
        return;
    filled.true_length = strlen(*variable);
    filled.size = filled.true_length + more + 1;
    filled.text = malloc(filled.size);
    if (filled.text == NULL)
        return;
    memcpy(filled.text, *variable, filled.true_length);
    memset(filled.text + filled.true_length, 'x', more);
    filled.text[filled.size - 1] = '\0';
    *variable = filled.text;
}

/* Restores the variable on the program's stack, before the program runs. */
void environment_restore(uint64_t low, uint64_t high)
{
    char *found;

    if (filled.text == NULL || low >= high)
        return;
    found = memmem((void *)(uintptr_t)low, high - low, filled.text, filled.size);
    if (found != NULL)
        found[filled.true_length] = '\0';
}
