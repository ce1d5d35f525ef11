//! Objects that other objects share a block with.

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::text::{code_name, is_heap, size, threads};

/// An object, all heap blocks of a call site together, or each of these by itself begins at a block
/// and ends with one.
pub const ENTRY: Entry = Entry {
    name: "align",
    summary: "begin an object at a block and keep others out of its blocks",
    source: "Bolosky, thesis, section 2.2.6 and chapter 7: data on pages of their own",
    propose,
};

fn propose(case: &Candidate<'_>) -> Vec<Proposal> {
    if !case.crowded {
        return Vec::new();
    }
    let mut found = vec![together(case)];
    if case.item.extents.len() > 1 {
        found.push(each(case));
    }
    found.into_iter().flatten().collect()
}

fn together(case: &Candidate<'_>) -> Option<Proposal> {
    let mut packer = Packer::new(case);
    case.item.extents.iter().for_each(|&extent| packer.put(extent));
    let (block, label, count) = (case.block.bytes(), case.item.label(), case.item.extents.len());
    let users = threads(&case.users);
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
            hint: hint(case),
        }
    };
    case.propose(packer, words)
}

fn hint(case: &Candidate<'_>) -> String {
    let (block, name) = (case.block.bytes(), code_name(case.item));
    if is_heap(case.item) {
        format!("aligned_alloc({block}, (size + {block} - 1) / {block} * {block})")
    } else {
        format!("struct {{ _Alignas({block}) TYPE value; }} {name};")
    }
}

fn each(case: &Candidate<'_>) -> Option<Proposal> {
    let mut packer = Packer::new(case);
    for &extent in &case.item.extents {
        packer.block();
        packer.put(extent);
    }
    let (block, label, count) = (case.block.bytes(), case.item.label(), case.item.extents.len());
    let words = ProposalText {
        elements: None,
        sentence: format!(
            "The {count} heap blocks of `{label}`, used by {}, share {} blocks with each other and \
             with other objects: begin each at a block and round its size up.",
            threads(&case.users),
            size(block)
        ),
        hint: format!("aligned_alloc({block}, (size + {block} - 1) / {block} * {block})"),
    };
    case.propose(packer, words)
}
