/* Reads a file by fread, whose last element is a part, and writes what it has read by fwrite. */
#include <stdio.h>

static char input[64], output[64];

int main(int count, char **words)
{
    FILE *from = count == 3 ? fopen(words[1], "r") : NULL;
    FILE *to = count == 3 ? fopen(words[2], "w") : NULL;
    size_t read, written;

    if (from == NULL || to == NULL)
        return 1;
    read = fread(input, 7, 4, from);
    for (int i = 0; i < 64; i++)
        output[i] = input[i];
    written = fwrite(output, 5, 2, to);
    printf("%zu %zu\n", read, written);
    return fclose(from) + fclose(to);
}
