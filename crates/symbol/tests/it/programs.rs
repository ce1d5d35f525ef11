//! Symbols of real compilers' output, and of damaged copies of it.

use crate::support::compile;
use homenode_base::Rng;
use homenode_symbol::{SymbolError, Symbolizer, fuzz_parse};

/// Line numbers are those of [`crate::support::PROGRAM`].
fn check_lines(symbolizer: &Symbolizer) {
    let functions: Vec<u64> = symbolizer.function_addresses().collect();
    let frames: Vec<_> = functions.iter().map(|&addr| symbolizer.frames(addr)).collect();
    let line_of = |name: &str| {
        frames.iter().flatten().find(|frame| frame.function == name).map(|frame| frame.line)
    };
    assert_eq!(line_of("main"), Some(16));
    assert!((10..=13).contains(&line_of("touch").expect("touch has a line")));
    let touch = functions
        .into_iter()
        .find(|&addr| symbolizer.frames(addr).last().is_some_and(|f| f.function == "touch"))
        .expect("touch has an address");
    // Somewhere in `touch` is the inlined `bump`, called on line 12.
    let inlined = (touch..touch + 64)
        .map(|addr| symbolizer.frames(addr))
        .find(|frames| frames.len() == 2 && frames[0].line == 8)
        .expect("the inlined statement has an address");
    assert_eq!(inlined[0].function, "bump");
    assert!(inlined[0].file.ends_with("program.c"), "{}", inlined[0].file);
    assert_eq!((inlined[1].function.as_str(), inlined[1].line), ("touch", 12));
}

#[test]
fn lines_functions_and_inlined_frames() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [&["-g", "-O1"][..], &["-g", "-O1", "-no-pie", "-gdwarf-4"]] {
        let Some(program) = compile(dir.path(), flags) else { return };
        let symbolizer = Symbolizer::open(&program).unwrap();
        assert_eq!(symbolizer.is_pie(), !flags.contains(&"-no-pie"), "{flags:?}");
        check_lines(&symbolizer);
        assert_eq!(symbolizer.line(u64::MAX), None);
    }
}

#[test]
fn compressed_debug_information_reads_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compile(dir.path(), &["-g", "-O1", "-gz=zlib"]) else { return };
    check_lines(&Symbolizer::open(&program).unwrap());
}

#[test]
fn data_symbols_are_named_sorted_and_unique() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compile(dir.path(), &["-O1"]) else { return };
    let symbolizer = Symbolizer::open(&program).unwrap();
    let data = symbolizer.data_symbols();
    let find = |name: &str| data.iter().find(|symbol| symbol.name == name).unwrap();
    assert_eq!(find("counters").size, 64);
    assert!(symbolizer.first_load_address() < find("banner").addr);
    assert!(symbolizer.load_end() >= find("counters").addr + 64, "memory without contents counts");
    assert_eq!(find("started").size, 4);
    assert_eq!(find("banner").size, 12);
    assert!(data.windows(2).all(|pair| pair[0].addr < pair[1].addr
        || (pair[0].addr == pair[1].addr && pair[0].size < pair[1].size)));
    let counters = find("counters");
    let inside = symbolizer.data_symbol_at(counters.addr + 63).unwrap();
    assert_eq!(&inside, counters);
    assert_ne!(symbolizer.data_symbol_at(counters.addr + 64).as_ref(), Some(counters));
    let tls = symbolizer.tls_symbols();
    assert_eq!(tls.len(), 1);
    assert_eq!((tls[0].name.as_str(), tls[0].size), ("mine", 8));
}

#[test]
fn without_debug_information_the_symbol_table_answers() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compile(dir.path(), &["-O1"]) else { return };
    let symbolizer = Symbolizer::open(&program).unwrap();
    let lines: Vec<_> =
        symbolizer.function_addresses().filter_map(|addr| symbolizer.line(addr)).collect();
    let touch = lines.iter().find(|line| line.function == "touch").unwrap();
    assert_eq!((touch.file.as_str(), touch.line), ("", 0));
    let Some(program) = compile(dir.path(), &["-O1", "-s"]) else { return };
    let stripped = Symbolizer::open(&program).unwrap();
    assert!(stripped.data_symbols().iter().all(|symbol| symbol.name != "counters"));
}

