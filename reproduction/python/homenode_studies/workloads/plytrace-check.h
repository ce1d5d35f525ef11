/* The check of plytrace: every triangle of the last frame without tiles or lists. It uses the types
 * of the program, its input and what it computes. */
#ifndef PLYTRACE_CHECK_H
#define PLYTRACE_CHECK_H

/* What shows at a pixel, and what is right behind it. */
struct depth {
    double near, behind, grey;
};

/* Is x y in the triangle? If so, gives the weights of its corners. Ties as in drawing. */
static UNRECORDED bool covers(const struct corner c[3], int32_t x, int32_t y, double weight[3])
{
    int64_t whole = area(c[0], c[1].x, c[1].y, c[2].x, c[2].y);
    for (unsigned k = 0; k < 3; k++) {
        const struct corner *a = &c[(k + 1) % 3], *b = &c[(k + 2) % 3];
        int64_t side_of = area(*a, b->x, b->y, x, y);
        bool counts = b->y < a->y || (b->y == a->y && b->x > a->x);
        if (whole <= 0 || side_of < 0 || (side_of == 0 && !counts))
            return false;
        weight[k] = (double)side_of / (double)whole;
    }
    return true;
}

static UNRECORDED void show(struct depth *image, const struct corner c[3], double grey)
{
    for (int32_t row = smaller(smaller(c[0].y, c[1].y), c[2].y) / SUB - 1; row < side; row++) {
        if (row * SUB > larger(larger(c[0].y, c[1].y), c[2].y))
            break;
        for (int32_t col = smaller(smaller(c[0].x, c[1].x), c[2].x) / SUB - 1; col < side; col++) {
            double w[3];
            if (col * SUB > larger(larger(c[0].x, c[1].x), c[2].x))
                break;
            if (row < 0 || col < 0 || !covers(c, col * SUB + SUB / 2, row * SUB + SUB / 2, w))
                continue;
            double near = w[0] * c[0].near + w[1] * c[1].near + w[2] * c[2].near;
            double light = w[0] * c[0].light + w[1] * c[1].light + w[2] * c[2].light;
            struct depth *at = &image[row * side + col];
            if (near > at->near)
                *at = (struct depth){near, at->near, grey * light};
            else if (near > at->behind)
                at->behind = near;
        }
    }
}

/* Shows every triangle of the last frame, without lists or tiles; counts pixels that differ. */
static UNRECORDED uint64_t wrong_pixels(void)
{
    struct depth *image = allocated(calloc((size_t)(side * side), sizeof *image));
    uint64_t wrong = 0;
    for (unsigned b = 0; b < BALLS; b++)
        for (unsigned index = 0; index < polygons; index++) {
            unsigned corner[3];
            struct corner c[3];
            corners_of(index, corner);
            for (unsigned k = 0; k < 3; k++)
                c[k] = seen(balls[b].centre, balls[b].radius, direction(corner[k]),
                            o.iterations - 1);
            show(image, c, balls[b].grey);
        }
    for (int32_t at = 0; at < side * side; at++) {
        bool clear = image[at].near <= 0 || image[at].near - image[at].behind > 1e-5;
        wrong += clear && !(fabs(image[at].grey - 0.5 - picture[at]) < 0.6);
    }
    size_t pixel = 0;
    for (size_t at = 0; at < packed_size; at += 2)
        for (unsigned left = packed[at]; left > 0; left--, pixel++)
            wrong += picture[pixel] != packed[at + 1];
    free(image);
    return wrong + (pixel != (size_t)(side * side));
}

static UNRECORDED uint64_t checksum(void)
{
    uint64_t sum = CHECKSUM_START;
    for (int32_t at = 0; at < side * side; at++)
        sum = mix(sum, picture[at]);
    return sum;
}

#endif
