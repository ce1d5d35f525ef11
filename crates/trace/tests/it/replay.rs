//! Replays every input that made a fuzz target fail, and the seeds, through the functions of the
//! fuzz targets.

use std::path::{Path, PathBuf};

use crate::fuzz;
use crate::support::{small_chunks, steps, write};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn chunk() -> Vec<u8> {
    let (bytes, _) = write(&steps(), small_chunks(100));
    let trace = homenode_trace::TraceReader::from_bytes(bytes.clone(), "memory").unwrap();
    let chunk = &trace.chunks()[0];
    let start = usize::try_from(chunk.offset).unwrap();
    bytes[start..start + usize::try_from(chunk.bytes).unwrap()].to_vec()
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

#[test]
fn seeds_pass() {
    let folder = root().join("testdata/formats");
    for (name, target) in fuzz::TARGETS {
        let seed = match *name {
            "chunk" => chunk(),
            _ => std::fs::read(folder.join("v1.hnt")).unwrap(),
        };
        target(&seed);
        // Truncated and changed seeds too, as the fuzzer makes them.
        for place in 0..seed.len() {
            let mut changed = seed.clone();
            changed[place] ^= 1 << (place % 8);
            target(&changed);
            target(&seed[..place]);
        }
    }
}

#[test]
fn a_sealed_chunk_is_a_readable_trace() {
    let file = fuzz::sealed(&chunk()).unwrap();
    let trace = homenode_trace::TraceReader::from_bytes(file, "sealed").unwrap();
    assert_eq!(crate::support::read(&trace), steps());
}

/// With every checksum right, a chunk that claims two million rows for a few bytes is an error, and
/// one with more is refused by its header.
#[test]
fn claims_of_many_rows_are_errors() {
    for rows in [1u32 << 21, u32::MAX] {
        let mut chunk = chunk();
        for field in [16, 24] {
            chunk[field..field + 4].copy_from_slice(&rows.to_le_bytes());
        }
        // One thread with all the rows: the table must add up.
        chunk[72..76].copy_from_slice(&1u32.to_le_bytes());
        chunk[82..86].copy_from_slice(&rows.to_le_bytes());
        chunk[28..36].fill(0);
        let trace = homenode_trace::TraceReader::from_bytes(fuzz::sealed(&chunk).unwrap(), "big");
        assert!(trace.and_then(|trace| trace.verify()).is_err());
    }
}
