// kind: read, change, write
// expect: value written=8 read=800
// compile: gcc clang; O0 O2
// why: the value of a std::map's node is stored once and looked up 100 times.
#include "truth.h"
#include <map>

NOINLINE long look(const std::map<int, long> &in, int key)
{
    return in.find(key)->second;
}

NOINLINE void store(long &to, long value)
{
    to = value;
}

int main()
{
    std::map<int, long> values;
    long &value = values[7], sum = 0;

    announce("value", &value, sizeof value);
    count_from_here();
    store(value, 5);
    for (int i = 0; i < 100; i++) {
        barrier();
        sum += look(values, 7);
    }
    bool wrong = sum != 500;

    count_to_here();
    return wrong;
}
