//! Debug information in a separate file, made by binutils as in distributions.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::support::compile;
use homenode_symbol::{SymbolError, Symbolizer};

/// A stripped program and the file with its debug information.
struct Split {
    _dir: tempfile::TempDir,
    program: PathBuf,
    debug: PathBuf,
    /// Where debug information would be installed.
    folder: PathBuf,
}

/// Compiles and splits; `None`, with the reason on standard error, where the tools are missing.
fn split(flags: &[&str], linked: bool) -> Option<Split> {
    let dir = tempfile::tempdir().expect("a temporary folder can be made");
    let program = compile(dir.path(), &[&["-g", "-O1"], flags].concat())?;
    let debug = dir.path().join("program.debug");
    objcopy(&["--only-keep-debug"], &program, &debug)?;
    let link = format!("--add-gnu-debuglink={}", debug.display());
    let strip = if linked { vec!["--strip-all", &link] } else { vec!["--strip-all"] };
    objcopy(&strip, &program, &program)?;
    let folder = dir.path().join("installed");
    Some(Split { _dir: dir, program, debug, folder })
}

fn objcopy(flags: &[&str], from: &Path, to: &Path) -> Option<()> {
    match Command::new("objcopy").args(flags).arg(from).arg(to).status() {
        Ok(status) if status.success() => Some(()),
        other => {
            eprintln!("skipped: objcopy {flags:?}: {other:?}");
            None
        }
    }
}

impl Split {
    fn open(&self) -> Symbolizer {
        Symbolizer::open_with(&self.program, &self.folder).expect("the program can be read")
    }

    /// Moves the debug information to a place under the folder or beside the program.
    fn install(&self, place: &Path) {
        let folder = place.parent().expect("a place in a folder");
        std::fs::create_dir_all(folder).expect("a temporary folder can be made");
        std::fs::rename(&self.debug, place).expect("a file moves within its file system");
    }
}

/// Where a debug package installs, by the identifier that the test gives its program.
const ID: &str = "-Wl,--build-id=0xabcdef0102";
const BY_ID: &str = ".build-id/ab/cdef0102.debug";

fn line_of_main(symbolizer: &Symbolizer) -> Option<u32> {
    let starts = symbolizer.function_addresses().filter_map(|addr| symbolizer.line(addr));
    starts.into_iter().find(|line| line.function == "main").map(|line| line.line)
}

/// Where `main` is in the file, from the debug information before it is installed.
fn main_of(split: &Split) -> u64 {
    let whole = Symbolizer::open(&split.debug).expect("the debug information can be read");
    let is_main = |&addr: &u64| whole.line(addr).is_some_and(|line| line.function == "main");
    whole.function_addresses().find(is_main).expect("there is a main")
}

/// Whether any code belongs to the function that is always inlined.
fn names_bump(symbolizer: &Symbolizer) -> bool {
    let code = symbolizer.function_addresses().flat_map(|start| start..start + 64);
    code.into_iter().any(|addr| symbolizer.frames(addr).iter().any(|f| f.function == "bump"))
}

fn has_counters(symbolizer: &Symbolizer) -> bool {
    symbolizer.data_symbols().iter().any(|s| (s.name.as_str(), s.size) == ("counters", 64))
}

#[test]
fn found_by_the_build_identifier() {
    let Some(split) = split(&[ID], false) else { return };
    let place = split.folder.join(BY_ID);
    let stripped = split.open();
    assert_eq!((line_of_main(&stripped), stripped.debug_file()), (None, None));
    assert!(stripped.line(main_of(&split)).is_none());
    assert_eq!(stripped.function_start(main_of(&split) + 1), Some(main_of(&split)));
    assert_eq!(stripped.function_start(stripped.load_end()), None);
    split.install(&place);
    let found = split.open();
    assert_eq!(line_of_main(&found), Some(16));
    assert!(has_counters(&found));
    assert_eq!(found.tls_symbols()[0].name, "mine");
    assert_eq!(found.debug_file(), Some(&*place));
    assert!(found.refused().is_empty());
    assert_eq!(found.first_load_address(), stripped.first_load_address());
    assert_eq!(found.is_pie(), stripped.is_pie());
}

#[test]
fn found_by_the_link_wherever_it_lies() {
    let Some(split) = split(&["-Wl,--build-id=none", "-no-pie"], true) else { return };
    let home = split.program.parent().unwrap().canonicalize().unwrap();
    let away = split.folder.join(home.strip_prefix("/").unwrap());
    let mut last = split.debug.clone();
    for folder in [home.clone(), home.join(".debug"), away] {
        let place = folder.join("program.debug");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::rename(&last, &place).unwrap();
        let found = split.open();
        assert_eq!((line_of_main(&found), found.debug_file()), (Some(16), Some(&*place)));
        assert!(has_counters(&found));
        last = place;
    }
    // Through a link, the files beside the program itself count.
    let other = tempfile::tempdir().unwrap();
    let alias = other.path().join("alias");
    std::os::unix::fs::symlink(&split.program, &alias).unwrap();
    std::fs::rename(&last, home.join("program.debug")).unwrap();
    assert_eq!(line_of_main(&Symbolizer::open(&alias).unwrap()), Some(16));
}

