//! Locks in the same block as data.

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::WordExtent;
use crate::text::{byte_range, size, users};

/// Moves the words of an object that synchronise threads to blocks of their own, so that users of
/// the data do not wait for acquisitions of the lock, nor the other way round.
pub const ENTRY: Entry = Entry {
    name: "separate-lock",
    summary: "move a lock away from the data beside it",
    source: "ours: `split` for locks, which are updated in one step",
    propose,
};

fn propose(candidate: &Candidate<'_>) -> Vec<Proposal> {
    separate(candidate).into_iter().collect()
}

fn separate(candidate: &Candidate<'_>) -> Option<Proposal> {
    let parts = parts(candidate);
    let locks = parts.iter().filter(|(lock, _)| *lock).count();
    if locks == 0 || locks == parts.len() {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for &(_, extent) in parts.iter().filter(|(lock, _)| *lock) {
        packer.block();
        packer.put(extent);
    }
    packer.block();
    // Data keep their distances: whatever began at a block boundary still does.
    for &(_, extent) in parts.iter().filter(|(lock, _)| !lock) {
        packer.block_at_offset(extent.first);
        packer.put(extent);
    }
    let (block, label) = (size(candidate.block.bytes()), candidate.object.label());
    let first = parts.iter().find(|(lock, _)| *lock).map(|&(_, first)| place(candidate, first))?;
    let which = if locks == 1 {
        format!("a lock, or atomics like one (bytes {first}),")
    } else {
        format!("{locks} locks, or atomics like one (the first: bytes {first}),")
    };
    let sentence = format!(
        "`{label}` has {which} in blocks of {block} with data, and {} use it: each acquisition \
         of the lock takes the data away from all others. Give each lock a block of its own.",
        users(candidate.survey, &candidate.users)
    );
    let hint = format!(
        "struct {{ alignas({0}) LOCK lock; /* bytes {first} */ alignas({0}) TYPE data; }}",
        candidate.block.bytes()
    );
    candidate.propose(packer, ProposalText { elements: None, sentence, hint })
}

/// Which bytes of the object, or heap block, these words are.
fn place(candidate: &Candidate<'_>, words: WordExtent) -> String {
    let begins = candidate.object.extents.iter().map(|extent| extent.first);
    let begin = begins.filter(|&begin| begin <= words.first).max().unwrap_or(words.first);
    let first = candidate.bytes_of(words.first - begin);
    byte_range(first, first + candidate.bytes_of(words.words) - 1)
}

/// The object's words, cut where locks begin and end. Unused words and the later words of a value
/// go with those before them.
fn parts(candidate: &Candidate<'_>) -> Vec<(bool, WordExtent)> {
    let survey = candidate.survey;
    let mut parts: Vec<(bool, WordExtent)> = Vec::new();
    for extent in &candidate.object.extents {
        let mut open: Option<(bool, WordExtent)> = None;
        let mut joined = false;
        for word in extent.range() {
            let lock = survey.locks(word);
            let continues = joined || survey.references_to(word) == 0;
            match &mut open {
                Some((last, part)) if continues || *last == lock => part.words += 1,
                _ => {
                    parts.extend(open.take());
                    open = Some((lock, WordExtent { first: word, words: 1 }));
                }
            }
            joined = survey.joined(word);
        }
        parts.extend(open);
    }
    parts
}
