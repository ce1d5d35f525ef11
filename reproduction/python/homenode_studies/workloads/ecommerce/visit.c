/* As much of HTTP/1.1 as a browser needs: GET, connections that are kept, lengths and chunks. */
#include "browsers.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

static int open_connection(struct visit *v)
{
    struct sockaddr_in shop = {.sin_family = AF_INET, .sin_port = htons((uint16_t)v->port),
                               .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const int yes = 1;

    v->start = v->end = 0;
    v->socket = socket(AF_INET, SOCK_STREAM, 0);
    if (v->socket < 0)
        return 0;
    setsockopt(v->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    if (connect(v->socket, (const struct sockaddr *)&shop, sizeof shop) == 0)
        return 1;
    visit_end(v);
    return 0;
}

void visit_end(struct visit *v)
{
    if (v->socket >= 0)
        close(v->socket);
    v->socket = -1;
}

static int fill(struct visit *v)
{
    const ssize_t got = read(v->socket, v->buffer, sizeof v->buffer);

    v->start = 0;
    v->end = got > 0 ? got : 0;
    return got > 0;
}

/* A line without its end; 0 when there is none, or it is longer than `size`. */
static int get_line(struct visit *v, char *line, size_t size)
{
    size_t length = 0;

    for (;;) {
        if (v->start == v->end && !fill(v))
            return 0;
        const char c = v->buffer[v->start++];
        if (c == '\n')
            break;
        if (c != '\r' && length + 1 < size)
            line[length++] = c;
    }
    line[length] = '\0';
    return 1;
}

/* So many bytes into the body, which keeps what it has room for; all until the end if below 0. */
static int get_bytes(struct visit *v, struct answer *a, long count)
{
    while (count != 0) {
        if (v->start == v->end && !fill(v))
            return count < 0;
        long part = v->end - v->start;
        if (count > 0 && part > count)
            part = count;
        if (a->length + part <= BODY_MAX)
            memcpy(a->body + a->length, v->buffer + v->start, (size_t)part);
        a->length += part;
        v->start += part;
        count -= count > 0 ? part : 0;
    }
    return 1;
}

static int get_chunks(struct visit *v, struct answer *a)
{
    char line[256];
    long size;

    do {
        if (!get_line(v, line, sizeof line))
            return 0;
        size = strtol(line, NULL, 16);
        if (size < 0 || !get_bytes(v, a, size) || !get_line(v, line, sizeof line))
            return 0;
    } while (size > 0);
    return 1;
}

static int get_answer(struct visit *v, struct answer *a)
{
    char line[1024];
    long length = -1;
    int chunks = 0, last = 0, whole;

    if (!get_line(v, line, sizeof line) || sscanf(line, "HTTP/%*d.%*d %d", &a->status) != 1)
        return 0;
    while (get_line(v, line, sizeof line) && line[0] != '\0') {
        if (strncasecmp(line, "Content-Length: ", 16) == 0)
            length = strtol(line + 16, NULL, 10);
        chunks |= strncasecmp(line, "Transfer-Encoding: chunked", 26) == 0;
        last |= strncasecmp(line, "Connection: close", 17) == 0;
        if (strncasecmp(line, "Content-Type: ", 14) == 0)
            snprintf(a->type, sizeof a->type, "%.60s", line + 14);
    }
    whole = chunks ? get_chunks(v, a) : get_bytes(v, a, length);
    if (last || !whole || (!chunks && length < 0))
        visit_end(v);
    return whole;
}

int visit_get(struct visit *v, const char *address, struct answer *a)
{
    char line[512];
    int length = snprintf(line, sizeof line,
                          "GET %.300s HTTP/1.1\r\nHost: localhost\r\n"
                          "Cookie: PHPSESSID=browser%u\r\nUser-Agent: homenode\r\n\r\n",
                          address, v->browser);

    /* A connection that was kept may have ended meanwhile: then once more, with a new one. */
    for (int attempt = 0; attempt < 2; attempt++) {
        const int kept = v->socket >= 0;
        a->status = 0;
        a->length = 0;
        a->type[0] = '\0';
        if (!kept && !open_connection(v))
            return 0;
        if (write(v->socket, line, (size_t)length) == length && get_answer(v, a)) {
            a->body[a->length < BODY_MAX ? a->length : BODY_MAX] = '\0';
            return 1;
        }
        visit_end(v);
        if (!kept)
            return 0;
    }
    return 0;
}
