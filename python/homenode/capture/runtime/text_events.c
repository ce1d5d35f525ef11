/* Events with text: a mapping with the name of its file, and a marker. */
#include "hn.h"

#include <sys/syscall.h>

/* Text has seven bytes a word, because a payload word must not be zero. */
enum { A_WORD = 7, TEXT_WORDS = HN_NAME_BYTES / A_WORD + 3 };

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

static unsigned text_records(size_t length)
{
    return (unsigned)((length + 2 * A_WORD - 1) / (2 * A_WORD));
}

static void put_text(uint64_t *words, const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        words[i / A_WORD] |= (uint64_t)(unsigned char)text[i] << (8 * (i % A_WORD));
}

/* Address, whether shared, and size, then the name. */
void hn_map_event(struct hn_thread *me, const uint64_t what[3], const char *name, size_t length)
{
    uint64_t words[4 + TEXT_WORDS] = {what[0], what[1], what[2], length};

    put_text(words + 4, name, length);
    hn_event_words(me, HN_EV_MAP, words, 1 + text_records(length));
}

/* A text of the program, of at most HN_NAME_BYTES. */
void hn_marker_event(struct hn_thread *me, const char *text, size_t length)
{
    uint64_t words[2 + TEXT_WORDS] = {length};

    put_text(words + 2, text, length);
    hn_event_words(me, HN_EV_MARKER, words, text_records(length));
}

/* A number, and a text of at most HN_NAME_BYTES. */
void hn_text_event(struct hn_thread *me, int code, uint64_t number, const char *text, size_t length)
{
    uint64_t words[2 + TEXT_WORDS] = {number, length};

    put_text(words + 2, text, length);
    hn_event_words(me, code, words, text_records(length));
}
