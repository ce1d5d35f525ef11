//! Separate debug files, of which only the units that are asked about are read.

use std::path::{Path, PathBuf};
use std::process::Command;

use homenode_symbol::{StackFrame, Symbolizer};
use tempfile::TempDir;

/// With the inlined function of a header, in two units.
const FIRST: &str = "\
#include \"shared.h\"
int second(int);
void third(void);
struct pair { int left, right; } pairs[4];
int main(void)
{
    volatile struct pair local = { 1, 2 };
    pairs[1].left = twice(local.left);
    third();
    return second(3);
}
";
const SECOND: &str = "\
#include \"shared.h\"
__attribute__((noinline)) int second(int x)
{
    int more[4] = { x };
    return twice(more[x & 3]);
}
";
const SHARED: &str = "\
static volatile int doubled;
static inline __attribute__((always_inline)) int twice(int x)
{
    doubled = x;
    return 2 * doubled;
}
";
const THIRD: &str =
    ".globl third\n.type third,@function\nthird: ret\n.Lend: .size third, .-third\n";

/// What follows [`THIRD`] to describe it: a unit with as many nested inlined functions as its
/// second argument says, of a version as the first one says.
const DESCRIPTION: &str = "
.section .debug_abbrev,\"\",@progbits
.Labbreviations: .byte 1,0x11,1,0x11,1,0x12,7,0,0,2,0x2e,1,0x11,1,0x12,7,0,0,3,0x1d,1,0,0,0
.section .debug_info,\"\",@progbits
.Lunit: .4byte .Lunit_end-.Lunit_start
.Lunit_start: .2byte VERSION
.4byte .Labbreviations
.byte 8,1
.8byte third,.Lend-third
.byte 2
.8byte third,.Lend-third
.fill DEPTH,1,3
.fill DEPTH+2,1,0
.Lunit_end:
";

/// Like [`DESCRIPTION`], but the function has its name from an entry at the place in the section
/// where both this unit and the first one have their outermost entry.
const NAMED_ELSEWHERE: &str = "
.section .debug_abbrev,\"\",@progbits
.Labbreviations: .byte 1,0x11,1,3,8,0x11,1,0x12,7,0,0,2,0x2e,0,0x31,0x10,0x11,1,0x12,7,0,0,0
.section .debug_info,\"\",@progbits
.Lunit: .4byte .Lunit_end-.Lunit_start
.Lunit_start: .2byte 5
.byte 1,8
.4byte .Labbreviations
.byte 1
.asciz \"not this one\"
.8byte third,.Lend-third
.byte 2
.4byte 12
.8byte third,.Lend-third
.byte 0
.Lunit_end:
";

/// The set of addresses of the unit.
const ADDRESSES: &str = "
.section .debug_aranges,\"\",@progbits
.4byte .Lset_end-.Lset_start
.Lset_start: .2byte 2
.4byte .Lunit
.byte 8,0,0,0,0,0
.8byte third,.Lend-third,0,0
.Lset_end:
";

const DEBUG_LINK: &str = "program.debug";

/// A stripped program and the file with its debug information.
struct Split {
    dir: TempDir,
    debug: PathBuf,
}

fn run(dir: &Path, tool: &str, arguments: &[&str]) -> Option<()> {
    let ran = Command::new(tool).current_dir(dir).args(arguments).output();
    let done = ran.as_ref().is_ok_and(|ran| ran.status.success());
    if !done {
        eprintln!("skipped: {tool} {arguments:?}: {ran:?}");
    }
    done.then_some(())
}

/// Compiles the program with a description of the third unit, and moves its debug information to a
/// file of its own; `None`, with the reason on standard error, where the tools are missing.
fn split(flags: &[&str], description: &str) -> Option<Split> {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path().to_owned();
    let write = |name: &str, text: &str| std::fs::write(at.join(name), text).unwrap();
    write("first.c", FIRST);
    write("second.c", SECOND);
    write("shared.h", SHARED);
    write("third.s", &format!("{THIRD}{description}\n.section .note.GNU-stack,\"\",@progbits\n"));
    let sources = ["first.c", "second.c", "third.s", "-o", "program"];
    run(&at, "cc", &[&["-g", "-O1"], flags, &sources].concat())?;
    let split = Split { debug: at.join(DEBUG_LINK), dir };
    split.strip()?;
    Some(split)
}

impl Split {
    fn open(&self) -> Symbolizer {
        let none = self.dir.path().join("none");
        Symbolizer::open_with(self.dir.path().join("program"), none).unwrap()
    }

    /// Moves the program's debug information.
    fn strip(&self) -> Option<()> {
        run(self.dir.path(), "objcopy", &["--only-keep-debug", "program", DEBUG_LINK])?;
        self.link(&["--strip-all"])
    }

    /// Changes the debug file, and renews the program's link to it.
    fn change(&self, how: &str) -> Option<()> {
        run(self.dir.path(), "objcopy", &[how, DEBUG_LINK])?;
        self.link(&["--remove-section=.gnu_debuglink"])
    }

    fn link(&self, how: &[&str]) -> Option<()> {
        run(self.dir.path(), "objcopy", &[how, &["program"]].concat())?;
        let link = format!("--add-gnu-debuglink={DEBUG_LINK}");
        run(self.dir.path(), "objcopy", &[&link, "program"])
    }
}

/// Functions, whose names are in the symbol table too, a line that is not, a variable and a field.
const NAMES: &[&str] = &["main", "second", "twice", "second.c", "more", "left"];

