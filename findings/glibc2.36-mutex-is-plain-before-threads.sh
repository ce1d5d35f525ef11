#!/usr/bin/env bash
# glibc 2.36: pthread_mutex_lock is a load and a store until the program makes its first thread.
# Guessed: an atomic compare-exchange of the mutex's word each time, since another thread may run, and
# an atomic update or exchange to unlock.
# Seen (lackey of Valgrind 3.19): before pthread_create the word is loaded and stored, and stored
# again to unlock. Afterwards, in the same program with the same mutex, both are atomic updates (M),
# also once the thread has been joined. So a trace of a run with one thread says nothing about the
# atomics of a run with two.
command -v gcc >/dev/null || { echo "needs gcc"; exit 2; }
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root 'libc6=2.36-9+deb12u*' valgrind=1:3.19.0-1
for package in *.deb; do dpkg -x "$package" .; done
cat >mutex.c <<'C'
#include <pthread.h>
#include <stdio.h>
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static volatile int mark;
static void *nothing(void *p) { return p; }
int main(void)
{
    fprintf(stderr, "addresses %p %p\n", (void *)&mutex, (void *)&mark);
    mark = 1;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    mark = 2;
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
    mark = 3;
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    mark = 4;
    return 0;
}
C
gcc -O1 -no-pie -pthread -o mutex mutex.c
export VALGRIND_LIB=$work/usr/libexec/valgrind
usr/bin/valgrind --tool=lackey --trace-mem=yes lib/x86_64-linux-gnu/ld-linux-x86-64.so.2 \
  --library-path lib/x86_64-linux-gnu ./mutex >trace 2>&1
read -r mutex mark < <(sed -n 's/^addresses 0x\([0-9a-f]*\) 0x\([0-9a-f]*\)$/\1 \2/p' trace)
# The accesses to the mutex's first word in each part of the program that a store to `mark` ends.
parts=$(awk -v word="$mutex,4" -v mark="$mark,4" '
  { sub(/^0*/, "", $2) }
  $1 == "S" && $2 == mark { printf "%s ", part == "" ? "-" : part; part = "" }
  $1 ~ /^[LSM]$/ && $2 == word { part = part $1 }' trace)
echo "before, with one thread, meanwhile, after the thread: $parts"
[ "$parts" = "- LSS - MLM " ]
