// kind: wide and odd types
// expect: shape written=12 read=1200
// expect O0: shape written=20 read=1200
// compile: gcc clang; O0 O2
// why: 8 bytes of vptr and 4 of side are written once; each of 100 calls reads both once.
// At -O0 the constructor of the base stores its own vptr first.
#include "truth.h"

struct Shape {
    virtual int area() const = 0;
};

struct Square : Shape {
    explicit Square(int of) : side(of) {}
    int area() const override;
    int side;
};

NOINLINE int Square::area() const
{
    return 3 * side;
}

NOINLINE int area(const Shape *of)
{
    return of->area();
}

NOINLINE Shape *make(int side)
{
    return new Square(side);
}

int main()
{
    Shape *shape = make(3);
    int sum = 0;

    announce("shape", shape, sizeof(Square));
    for (int i = 0; i < 100; i++)
        sum += area(shape);
    return sum != 900;
}
