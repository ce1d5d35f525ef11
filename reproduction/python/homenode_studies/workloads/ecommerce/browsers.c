/* Emulated browsers of TPC-W (clause 5): they walk through the shop, ask for all pictures of every
 * page, check what they get, and say at the end how often they did what.
 *
 *     browsers -p PORT [-n BROWSERS] [-s SEED] [-k ITEMS] [-c CUSTOMERS] [-i INTERACTIONS]
 *
 * Each browser is a process. Without -i they go on until SIGTERM; each finishes the page it is at.
 * There is no time to think between pages. With -w nothing is asked for: one browser's addresses
 * are printed. The exit code is 1 when an answer was not what it had to be.
 */
#define _GNU_SOURCE
#include "browsers.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* Sums over all browsers, in memory that they share. */
struct tally {
    uint64_t pages[PAGES], pictures, bytes, orders, errors;
};

struct wishes {
    struct shop shop;
    uint32_t browsers;
    uint64_t seed, interactions;
    int port, walk;
};

static struct tally *tally;
static volatile sig_atomic_t enough;

static void on_enough(int number)
{
    (void)number;
    enough = 1;
}

static void count(uint64_t *what, uint64_t more)
{
    __atomic_fetch_add(what, more, __ATOMIC_RELAXED);
}

static void complain(const char *address, const char *what, const struct answer *a)
{
    if (__atomic_fetch_add(&tally->errors, 1, __ATOMIC_RELAXED) < 10)
        fprintf(stderr, "browsers: %s: %s (status %d, %ld bytes)\n", address, what, a->status,
                a->length);
}

static void look_at_page(enum page page, const char *address, const struct answer *a)
{
    char title[80];

    snprintf(title, sizeof title, "<title>%s</title>", page_names[page].title);
    if (a->status != 200)
        complain(address, "expected status 200", a);
    else if (strstr(a->body, title) == NULL || strstr(a->body, "</html>") == NULL)
        complain(address, "the page is not what was asked for, or not whole", a);
    else if (page == BUY_CONFIRM && strstr(a->body, "is on its way") == NULL)
        complain(address, "nothing was ordered", a);
    else if (page == BUY_CONFIRM)
        count(&tally->orders, 1);
}

/* Gets the pictures of a page, over the page's own connection. */
static void look_at_pictures(struct visit *v, const struct answer *page)
{
    static struct answer picture;
    char address[100];

    for (const char *at = strstr(page->body, "src=\""); at != NULL; at = strstr(at, "src=\"")) {
        at += 5;
        snprintf(address, sizeof address, "/%.*s", (int)strcspn(at, "\""), at);
        if (!visit_get(v, address, &picture) || picture.status != 200 ||
            strncmp(picture.type, "image/", 6) != 0 || picture.length == 0)
            complain(address, "expected a picture", &picture);
        count(&tally->pictures, 1);
        count(&tally->bytes, (uint64_t)picture.length);
    }
}

static void browse(const struct wishes *wish, uint32_t browser)
{
    static struct answer page;
    struct visit visit = {.port = wish->port, .socket = -1, .browser = browser};
    struct walker w = walker_new(wish->seed, browser, &wish->shop);
    char address[200];

    for (uint64_t i = 0; !enough && (wish->interactions == 0 || i < wish->interactions); i++) {
        walker_next(&w, &wish->shop, address);
        if (!visit_get(&visit, address, &page))
            complain(address, "no answer", &page);
        else
            look_at_page(w.page, address, &page);
        count(&tally->pages[w.page], 1);
        count(&tally->bytes, (uint64_t)page.length);
        look_at_pictures(&visit, &page);
        visit_end(&visit);
    }
}

static void print_walk(const struct wishes *wish)
{
    struct walker w = walker_new(wish->seed, 0, &wish->shop);
    char address[200];

    for (uint64_t i = 0; i < wish->interactions; i++)
        puts(walker_next(&w, &wish->shop, address));
}

static int report(void)
{
    uint64_t all = 0;

    for (int i = 0; i < PAGES; i++) {
        printf("browsers: page %s %llu\n", page_names[i].address,
               (unsigned long long)tally->pages[i]);
        all += tally->pages[i];
    }
    printf("browsers: interactions %llu\nbrowsers: pictures %llu\nbrowsers: bytes %llu\n"
           "browsers: orders %llu\nbrowsers: errors %llu\n", (unsigned long long)all,
           (unsigned long long)tally->pictures, (unsigned long long)tally->bytes,
           (unsigned long long)tally->orders, (unsigned long long)tally->errors);
    return tally->errors == 0 ? 0 : 1;
}

static int wishes_from(int argc, char **argv, struct wishes *wish)
{
    for (int option; (option = getopt(argc, argv, "p:n:s:k:c:i:w")) != -1;) {
        const unsigned long long value = optarg != NULL ? strtoull(optarg, NULL, 10) : 0;

        switch (option) {
        case 'p': wish->port = (int)value; break;
        case 'n': wish->browsers = (uint32_t)value; break;
        case 's': wish->seed = value; break;
        case 'k': wish->shop.items = (uint32_t)value; break;
        case 'c': wish->shop.customers = (uint32_t)value; break;
        case 'i': wish->interactions = value; break;
        case 'w': wish->walk = 1; break;
        default: return 0;
        }
    }
    return wish->port > 0 || wish->walk;
}

int main(int argc, char **argv)
{
    struct wishes wish = {.shop = {100000, 57600}, .browsers = 20, .seed = 1};
    struct sigaction action = {.sa_handler = on_enough, .sa_flags = SA_RESTART};

    if (!wishes_from(argc, argv, &wish)) {
        fprintf(stderr, "usage: browsers -p PORT [-n BROWSERS] [-s SEED] [-k ITEMS] [-c CUSTOMERS] "
                        "[-i INTERACTIONS] [-w]\n");
        return 2;
    }
    if (wish.walk) {
        print_walk(&wish);
        return 0;
    }
    /* SIGTERM goes to a process group: to this process and its browsers only. */
    setpgid(0, 0);
    tally = mmap(NULL, sizeof *tally, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED) {
        perror("browsers: memory");
        return 2;
    }
    signal(SIGPIPE, SIG_IGN);
    sigaction(SIGTERM, &action, NULL);
    for (uint32_t browser = 0; browser < wish.browsers; browser++) {
        const pid_t child = fork();

        if (child == 0) {
            browse(&wish, browser);
            _exit(0);
        }
        if (child < 0)
            perror("browsers: fork");
    }
    for (int told = 0;;) {
        /* With SA_RESTART, waitpid would not return, but the children need the signal, too. */
        if (enough && !told) {
            told = 1;
            signal(SIGTERM, SIG_IGN);
            kill(0, SIGTERM);
        }
        if (waitpid(-1, NULL, told ? 0 : WNOHANG) < 0)
            break;
        if (!told)
            usleep(10000);
    }
    return report();
}
