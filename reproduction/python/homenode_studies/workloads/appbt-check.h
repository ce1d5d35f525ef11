/* The check of appbt: the same steps by one thread, derivatives by differences, lines as banded
 * systems without blocks. It uses no memset(), which would be recorded. */
#ifndef APPBT_CHECK_H
#define APPBT_CHECK_H

/* Fields of the check are row by row. */
static UNRECORDED size_t row_at(size_t x, size_t y, size_t z)
{
    return ((x * size + y) * size + z) * UNKNOWNS;
}

/* Distance in a field of neighbours in direction `d`. */
static UNRECORDED size_t stride_of(int d)
{
    return d == 0 ? row_at(1, 0, 0) : d == 1 ? row_at(0, 1, 0) : row_at(0, 0, 1);
}

/* The number in an array of the program that is at `at` in a field. */
static UNRECORDED double number_of(const double *array, size_t at)
{
    const size_t point = at / UNKNOWNS;
    const size_t x = point / size / size, y = point / size % size, z = point % size;
    return array[point_at(x, y, z) + at % UNKNOWNS];
}

static UNRECORDED void block_again(double *block, const double *q, int d, double along,
                                   double across)
{
    const double nudge = 1e-5;
    for (size_t column = 0; column < UNKNOWNS; column++) {
        double shifted[UNKNOWNS], sum[UNKNOWNS] = {0};
        memcpy(shifted, q, sizeof shifted);
        shifted[column] = q[column] + nudge;
        add_fluxes(sum, shifted, d, along, across);
        shifted[column] = q[column] - nudge;
        add_fluxes(sum, shifted, d, -along, -across);
        for (size_t row = 0; row < UNKNOWNS; row++)
            block[row * UNKNOWNS + column] = sum[row] / (2 * nudge);
    }
}

/* Solves the line's system in `band`, whose rows have BAND numbers to either side of the diagonal
 * and the right side after them. */
static UNRECORDED void solve_band(double *band, size_t rows)
{
    const size_t width = 2 * BAND + 2;
    for (size_t pivot = 0; pivot < rows; pivot++)
        for (size_t row = pivot + 1; row < rows && row <= pivot + BAND; row++) {
            double *to = band + row * width + pivot + BAND - row;
            const double *from = band + pivot * width + BAND;
            double factor = to[0] / from[0];
            for (size_t k = 0; k <= BAND; k++)
                to[k] -= factor * from[k];
            band[row * width + width - 1] -= factor * band[pivot * width + width - 1];
        }
    for (size_t row = rows; row-- > 0;) {
        double *right = &band[row * width + width - 1];
        for (size_t k = 1; k <= BAND && row + k < rows; k++)
            *right -= band[row * width + BAND + k] * band[(row + k) * width + width - 1];
        *right /= band[row * width + BAND];
    }
}

/* The number of the line's system that is in `row` and `column`, without walls. */
static UNRECORDED double number_at(double blocks[3][BLOCK], size_t row, size_t column)
{
    const size_t p = row / UNKNOWNS, q = column / UNKNOWNS, rows = (size - 2) * UNKNOWNS;
    if (column >= rows || q + 1 < p || q > p + 1) /* also if it would be before the first */
        return 0;
    return blocks[q + 1 - p][row % UNKNOWNS * UNKNOWNS + column % UNKNOWNS] + (row == column);
}

static UNRECORDED void line_again(const double *field, double *delta, size_t first, int d,
                                  double *band)
{
    const double last = (double)size - 1, along = step * last / 2, across = step * last * last;
    const size_t stride = stride_of(d), rows = (size - 2) * UNKNOWNS, width = 2 * BAND + 2;
    double blocks[3][BLOCK]; /* of the point before, the point itself, the one after */
    for (size_t row = 0; row < rows; row++) {
        const size_t at = first + row / UNKNOWNS * stride;
        for (size_t side = 0; side < 3 && row % UNKNOWNS == 0; side++)
            block_again(blocks[side], field + at + side * stride - stride, d,
                        side == 1 ? 0 : side == 0 ? -along : along,
                        side == 1 ? 2 * across : -across);
        for (size_t k = 0; k + 1 < width; k++)
            band[row * width + k] = number_at(blocks, row, row + k - BAND);
        band[row * width + width - 1] = delta[at + row % UNKNOWNS];
    }
    solve_band(band, rows);
    for (size_t row = 0; row < rows; row++)
        delta[first + row / UNKNOWNS * stride + row % UNKNOWNS] = band[row * width + width - 1];
}

/* First point within the walls of line `number` in direction `d`. */
static UNRECORDED size_t line_at(size_t number, int d)
{
    size_t a = 1 + number / (size - 2), b = 1 + number % (size - 2);
    return d == 0 ? row_at(1, a, b) : d == 1 ? row_at(a, 1, b) : row_at(a, b, 1);
}

static UNRECORDED void step_again(double *field, double *delta, double *band)
{
    const size_t inner = size - 2;
    for (size_t k = 0; k < inner * inner * inner; k++) {
        size_t at = line_at(k / inner, 2) + k % inner * UNKNOWNS;
        const double *beside[DIRECTIONS][2];
        double rates[UNKNOWNS];
        for (int d = 0; d < DIRECTIONS; d++) {
            beside[d][0] = field + at - stride_of(d);
            beside[d][1] = field + at + stride_of(d);
        }
        find_rates(rates, field + at, beside);
        for (size_t j = 0; j < UNKNOWNS; j++)
            delta[at + j] = step * (rates[j] + number_of(force, at + j));
    }
    for (int d = 0; d < DIRECTIONS; d++)
        for (size_t line = 0; line < inner * inner; line++)
            line_again(field, delta, line_at(line, d), d, band);
    for (size_t at = 0; at < row_at(size, 0, 0); at++)
        field[at] += delta[at];
}

/* Counts the unknowns that differ. */
static UNRECORDED uint64_t wrong_unknowns(void)
{
    size_t count = row_at(size, 0, 0), band = (size - 2) * UNKNOWNS * (2 * BAND + 2);
    double *field = allocated(calloc(2 * count + band, sizeof *field));
    uint64_t wrong = 0;
    for (size_t at = 0; at < count; at++) {
        size_t point = at / UNKNOWNS;
        field[at] = start_at(point / size / size, point / size % size, point % size, at % UNKNOWNS);
    }
    for (unsigned number = 0; number < o.iterations; number++)
        step_again(field, field + count, field + 2 * count);
    for (size_t at = 0; at < count; at++)
        wrong += !(fabs(field[at] - number_of(unknowns, at)) < 1e-9);
    free(field);
    return wrong;
}

/* Over rounded values, so that it is the same with every compiler. */
static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (size_t at = 0; at < row_at(size, 0, 0); at++)
        sum = mix(sum, (uint64_t)(int64_t)floor(number_of(unknowns, at) * 16777216 + 0.5));
    return sum;
}

#endif
