//! Objects that other objects share a block with.

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::text::{code_name, is_heap, size, threads};

/// Aligns an object to blocks at both ends: a symbol, all heap blocks of a call site together, or
/// each of these by itself.
pub const ENTRY: Entry = Entry {
    name: "align",
    summary: "begin an object at a block and keep others out of its blocks",
    source: "Bolosky, thesis, section 2.2.6 and chapter 7: data on pages of their own",
    propose,
};

fn propose(candidate: &Candidate<'_>) -> Vec<Proposal> {
    if !candidate.crowded {
        return misaligned(candidate).into_iter().collect();
    }
    let mut found = vec![together(candidate)];
    if candidate.object.extents.len() > 1 {
        found.push(each(candidate));
    }
    found.into_iter().flatten().collect()
}

fn together(candidate: &Candidate<'_>) -> Option<Proposal> {
    let mut packer = Packer::new(candidate);
    candidate.object.extents.iter().for_each(|&extent| packer.put(extent));
    let (block, label, count) =
        (candidate.block.bytes(), candidate.object.label(), candidate.object.extents.len());
    let users = threads(&candidate.users);
    let words = if count > 1 {
        ProposalText {
            elements: None,
            sentence: format!(
                "The {count} heap blocks of `{label}`, used by {users}, share {} blocks with other \
                 objects: allocate them from a pool of their own.",
                size(block)
            ),
            hint: format!("pool = aligned_alloc({block}, ...) for the blocks of this call alone"),
        }
    } else {
        ProposalText {
            elements: None,
            sentence: format!(
                "`{label}`, used by {users}, shares {} blocks with other objects: begin it at a \
                 block and let nothing else begin in its last one.",
                size(block)
            ),
            hint: hint(candidate),
        }
    };
    candidate.propose(packer, words)
}

/// An object of several blocks that begins within one: what was padded to whole blocks straddles
/// two.
fn misaligned(candidate: &Candidate<'_>) -> Option<Proposal> {
    let [extent] = candidate.object.extents[..] else { return None };
    let block_words = candidate.block.words();
    if extent.first % block_words == 0 || extent.words <= block_words {
        return None;
    }
    let mut packer = Packer::new(candidate);
    packer.put(extent);
    let sentence = format!(
        "`{}`, used by {}, begins {} after the beginning of a block of {}, so that what has the \
         size of a block straddles two: begin it at a block.",
        candidate.object.label(),
        threads(&candidate.users),
        size(crate::pattern::bytes(extent.first % block_words)),
        size(candidate.block.bytes()),
    );
    candidate.propose(packer, ProposalText { elements: None, sentence, hint: hint(candidate) })
}

fn hint(candidate: &Candidate<'_>) -> String {
    let (block, name) = (candidate.block.bytes(), code_name(candidate.object));
    if is_heap(candidate.object) {
        format!("aligned_alloc({block}, (size + {block} - 1) / {block} * {block})")
    } else {
        format!("struct {{ _Alignas({block}) TYPE value; }} {name};")
    }
}

fn each(candidate: &Candidate<'_>) -> Option<Proposal> {
    let mut packer = Packer::new(candidate);
    for &extent in &candidate.object.extents {
        packer.block();
        packer.put(extent);
    }
    let (block, label, count) =
        (candidate.block.bytes(), candidate.object.label(), candidate.object.extents.len());
    let words = ProposalText {
        elements: None,
        sentence: format!(
            "The {count} heap blocks of `{label}`, used by {}, share {} blocks with each other and \
             with other objects: begin each at a block and round its size up.",
            threads(&candidate.users),
            size(block)
        ),
        hint: format!("aligned_alloc({block}, (size + {block} - 1) / {block} * {block})"),
    };
    candidate.propose(packer, words)
}
