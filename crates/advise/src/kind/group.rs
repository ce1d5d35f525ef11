//! Data of different threads, interleaved.

use std::collections::BTreeMap;

use super::Entry;
use crate::case::{Case, Packer, Proposal, Words};
use crate::items::Extent;
use crate::pattern::{self, bytes};
use crate::survey::Label;
use crate::text::{is_heap, size, threads};

/// What belongs to one thread is gathered, thread by thread, each beginning at a block; what is
/// only read follows, and what several use and one writes comes last.
pub const ENTRY: Entry = Entry {
    name: "group",
    summary: "gather what each thread uses: bands instead of cyclic rows, an arena a thread",
    source: "Markatos and Chronaki, section 3.4, for objects instead of words",
    propose,
};

fn propose(case: &Case<'_>) -> Vec<Proposal> {
    if case.owners().len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if case.item.extents.len() > 1 {
        found.extend(by_block(case));
    }
    if found.is_empty() || case.runs.len() > case.item.extents.len() {
        found.extend(by_run(case));
    }
    found
}

/// Packs every class by itself; false if every class is one stretch, so that there is nothing to
/// gather.
fn gather<'a>(case: &Case<'a>, parts: &[(Label, Extent)]) -> Option<Packer<'a>> {
    let mut classes: BTreeMap<Label, Vec<Extent>> = BTreeMap::new();
    for &(label, extent) in parts {
        classes.entry(label).or_default().push(extent);
    }
    if classes.len() < 2 || classes.values().all(|extents| extents.len() == 1) {
        return None;
    }
    let mut packer = Packer::new(case);
    for extents in classes.values() {
        packer.block();
        extents.iter().for_each(|&extent| packer.put(extent));
    }
    Some(packer)
}

/// Heap blocks as wholes, each with the thread that most of its used words belong to.
fn by_block(case: &Case<'_>) -> Option<Proposal> {
    let mut runs = case.runs.iter().peekable();
    let mut parts = Vec::new();
    for &extent in &case.item.extents {
        let mut words: BTreeMap<Label, u64> = BTreeMap::new();
        while let Some(run) = runs.next_if(|run| extent.range().contains(&run.extent.first)) {
            *words.entry(run.label).or_default() += run.extent.words;
        }
        let most = words.iter().max_by_key(|&(_, &count)| count);
        let label = match most {
            Some((&label, &count)) if 4 * count >= 3 * extent.words => label,
            Some(_) => Label::Shared,
            None => Label::Untouched,
        };
        parts.push((label, extent));
    }
    let packer = gather(case, &parts)?;
    let sentence = format!(
        "The {} blocks of `{}` belong to {} each, and those of several lie in one block of {}: \
         allocate each thread's from an arena of its own, whose pieces begin at a block.",
        case.item.extents.len(),
        case.item.label(),
        one_of(case),
        size(case.block.bytes())
    );
    let hint = format!(
        "_Thread_local char *arena; arena = aligned_alloc({}, ...); bump it for each block",
        case.block.bytes()
    );
    case.propose(packer, Words { elements: None, sentence, hint })
}

/// Stretches of words that are alike to the threads.
fn by_run(case: &Case<'_>) -> Option<Proposal> {
    let parts: Vec<(Label, Extent)> = case.runs.iter().map(|run| (run.label, run.extent)).collect();
    let packer = gather(case, &parts)?;
    let elements = pattern::stride(&case.runs);
    let owned = case.runs.iter().filter(|run| matches!(run.label, Label::Own(_)));
    let lengths = owned.map(|run| bytes(run.extent.words));
    let typical = median(lengths.collect());
    let sentence = format!(
        "`{}` is dealt out to {} in pieces of {}, so that blocks of {} belong to many: give each \
         thread one stretch of it that begins at a block (bands instead of cyclic pieces, or the \
         dimension that is divided first).",
        case.item.label(),
        threads(&case.owners()),
        size(typical),
        size(case.block.bytes())
    );
    let hint = if is_heap(case.item) {
        format!("one aligned_alloc({}, ...) a thread, indexed [thread][piece]", case.block.bytes())
    } else {
        format!("struct {{ _Alignas({}) TYPE part[...]; }} [THREADS];", case.block.bytes())
    };
    case.propose(packer, Words { elements, sentence, hint })
}

fn one_of(case: &Case<'_>) -> String {
    format!("one of {}", threads(&case.owners()))
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
