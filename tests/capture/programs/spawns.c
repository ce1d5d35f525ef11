/* Children by posix_spawn: the C library tries clone3 first, which emulators may not have. */
#include <stdlib.h>

int main(void)
{
    return system("true") || system("true");
}