#[test]
fn foreign_files_are_refused_with_a_place() {
    let cases: [(&[u8], u64, &str); 4] = [
        (b"#!/bin/sh\necho", 0, "found 23212f62"),
        (b"\x7fEL", 0, "found 7f454c"),
        (b"\x7fELF\x07aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", 4, "found 7"),
        (b"", 0, "cut off"),
    ];
    for (bytes, offset, says) in cases {
        let error = Symbolizer::parse(bytes).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(says), "{text}");
        assert!(text.contains(&format!("at offset {offset}")), "{text}");
    }
    let missing = Symbolizer::open("/nonexistent/program").unwrap_err();
    assert!(matches!(missing, SymbolError::Read { .. }), "{missing}");
    assert!(missing.to_string().contains("/nonexistent/program"));
}

#[test]
fn object_files_must_be_linked_first() {
    let dir = tempfile::tempdir().unwrap();
    let Some(object) = compile(dir.path(), &["-c"]) else { return };
    let text = Symbolizer::open(&object).unwrap_err().to_string();
    assert!(text.contains("not yet linked") && text.contains("program: at offset 16"), "{text}");
}

/// Cuts a program at many places and flips bytes in many copies: answers or errors, no panic.
#[test]
fn damaged_programs_never_panic() {
    let dir = tempfile::tempdir().unwrap();
    for flags in [&["-g", "-O1"][..], &["-g", "-O1", "-gz=zlib"]] {
        let Some(program) = compile(dir.path(), flags) else { return };
        let bytes = std::fs::read(program).unwrap();
        assert!(fuzz_parse(&bytes).unwrap() > 10);
        for cut in (0..bytes.len()).step_by(97) {
            let _ = fuzz_parse(&bytes[..cut]);
        }
        let mut rng = Rng::new(6);
        let mut refused = 0;
        for _ in 0..2_000 {
            let mut damaged = bytes.clone();
            for _ in 0..=rng.below(8) {
                let at = usize::try_from(rng.below(bytes.len() as u64)).unwrap();
                damaged[at] = u8::try_from(rng.below(256)).unwrap();
            }
            refused += u32::from(fuzz_parse(&damaged).is_err());
        }
        assert!(refused < 2_000, "some damage is harmless");
    }
}

/// A section header that claims 4 GiB behind a small compressed section is refused unread.
#[test]
fn a_section_that_claims_too_much_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let Some(program) = compile(dir.path(), &["-g", "-O1", "-gz=zlib"]) else { return };
    let mut bytes = std::fs::read(program).unwrap();
    let Some(at) = first_compressed_section(&bytes) else {
        eprintln!("skipped: this compiler does not compress debug sections");
        return;
    };
    // Elf64_Chdr: type u32, reserved u32, size u64, alignment u64.
    bytes[at + 8..at + 16].copy_from_slice(&(4u64 << 30).to_le_bytes());
    let error = Symbolizer::parse(&bytes).unwrap_err();
    assert!(matches!(error, SymbolError::TooLarge { claimed: 4_294_967_296, .. }), "{error}");
}

/// File offset of the first section that the ELF section headers flag as compressed.
fn first_compressed_section(bytes: &[u8]) -> Option<usize> {
    const SHF_COMPRESSED: u64 = 0x800;
    let word = |at: usize| bytes.get(at..at + 8)?.try_into().ok().map(u64::from_le_bytes);
    let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (table, entry_size, entries) = (usize::try_from(word(40)?).ok()?, half(58), half(60));
    (0..entries)
        .map(|i| table + i * entry_size)
        .find(|header| word(header + 8).is_some_and(|flags| flags & SHF_COMPRESSED != 0))
        .and_then(|header| usize::try_from(word(header + 24)?).ok())
}
