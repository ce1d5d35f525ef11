//! Replays every input that made a fuzz target of an importer fail, and the seeds, through the
//! functions of the fuzz targets.

use std::path::{Path, PathBuf};

use crate::fuzz;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn crashes_stay_fixed() {
    for (name, target) in fuzz::TARGETS {
        let Ok(folder) = std::fs::read_dir(root().join("testdata/crashes").join(name)) else {
            continue;
        };
        for file in folder {
            target(&std::fs::read(file.unwrap().path()).unwrap());
        }
    }
}

/// The seeds fuzzing starts from: a file of each form of each format.
#[test]
fn seeds_pass() {
    let mut passed = Vec::new();
    for file in std::fs::read_dir(root().join("testdata/formats")).unwrap() {
        let path = file.unwrap().path();
        let ending = path.extension().unwrap().to_str().unwrap();
        let name = format!("import_{}", ending.trim_end_matches("-mem"));
        let Some((_, target)) = fuzz::TARGETS.iter().find(|target| target.0 == name) else {
            continue;
        };
        passed.push(name);
        let seed = std::fs::read(path).unwrap();
        target(&seed);
        // Truncated and changed seeds too, as the fuzzer makes them.
        for place in 0..seed.len() {
            let mut changed = seed.clone();
            changed[place] ^= 1 << (place % 8);
            target(&changed);
            target(&seed[..place]);
        }
    }
    assert!(fuzz::TARGETS.iter().all(|(name, _)| passed.iter().any(|done| done == name)));
}

/// Targets of other crates, replayed by their own tests.
const ELSEWHERE: &[&str] = &["assembly", "reader", "chunk", "repair", "symbol", "guest_report"];

#[test]
fn every_target_has_its_file_and_its_line() {
    let manifest = std::fs::read_to_string(root().join("fuzz/Cargo.toml")).unwrap();
    let files = std::fs::read_dir(root().join("fuzz/fuzz_targets")).unwrap().count();
    assert_eq!(files, fuzz::TARGETS.len() + ELSEWHERE.len());
    let here = fuzz::TARGETS.iter().map(|(name, _)| name);
    for name in here.chain(ELSEWHERE) {
        assert!(manifest.contains(&format!("path = \"fuzz_targets/{name}.rs\"")), "{name}");
    }
}