/// Answers to all questions about each of the addresses.
fn answers(symbolizer: &Symbolizer, addresses: &[u64]) -> Vec<String> {
    let frame = StackFrame { sp: 0x1000, fp: 0x1ff0, cfa: 0x2000 };
    let all = |&addr: &u64| {
        let frames = symbolizer.frames(addr);
        let types = symbolizer.allocation_frames(addr);
        format!("{addr:#x}: {frames:?} {types:?} {:?}", symbolizer.locals(addr, frame))
    };
    let last = format!("{:?}", symbolizer.static_types());
    addresses.iter().map(all).chain([last]).collect()
}

/// The answers of a file read by units are those of the file read as a whole, which have `names`.
fn check_equal(split: &Split, what: &str, names: &[&str]) {
    let whole = Symbolizer::parse(&std::fs::read(&split.debug).unwrap()).unwrap();
    let starts: Vec<u64> = whole.function_addresses().collect();
    let code: Vec<u64> = starts.iter().flat_map(|&start| start - 8..start + 80).collect();
    let expected = answers(&whole, &code);
    for name in names {
        assert!(expected.iter().any(|answer| answer.contains(name)), "{what}: no {name}");
    }
    let parts = split.open();
    assert_eq!(parts.debug_file(), Some(&*split.debug), "{what}: {:?}", parts.refused());
    // One address alone, then all in both orders: what is known already must not matter.
    for &addr in starts.iter().step_by(7) {
        assert_eq!(split.open().frames(addr), whole.frames(addr), "{what}");
    }
    assert_eq!(answers(&parts, &code), expected, "{what}");
    let backwards: Vec<u64> = code.iter().rev().copied().collect();
    assert_eq!(answers(&split.open(), &backwards), answers(&whole, &backwards), "{what}");
    assert!(parts.refused().is_empty(), "{what}: {:?}", parts.refused());
}

fn described(version: u32, depth: u32) -> String {
    let unit = DESCRIPTION.replace("VERSION", &version.to_string());
    unit.replace("DEPTH", &depth.to_string()) + ADDRESSES
}

#[test]
fn units_alone_answer_as_all_of_them() {
    for flags in [&[][..], &["-gdwarf-4", "-no-pie"], &["-gdwarf-5", "-ffunction-sections"]] {
        let Some(split) = split(flags, &described(4, 3)) else { return };
        check_equal(&split, &format!("{flags:?}"), NAMES);
        for format in ["zlib", "zstd"] {
            let compress = format!("--compress-debug-sections={format}");
            if split.change(&compress).is_some() {
                check_equal(&split, &format!("{flags:?} {format}"), NAMES);
            }
        }
    }
}

/// `.debug_aranges` may be absent, or have no set for some unit.
#[test]
fn units_without_address_ranges_are_found() {
    let Some(split) = split(&[], "") else { return };
    check_equal(&split, "no description of the third unit", NAMES);
    split.change("--remove-section=.debug_aranges").unwrap();
    check_equal(&split, "no ranges", NAMES);

    let at = split.dir.path();
    run(at, "cc", &["-g", "-O1", "-c", "first.c", "second.c", "third.s"]).unwrap();
    run(at, "objcopy", &["--remove-section=.debug_aranges", "second.o"]).unwrap();
    run(at, "cc", &["first.o", "second.o", "third.o", "-o", "program"]).unwrap();
    split.strip().unwrap();
    check_equal(&split, "no ranges of one unit", NAMES);
}

/// Units that refer to others, as link-time optimisation makes them.
#[test]
fn units_that_refer_to_others_answer_as_all_of_them() {
    let Some(split) = split(&["-flto"], "") else { return };
    check_equal(&split, "-flto", &NAMES[..4]);
    let description = NAMED_ELSEWHERE.to_owned() + ADDRESSES;
    let Some(split) = self::split(&["-gdwarf-5"], &description) else { return };
    check_equal(&split, "a name elsewhere", &["\"first.c\""]);
}

fn function(symbolizer: &Symbolizer, name: &str) -> u64 {
    let named = |&addr: &u64| symbolizer.frames(addr).last().is_some_and(|f| f.function == name);
    symbolizer.function_addresses().find(named).expect("the symbol table has it")
}

/// A unit that must not be read is refused once it is asked about; others have their lines.
#[test]
fn a_bad_unit_spoils_only_its_own_answers() {
    let whole = "nested more than 512 deep";
    for (description, reason) in [
        (described(4, 100_000), whole),
        (described(99, 3), "the debug information"),
        (described(4, 3).replace(".4byte .Lunit\n", ".4byte 0x7fffff00\n"), "are needed"),
    ] {
        let Some(split) = split(&[], &description) else { return };
        let bytes = std::fs::read(&split.debug).unwrap();
        if let Err(error) = Symbolizer::parse(&bytes) {
            assert!(error.to_string().contains(reason), "{error}");
        }
        let found = split.open();
        assert_eq!(found.debug_file(), Some(&*split.debug));
        assert!(found.refused().is_empty(), "nothing was asked: {:?}", found.refused());
        let (main, second) = (function(&found, "main"), function(&found, "second"));
        assert_eq!(found.line(main).unwrap().line, 6);
        let third = found.line(function(&found, "third")).unwrap();
        assert_eq!((third.file.as_str(), third.line), ("", 0), "from the symbol table");
        let said = found.refused().iter().map(ToString::to_string).collect::<Vec<_>>();
        assert!(said.len() == 1 && said[0].contains(reason), "{said:?}");
        assert!(said[0].contains(DEBUG_LINK), "{said:?}");
        assert_eq!(found.line(second).unwrap().line, 4, "after the damage was found");
    }
}
