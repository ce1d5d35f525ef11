// kind: atomic operations
// expect: object written=0 read=800
// compile: gcc clang; O0 O2
// why: a long made by make_shared is read 100 times through the pointer.
#include "truth.h"
#include <memory>

NOINLINE long look(const std::shared_ptr<long> &at)
{
    return *at;
}

int main()
{
    auto shared = std::make_shared<long>(5);
    long sum = 0;

    announce("object", shared.get(), sizeof(long));
    count_from_here();
    for (int i = 0; i < 100; i++) {
        barrier();
        sum += look(shared);
    }
    bool wrong = sum != 500;

    count_to_here();
    return wrong;
}
