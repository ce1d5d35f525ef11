/* The emulated browsers: their next requests, and the answers of the shop. */
#ifndef BROWSERS_H
#define BROWSERS_H

#include <stdint.h>

/* The web interactions of TPC-W (clause 2), in the order of the matrix in walk.c. */
enum page {
    ADMIN_CONFIRM, ADMIN_REQUEST, BEST_SELLERS, BUY_CONFIRM, BUY_REQUEST, REGISTRATION, HOME,
    NEW_PRODUCTS, ORDER_DISPLAY, ORDER_INQUIRY, PRODUCT_DETAIL, SEARCH_REQUEST, SEARCH_RESULTS,
    SHOPPING_CART, PAGES
};

/* The name of an interaction in addresses, and the title of its page. */
struct page_name {
    const char *address, *title;
};

extern const struct page_name page_names[PAGES];

struct shop {
    uint32_t items, customers;
};

struct walker {
    uint64_t chance;
    uint32_t customer;
    enum page page;
};

/* A browser at the beginning of its session, before the home page. */
struct walker walker_new(uint64_t seed, uint32_t number, const struct shop *shop);

/* Goes to the next page; returns its address, of at most 200 letters. */
const char *walker_next(struct walker *w, const struct shop *shop, char address[200]);

enum { BODY_MAX = 1 << 20 };

struct answer {
    int status;
    long length;
    char type[64];
    char body[BODY_MAX + 1];
};

/* A connection to the shop, made when needed and after the shop has closed it. */
struct visit {
    int port, socket;
    uint32_t browser;
    long start, end;
    char buffer[1 << 14];
};

/* Requests an address; 0 if there was no answer. */
int visit_get(struct visit *v, const char *address, struct answer *a);
void visit_end(struct visit *v);

#endif
