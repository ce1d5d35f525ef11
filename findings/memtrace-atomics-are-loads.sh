#!/usr/bin/env bash
# memtrace 0.2.6 (a Valgrind tool in a wheel): atomic updates have no store, and threads no number.
# Guessed: `lock add` is a load and a store of the word, as lackey shows, and each entry or switch
# of threads names the thread. Seen: an MT_LOAD alone for each `lock add`, though later loads see the
# new value; and in the trace of a program with two threads no tag that tells them apart. From such a
# trace nothing is shared: who wrote a word is unknown, and an atomic counter is never written.
set -euo pipefail
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q --disable-pip-version-check memtrace==0.2.6
cat >"$work/count.c" <<'C'
#include <pthread.h>
long counter __attribute__((aligned(64))), plain __attribute__((aligned(64)));
static void *count(void *p)
{
    for (int i = 0; i < 3; i++)
        __sync_fetch_and_add(&counter, 1);
    plain = (long)p;
    return p;
}
int main(void)
{
    pthread_t threads[2];
    for (long i = 0; i < 2; i++)
        pthread_create(&threads[i], 0, count, (void *)(i + 1));
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], 0);
    return 0;
}
C
gcc -O1 -pthread -no-pie -o "$work/count" "$work/count.c"
address() { printf '0x%x' "0x$(nm "$work/count" | awk -v name="$1" '$3 == name { print $1 }')"; }
cd "$work"
venv/bin/memtrace record ./count 2>/dev/null
venv/bin/memtrace report >report.txt
loads=$(grep -c "MT_LOAD uint64_t \[$(address counter)\]" report.txt || true)
stores=$(grep -c "MT_STORE uint64_t \[$(address counter)\]" report.txt || true)
others=$(grep -c "MT_STORE uint64_t \[$(address plain)\]" report.txt || true)
echo "six atomic additions: $loads loads, $stores stores; plain stores of two threads: $others"
venv/bin/memtrace stats 2>/dev/null | awk '{ print $1 }' | paste -sd ' '
[ "$loads" = 6 ]
[ "$stores" = 0 ]
[ "$others" = 2 ]
! venv/bin/memtrace stats 2>/dev/null | grep -i thread
