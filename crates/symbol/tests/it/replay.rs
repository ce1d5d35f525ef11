//! Every file that made the `symbol` fuzz target fail, and this test program, truncated and
//! changed.

use std::path::Path;

#[test]
fn crashes_stay_fixed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let Ok(folder) = std::fs::read_dir(root.join("testdata/crashes/symbol")) else { return };
    for file in folder {
        let _ = homenode_symbol::fuzz_parse(&std::fs::read(file.unwrap().path()).unwrap());
    }
}

#[test]
fn a_damaged_header_is_no_panic() {
    let program = std::fs::read(std::env::current_exe().unwrap()).unwrap();
    for place in 0..64 {
        let mut changed = program[..4096].to_vec();
        changed[place] ^= 0xff;
        let _ = homenode_symbol::fuzz_parse(&changed);
        let _ = homenode_symbol::fuzz_parse(&program[..place]);
    }
}