/// A file from another build, by either check, is refused; the next place is tried.
#[test]
fn files_of_another_build_are_refused() {
    let Some(split) = split(&[ID], true) else { return };
    let Some(other) = self::split(&["-Wl,--build-id=0xabcdef0103"], false) else { return };
    let place = split.folder.join(BY_ID);
    other.install(&place);
    let found = split.open();
    assert_eq!(line_of_main(&found), Some(16), "the one beside the program fits");
    let said = found.refused()[0].to_string();
    assert!(said.contains("build identifier abcdef0103, the program's is abcdef0102"), "{said}");
    assert!(said.contains(BY_ID), "{said}");

    let Some(unnamed) = self::split(&["-Wl,--build-id=none"], true) else { return };
    let mut bytes = std::fs::read(&unnamed.debug).unwrap();
    bytes.push(0);
    std::fs::write(&unnamed.debug, bytes).unwrap();
    let refused = unnamed.open();
    assert_eq!(line_of_main(&refused), None);
    assert!(refused.refused()[0].to_string().contains("CRC-32"), "{:?}", refused.refused());
}

/// Truncated anywhere, the debug file is refused or gives fewer answers; the program stays usable.
#[test]
fn truncated_files_do_no_harm() {
    let Some(split) = split(&[ID], false) else { return };
    let place = split.folder.join(BY_ID);
    split.install(&place);
    let bytes = std::fs::read(&place).unwrap();
    for cut in (0..bytes.len()).step_by(bytes.len() / 50) {
        std::fs::write(&place, &bytes[..cut]).unwrap();
        let found = split.open();
        assert!(found.debug_file().is_none() && found.refused().len() == 1, "cut at {cut}");
        let error = &found.refused()[0];
        assert!(matches!(error, SymbolError::File { .. }), "{error}");
    }
}

/// What two programs have in common is in a third file: its names are found, without it there are
/// fewer, and a file from another build is refused.
#[test]
fn what_dwz_moved_is_found() {
    let Some(split) = split(&[ID], true) else { return };
    let home = split.program.parent().unwrap().to_owned();
    let (twin, common) = (home.join("twin.debug"), home.join("common.debug"));
    std::fs::copy(&split.debug, &twin).unwrap();
    let name = |path: &Path| path.file_name().unwrap().to_owned();
    let dwz = Command::new("dwz")
        .current_dir(&home)
        .args(["-m".into(), name(&common), name(&split.debug), name(&twin)])
        .output();
    if !dwz.is_ok_and(|made| made.status.success()) || !common.exists() {
        eprintln!("skipped: no dwz here, or it found nothing in common");
        return;
    }
    let main = main_of(&split);
    let place = split.folder.join(BY_ID);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    // As installed by Debian, a link: the path to the third file is relative to the debug file.
    std::os::unix::fs::symlink(&split.debug, &place).unwrap();
    let found = split.open();
    assert!(found.refused().is_empty(), "{:?}", found.refused());
    let line = found.line(main).expect("main has a line");
    assert_eq!((line.function.as_str(), line.line), ("main", 16));
    assert!(line.file.ends_with("program.c"), "{}", line.file);
    assert!(names_bump(&found), "the name of what was inlined is among what was moved");

    let mut bytes = std::fs::read(&common).unwrap();
    std::fs::remove_file(&common).unwrap();
    assert_eq!(split.open().line(main).expect("the symbol table has it").function, "main");
    assert!(!names_bump(&split.open()));
    let id = [0xabu8, 0xcd];
    let at = bytes.windows(4).position(|w| w == b"GNU\0").expect("a note with an identifier");
    bytes[at + 4..at + 6].copy_from_slice(&id);
    std::fs::write(&common, bytes).unwrap();
    let refused = split.open();
    assert!(refused.refused()[0].to_string().contains("build identifier abcd"));
    assert_eq!(line_of_main(&refused), None);
}

/// A program with its own debug information reads no other file.
#[test]
fn nothing_is_looked_for_without_need() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compile(dir.path(), &["-g", "-O1", ID]) else { return };
    let place = dir.path().join("installed").join(BY_ID);
    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
    std::fs::write(&place, "no program").unwrap();
    let own = Symbolizer::open_with(&program, dir.path().join("installed")).unwrap();
    assert_eq!((line_of_main(&own), own.refused().len()), (Some(16), 0));
}
