/* Loads the library named by the first argument. */
#include <dlfcn.h>
#include <stdio.h>

int main(int count, char **words)
{
    void *library = count > 1 ? dlopen(words[1], RTLD_NOW) : NULL;
    long (*work)(long) = library == NULL ? NULL : (long (*)(long))dlsym(library, "plugin_work");

    if (work == NULL) {
        printf("%s\n", dlerror());
        return 1;
    }
    printf("%ld\n", work(100));
    return 0;
}
