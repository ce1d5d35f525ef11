//! The report of a re-alignment.

use std::collections::BTreeMap;

use homenode_trace::{AddressRange, Metadata, RangeKind};
use serde::Serialize;

use super::owners::Owners;

/// The moves of a re-alignment, their cost in memory, and false sharing before and after.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Realignment {
    /// Bytes of a page.
    pub page_size: u64,
    /// References of a window.
    pub window: u64,
    /// Number of windows.
    pub windows: u64,
    /// Different words that moved.
    pub words_moved: u64,
    /// Moves of a word; a word can move in several windows.
    pub moves: u64,
    /// New pages, with a word on each of them.
    pub new_pages: u64,
    /// Bytes of the new pages: the memory that re-alignment costs.
    pub new_bytes: u64,
    /// Pages that the original trace references.
    pub pages_before: u64,
    /// Pages that the new trace references, old and new.
    pub pages_after: u64,
    /// False sharing in the original trace.
    pub before: FalseSharing,
    /// False sharing in the new trace.
    pub after: FalseSharing,
    /// Fraction of the references to falsely shared pages that are to other pages now; none if
    /// there were no such references.
    pub gone: Option<f64>,
    /// Objects with words that moved, those with most first.
    pub objects: Vec<MovedObject>,
}

/// References to pages that, in one window, several threads reference and one writes, and of which
/// not all referenced words have the same threads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FalseSharing {
    /// Such pages, counted in every window.
    pub pages: u64,
    /// References to them. One counts where it begins.
    pub references: u64,
}

/// An object of the program, and how many of its words moved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedObject {
    /// The kind of memory; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kind: Option<RangeKind>,
    /// Symbol, file or other name; may be empty.
    pub name: String,
    /// Function, file and line that allocated a heap block, or its program counter; may be empty.
    pub allocated_at: String,
    /// Thread whose stack it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub thread: Option<u16>,
    /// Ranges of the trace that have words that moved: blocks of one line are one object.
    pub ranges: u64,
    /// Different words that moved.
    pub words_moved: u64,
}

pub(super) fn objects(words: &[u64], metadata: &Metadata) -> Vec<MovedObject> {
    let ranges = &metadata.ranges;
    let owners = Owners::new(metadata);
    let mut owned: BTreeMap<Option<usize>, u64> = BTreeMap::new();
    for &word in words {
        *owned.entry(owners.of(word).map(|(range, _)| range)).or_default() += 1;
    }
    let mut found: BTreeMap<ObjectKey, MovedObject> = BTreeMap::new();
    for (range, words) in owned {
        let object = range.map_or_else(unknown, |i| object(&ranges[i], metadata));
        // Static objects of one name in several files are several objects.
        let place = range.filter(|&i| ranges[i].kind == RangeKind::Static);
        let key =
            (object.allocated_at.clone(), object.name.clone(), object.thread, kind(&object), place);
        let entry = found.entry(key).or_insert(object);
        entry.ranges += u64::from(range.is_some());
        entry.words_moved += words;
    }
    let mut found: Vec<MovedObject> = found.into_values().collect();
    // The sort is stable: objects of equal weight stay in order of name.
    found.sort_by_key(|object| std::cmp::Reverse(object.words_moved));
    found
}

/// The fraction by which the references have decreased.
pub(super) fn gone(before: u64, after: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "counts stay below 2^53")]
    let part = || 1.0 - after as f64 / before as f64;
    (before > 0).then(part)
}

type ObjectKey = (String, String, Option<u16>, u8, Option<usize>);

fn kind(object: &MovedObject) -> u8 {
    match object.kind {
        None => 0,
        Some(RangeKind::Static) => 1,
        Some(RangeKind::Heap) => 2,
        Some(RangeKind::Stack) => 3,
        Some(RangeKind::ThreadLocal) => 4,
        Some(RangeKind::Mapping) => 5,
    }
}

fn unknown() -> MovedObject {
    let (name, allocated_at) = (String::new(), String::new());
    MovedObject { kind: None, name, allocated_at, thread: None, ranges: 0, words_moved: 0 }
}

fn object(range: &AddressRange, metadata: &Metadata) -> MovedObject {
    let allocated = range.kind == RangeKind::Heap && range.site != 0;
    MovedObject {
        kind: Some(range.kind),
        name: range.name.clone(),
        allocated_at: if allocated { place(range.site, metadata) } else { String::new() },
        thread: (range.kind == RangeKind::Stack).then_some(range.thread),
        ..unknown()
    }
}

fn place(pc: u64, metadata: &Metadata) -> String {
    let line = metadata.lines.binary_search_by_key(&pc, |line| line.pc);
    match line.map(|at| &metadata.lines[at]) {
        Ok(line) if !line.file.is_empty() => {
            let file = line.file.rsplit('/').next().unwrap_or(&line.file);
            format!("{} {file}:{}", line.function, line.line).trim_start().to_owned()
        }
        Ok(_) | Err(_) => format!("0x{pc:x}"),
    }
}
