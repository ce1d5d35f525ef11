/* Which page a browser goes to next: TPC-W's shopping mix, a Markov chain (clause 5.2.2, table of
 * the shopping mix), from random numbers that depend on the seed and the browser alone.
 *
 * The specification writes thresholds from 1 to 9999: a number drawn from these leads to the first
 * page whose threshold is not below it.
 */
#include "browsers.h"

#include <stdio.h>

const struct page_name page_names[PAGES] = {
    [ADMIN_CONFIRM] = {"admin-confirm", "Admin confirm"},
    [ADMIN_REQUEST] = {"admin-request", "Admin request"},
    [BEST_SELLERS] = {"best-sellers", "Best sellers"},
    [BUY_CONFIRM] = {"buy-confirm", "Buy confirm"},
    [BUY_REQUEST] = {"buy-request", "Buy request"},
    [REGISTRATION] = {"customer-registration", "Customer registration"},
    [HOME] = {"home", "Home"},
    [NEW_PRODUCTS] = {"new-products", "New products"},
    [ORDER_DISPLAY] = {"order-display", "Order display"},
    [ORDER_INQUIRY] = {"order-inquiry", "Order inquiry"},
    [PRODUCT_DETAIL] = {"product-detail", "Product detail"},
    [SEARCH_REQUEST] = {"search-request", "Search request"},
    [SEARCH_RESULTS] = {"search-results", "Search results"},
    [SHOPPING_CART] = {"shopping-cart", "Shopping cart"},
};

enum { CERTAIN = 9999, KNOWN_PERCENT = 80, SUBJECTS = 24, COUNTRIES = 92 };

static const uint16_t thresholds[PAGES][PAGES] = {
    [ADMIN_CONFIRM] = {[HOME] = 9952, [SEARCH_REQUEST] = 9999},
    [ADMIN_REQUEST] = {[ADMIN_CONFIRM] = 8999, [HOME] = 9999},
    [BEST_SELLERS] = {[HOME] = 167, [PRODUCT_DETAIL] = 472, [SEARCH_REQUEST] = 9927,
                      [SHOPPING_CART] = 9999},
    [BUY_CONFIRM] = {[HOME] = 84, [SEARCH_REQUEST] = 9999},
    [BUY_REQUEST] = {[BUY_CONFIRM] = 4614, [HOME] = 6546, [SHOPPING_CART] = 9999},
    [REGISTRATION] = {[BUY_REQUEST] = 8666, [HOME] = 8760, [SEARCH_REQUEST] = 9999},
    [HOME] = {[BEST_SELLERS] = 3124, [NEW_PRODUCTS] = 6249, [ORDER_INQUIRY] = 6718,
              [SEARCH_REQUEST] = 7026, [SHOPPING_CART] = 9999},
    [NEW_PRODUCTS] = {[HOME] = 156, [PRODUCT_DETAIL] = 9735, [SEARCH_REQUEST] = 9784,
                      [SHOPPING_CART] = 9999},
    [ORDER_DISPLAY] = {[HOME] = 69, [SEARCH_REQUEST] = 9999},
    [ORDER_INQUIRY] = {[HOME] = 72, [ORDER_DISPLAY] = 8872, [SEARCH_REQUEST] = 9999},
    [PRODUCT_DETAIL] = {[ADMIN_REQUEST] = 58, [HOME] = 832, [PRODUCT_DETAIL] = 1288,
                        [SEARCH_REQUEST] = 8603, [SHOPPING_CART] = 9999},
    [SEARCH_REQUEST] = {[HOME] = 635, [SEARCH_RESULTS] = 9135, [SHOPPING_CART] = 9999},
    [SEARCH_RESULTS] = {[HOME] = 2657, [PRODUCT_DETAIL] = 9294, [SEARCH_REQUEST] = 9304,
                        [SHOPPING_CART] = 9999},
    [SHOPPING_CART] = {[REGISTRATION] = 2585, [HOME] = 9552, [SHOPPING_CART] = 9999},
};

/* SplitMix64 (Steele, Lea and Flood, 2014). */
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* From 1 to `most`. */
static uint32_t number(struct walker *w, uint32_t most)
{
    return 1 + (uint32_t)((draw(&w->chance) >> 32) * most >> 32);
}

struct walker walker_new(uint64_t seed, uint32_t browser, const struct shop *shop)
{
    struct walker w = {.chance = seed << 20 ^ browser, .page = PAGES};

    w.customer = number(&w, shop->customers);
    return w;
}

static enum page next_page(struct walker *w)
{
    const uint32_t drawn = number(w, CERTAIN);

    for (enum page to = 0; w->page < PAGES && to < PAGES; to++)
        if (drawn <= thresholds[w->page][to])
            return to;
    return HOME;
}

const char *walker_next(struct walker *w, const struct shop *shop, char address[200])
{
    uint32_t customer;

    w->page = next_page(w);
    customer = w->customer;
    /* Of those who register, one in five has not been here before. */
    if (w->page == BUY_REQUEST && number(w, 100) > KNOWN_PERCENT)
        customer = 0;
    snprintf(address, 200,
             "/shop.php?page=%s&customer=%u&item=%u&subject=%u&kind=%u&quantity=%u&country=%u",
             page_names[w->page].address, customer, number(w, shop->items), number(w, SUBJECTS),
             number(w, 3), number(w, 3), number(w, COUNTRIES));
    return address;
}
