/* Two processes and the memory they share: a child adds to its parent's counter, then the parent
 * reads it. */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

long own[8];

int main(void)
{
    volatile long *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                                 -1, 0);
    int status;

    own[0] = 1;
    if (fork() == 0) {
        for (int i = 0; i < 500; i++)
            shared[0]++;
        _exit(3);
    }
    wait(&status);
    printf("%ld %d\n", shared[0], WEXITSTATUS(status));
    return 0;
}
