/* Where the numbers of simple are, and who has which rows.
 *
 * Row after row, and a band of adjacent rows to each thread; or, for simple-columns, column after
 * column, and rows dealt out like cards. The choice is made when the program is compiled, so that
 * it costs no references. Included by simple.h, after options and sizes.
 */
#ifndef SIMPLE_LAYOUT_H
#define SIMPLE_LAYOUT_H

INLINED size_t node_at(size_t row, size_t col)
{
    return BY_COLUMNS ? col * nodes + row : row * nodes + col;
}

INLINED size_t zone_at(size_t row, size_t col)
{
    return BY_COLUMNS ? col * size + row : row * size + col;
}

/* How far apart neighbours in a row of nodes, or of zones, are in the arrays and in `lines`. */
INLINED size_t node_apart(void)
{
    return BY_COLUMNS ? nodes : 1;
}

INLINED size_t zone_apart(void)
{
    return BY_COLUMNS ? size : 1;
}

/* The rows or columns of a worker, of `count`: from `first` on, each `step`, before `end`. */
struct share {
    unsigned first, end, step;
};

INLINED struct share share_of(unsigned id, unsigned count)
{
    if (BY_COLUMNS)
        return (struct share){id, count, o.threads};
    return (struct share){first_of(id, o.threads, count), first_of(id + 1, o.threads, count), 1};
}

#endif
