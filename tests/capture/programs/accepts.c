/* Accepts a connection, which the kernel makes without the recorder, as for another program. */
#include <stdio.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    struct sockaddr_un name = {.sun_family = AF_UNIX};
    int server = socket(AF_UNIX, SOCK_STREAM, 0), client = socket(AF_UNIX, SOCK_STREAM, 0);
    char got = 0;

    snprintf(name.sun_path, sizeof name.sun_path, "%s.socket", argv[argc - 1]);
    unlink(name.sun_path);
    if (bind(server, (struct sockaddr *)&name, sizeof name) != 0 || listen(server, 1) != 0)
        return 1;
    if (syscall(SYS_connect, client, &name, sizeof name) != 0)
        return 2;
    int connection = accept(server, NULL, NULL);
    if (write(client, "x", 1) != 1 || read(connection, &got, 1) != 1)
        return 3;
    unlink(name.sun_path);
    printf("%c\n", got);
    return 0;
}
