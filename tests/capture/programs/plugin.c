/* A library that is loaded while the program runs. */
long plugin_data[16];

long plugin_work(long n)
{
    for (long i = 0; i < n; i++)
        plugin_data[i % 16] += i;
    return plugin_data[3];
}
