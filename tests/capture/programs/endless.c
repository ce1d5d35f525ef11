/* Never ends by itself. */
static volatile long data[1024];

int main(void)
{
    for (long i = 0;; i++)
        data[i % 1024] += i;
}
