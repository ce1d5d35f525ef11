#!/usr/bin/env bash
# clang 14.0.6: with -fno-integrated-as, -ftime-trace writes under a random name in TMPDIR.
# Guessed: out.json beside out.o, as without -fno-integrated-as, or no file.
# Seen: the trace is named after the temporary assembly file, which is deleted; the trace stays in
# TMPDIR, one more for each compilation, and its name does not tell the object or the source's folder.
# A build that collects `*.json` beside its objects finds nothing. The same was seen with clang 16, 19.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq -o APT::Sandbox::User=root clang-14=1:14.0.6-12 \
  libclang-cpp14=1:14.0.6-12 libllvm14=1:14.0.6-12 binutils-x86-64-linux-gnu=2.40-2 \
  libbinutils=2.40-2 libctf0=2.40-2 libctf-nobfd0=2.40-2 libedit2 libbsd0 libmd0 libz3-4 libxml2 \
  libicu72 libffi8 libjansson4
for package in *.deb; do dpkg -x "$package" .; done
ln -sf x86_64-linux-gnu-as usr/bin/as
clang14() {
  LD_LIBRARY_PATH=$work/usr/lib/llvm-14/lib:$work/usr/lib/x86_64-linux-gnu PATH=$work/usr/bin:$PATH \
    "$work/usr/bin/clang-14" -B "$work/usr/bin" "$@"
}
mkdir build temporary
export TMPDIR=$work/temporary
echo 'int load(int *p) { return *p; }' >name.c
compile() { clang14 -O1 -ftime-trace -c -o build/out.o "$@" name.c; }
found() { find build temporary -type f | sort | sed 's/-[0-9a-f]\{6\}\./-XXXXXX./'; }
compile
found
[ "$(found | paste -sd ' ')" = "build/out.json build/out.o" ]
rm build/*
compile -fno-integrated-as
compile -fno-integrated-as
found
[ "$(find build -type f)" = build/out.o ]
[ "$(find temporary -name '*.json' | wc -l)" = 2 ]
[ -z "$(find temporary -name '*.s')" ]
grep -q traceEvents temporary/*.json
