/* Atomic operations of all sizes and orders; the results are checked, and one variable a size. */
#include <stdatomic.h>
#include <stdio.h>

_Atomic unsigned char a1;
_Atomic unsigned short a2;
_Atomic unsigned a4;
_Atomic unsigned long a8;
_Atomic unsigned __int128 a16;
atomic_long relaxed_only;

#define SIZE(name, type)                                                              \
    static int try_##name(void)                                                       \
    {                                                                                 \
        type expected = 0;                                                            \
        int bad = 0;                                                                  \
                                                                                      \
        atomic_store_explicit(&name, 5, memory_order_release);                        \
        bad += atomic_load_explicit(&name, memory_order_acquire) != 5;                \
        bad += atomic_exchange(&name, 12) != 5;                                       \
        bad += atomic_fetch_add(&name, 3) != 12;                                      \
        bad += atomic_fetch_sub(&name, 1) != 15;                                      \
        bad += atomic_fetch_and(&name, 12) != 14;                                     \
        bad += atomic_fetch_or(&name, 3) != 12;                                       \
        bad += atomic_fetch_xor(&name, 1) != 15;                                      \
        bad += atomic_compare_exchange_strong(&name, &expected, 1) || expected != 14; \
        bad += !atomic_compare_exchange_weak(&name, &expected, 100);                  \
        bad += atomic_load_explicit(&name, memory_order_relaxed) != 100;              \
        return bad;                                                                   \
    }

SIZE(a1, unsigned char)
SIZE(a2, unsigned short)
SIZE(a4, unsigned)
SIZE(a8, unsigned long)
SIZE(a16, unsigned __int128)

int main(void)
{
    unsigned nand;

    printf("%d %d %d %d %d\n", try_a1(), try_a2(), try_a4(), try_a8(), try_a16());
    atomic_thread_fence(memory_order_seq_cst);
    atomic_signal_fence(memory_order_acq_rel);
    for (int i = 0; i < 10; i++)
        atomic_fetch_add_explicit(&relaxed_only, 1, memory_order_relaxed);
    nand = __atomic_fetch_nand((unsigned *)&a4, 6u, __ATOMIC_SEQ_CST);
    printf("%u %u\n", nand, (unsigned)a4);
    return 0;
}
