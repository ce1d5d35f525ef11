//! Types: fields of static variables, and what allocations are for.

use crate::support::compile_source;
use homenode_symbol::{DataField, Symbolizer};

const PROGRAM: &str = "\
#include <stdlib.h>
struct point { double x, y; };
struct tally { long hits; struct point at; struct { int first, second; } pair[3]; };
union mixed { int whole; float part; };
struct flags {
    unsigned low : 3; unsigned high : 5; char text[6]; union mixed either; struct tally *next;
};
struct tally tallies[4];
struct flags flags;
double plain[8];
struct tally *kept;
void *volatile sink;
__attribute__((noinline)) void *checked_alloc(size_t n) { return sink = malloc(n); }
__attribute__((noinline)) struct tally *typed(void) { return sink = malloc(8); }
__attribute__((noinline)) void *thread(void *argument) { sink = malloc(8); return argument; }
__attribute__((noinline)) char *copy_dup(char *text) { sink = malloc(4); return text; }
int main(int argc, char **argv)
{
    struct tally *mine = checked_alloc(sizeof *mine);
    kept = checked_alloc(argc * sizeof(struct tally));
    flags.next = (struct tally *)checked_alloc(64 + sizeof(struct tally));
    void *raw = checked_alloc(100);
    typed();
    thread(raw);
    return copy_dup(argv[0]) == (char *)mine;
}
";

fn symbolizer(flags: &[&str]) -> Option<Symbolizer> {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let program = compile_source(dir.path(), PROGRAM, flags)?;
    Some(Symbolizer::open(program).expect("what the compiler wrote can be read"))
}

/// The first address of a function whose innermost frame is on a line.
fn address(symbolizer: &Symbolizer, function: &str, line: u32) -> u64 {
    let start = symbolizer
        .function_addresses()
        .find(|&addr| symbolizer.line(addr).is_some_and(|found| found.function == function))
        .expect("the function has an address");
    (start..start + 512)
        .find(|&addr| symbolizer.line(addr).is_some_and(|found| found.line == line))
        .expect("the line has an address")
}

#[test]
fn static_variables_have_fields() {
    for flags in [&["-g", "-O0"][..], &["-g", "-O2", "-gdwarf-4"]] {
        let Some(symbolizer) = symbolizer(flags) else { return };
        let types = symbolizer.static_types();
        let of = |name: &str| {
            let symbol = symbolizer.data_symbols().into_iter().find(|s| s.name == name).unwrap();
            types.iter().find(|(addr, _)| *addr == symbol.addr).map(|(_, data)| data.clone())
        };
        let tally = of("tallies").unwrap();
        assert_eq!((tally.name.as_str(), tally.size), ("tally", 48));
        let field = |offset, size, name: &str, repeats| DataField {
            offset,
            size,
            name: name.to_owned(),
            repeats,
        };
        let expected = [
            field(0, 8, "hits", (0, 0)),
            field(8, 8, "at.x", (0, 0)),
            field(16, 8, "at.y", (0, 0)),
            field(24, 4, "pair[].first", (3, 8)),
            field(28, 4, "pair[].second", (3, 8)),
        ];
        assert_eq!(tally.fields, expected);
        let names: Vec<String> =
            of("flags").unwrap().fields.into_iter().map(|field| field.name).collect();
        assert_eq!(names, ["high", "low", "text", "either", "next"]);
        assert_eq!(of("plain"), None, "a type without fields");
    }
}

#[test]
fn wrappers_of_the_allocator_pass_memory_on() {
    let Some(symbolizer) = symbolizer(&["-g", "-O1"]) else { return };
    let passes_on = |function: &str| {
        let start = symbolizer
            .function_addresses()
            .find(|&addr| symbolizer.line(addr).is_some_and(|found| found.function == function));
        symbolizer.allocation_frames(start.unwrap()).last().unwrap().passes_on
    };
    assert!(passes_on("checked_alloc"));
    assert!(passes_on("copy_dup"));
    assert!(!passes_on("typed"));
    assert!(!passes_on("thread"), "it takes no size");
    assert!(!passes_on("main"));
}

#[test]
fn a_line_says_what_it_allocates_or_nothing() {
    let Some(symbolizer) = symbolizer(&["-g", "-O0"]) else { return };
    let text = |line: u32| PROGRAM.lines().nth(line as usize - 1).unwrap();
    let allocated = |line: u32, text: &str| {
        let mut all = symbolizer.allocated_type(address(&symbolizer, "main", line), 0, text);
        let found = all.pop()?;
        assert!(all.is_empty() && found.name.is_empty());
        Some((found.data.name, found.several))
    };
    let tally = |several| Some(("tally".to_owned(), several));
    assert_eq!(allocated(19, text(19)), tally(true));
    assert_eq!(allocated(20, text(20)), tally(true));
    assert_eq!(allocated(21, text(21)), tally(false), "something else is behind it");
    assert_eq!(allocated(22, text(22)), None);
    assert_eq!(allocated(19, ""), tally(false), "the variable that is declared there");
    assert_eq!(allocated(20, ""), None);
    let contradiction = "mine = checked_alloc(sizeof(struct point));";
    assert_eq!(allocated(19, contradiction), None);
    assert_eq!(allocated(19, "mine = checked_alloc(n); // sizeof(struct point)"), tally(true));
}
