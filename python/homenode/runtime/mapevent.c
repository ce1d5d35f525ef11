/* The event of a mapping, with the name of what is behind it. */
#include "hn.h"

#include <sys/syscall.h>

enum { A_WORD = 7 };

/* The name of the file behind a descriptor; its length, 0 for none. */
size_t hn_file_name(int fd, char *name)
{
    char path[32] = "/proc/self/fd/";
    char digits[12];
    char *digit = digits + sizeof digits - 1;
    char *end = path + 14;
    long length;

    if (fd < 0)
        return 0;
    *digit = '\0';
    do
        *--digit = (char)('0' + fd % 10);
    while ((fd /= 10) != 0);
    while ((*end++ = *digit++) != '\0') {
    }
    length = hn_sys(SYS_readlink, (long)path, (long)name, HN_NAME_BYTES, 0);
    return length > 0 ? (size_t)length : 0;
}

/* Address, whether shared, and size; seven bytes of the name a word, as in markers. */
void hn_map_event(struct hn_thread *me, const uint64_t what[3], const char *name, size_t length)
{
    uint64_t words[4 + HN_NAME_BYTES / A_WORD + 3] = {what[0], what[1], what[2], length};

    for (size_t i = 0; i < length; i++)
        words[4 + i / A_WORD] |= (uint64_t)(unsigned char)name[i] << (8 * (i % A_WORD));
    hn_event_words(me, HN_EV_MAP, words, 1 + (unsigned)((length + 2 * A_WORD - 1) / (2 * A_WORD)));
}
