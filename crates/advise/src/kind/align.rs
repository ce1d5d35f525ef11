//! Objects that other objects share a block with.

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::WordExtent;
use crate::text::{code_name, is_heap, pieces, size, users};

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
    let users = users(candidate.survey, &candidate.users);
    let words = if count > 1 {
        let (remedy, hint) = if is_heap(candidate.object) {
            let pool =
                format!("pool = aligned_alloc({block}, ...) for the blocks of this call alone");
            ("allocate them from a pool of their own", pool)
        } else {
            ("keep those away", hint(candidate))
        };
        ProposalText {
            elements: None,
            sentence: format!(
                "The {count} {} of `{label}`, used by {users}, share blocks of {} with other \
                 objects: {remedy}.",
                pieces(candidate.object),
                size(block)
            ),
            hint,
        }
    } else {
        ProposalText {
            elements: None,
            sentence: format!(
                "`{label}`, used by {users}, shares blocks of {} with other objects: begin it at a \
                 block and let nothing else begin in its last one.",
                size(block)
            ),
            hint: hint(candidate),
        }
    };
    candidate.propose(packer, words)
}

/// Proposals for objects or heap blocks that do not begin at a block boundary: a small one, such as
/// a lock with its data, takes two blocks instead of one; in a large one, elements padded to a
/// block, such as rows of a matrix, straddle two.
fn misaligned(candidate: &Candidate<'_>) -> Option<Proposal> {
    let block_words = candidate.block_units();
    let straddles = |e: &&WordExtent| {
        let within = e.first % block_words;
        within != 0 && within + e.words > block_words
    };
    let extents = &candidate.object.extents;
    let first = extents.iter().find(straddles)?;
    let after = size(candidate.bytes_of(first.first % block_words));
    let (label, users) = (candidate.object.label(), users(candidate.survey, &candidate.users));
    let block = size(candidate.block.bytes());
    let so = if first.words <= block_words {
        "and lies in two"
    } else {
        "so that what has the size of a block straddles two"
    };
    let sentence = if extents.len() == 1 {
        format!(
            "`{label}`, used by {users}, begins {after} after the beginning of a block of {block}, \
             {so}: begin it at a block."
        )
    } else {
        let which = match (extents.iter().filter(straddles).count(), extents.len()) {
            (some, all) if some < all => format!("{some} of the {all}"),
            (_, all) => format!("The {all}"),
        };
        format!(
            "{which} {} of `{label}`, used by {users}, begin within a block of {block}, \
             the first {after} after its beginning, {so}: begin each at a block.",
            pieces(candidate.object)
        )
    };
    let text = ProposalText { elements: None, sentence, hint: hint(candidate) };
    candidate.propose(each_at_a_block(candidate), text)
}

fn hint(candidate: &Candidate<'_>) -> String {
    let (block, name) = (candidate.block.bytes(), code_name(candidate.object));
    if is_heap(candidate.object) {
        format!(
            "aligned_alloc({block}, (size + {block} - 1) / {block} * {block}); in C++ operator \
             new(size, std::align_val_t{{{block}}}), for a container in its allocator"
        )
    } else {
        format!("struct {{ alignas({block}) TYPE value; }} {name};")
    }
}

fn each_at_a_block<'a>(candidate: &Candidate<'a>) -> Packer<'a> {
    let mut packer = Packer::new(candidate);
    for &extent in &candidate.object.extents {
        packer.block();
        packer.put(extent);
    }
    packer
}

fn each(candidate: &Candidate<'_>) -> Option<Proposal> {
    let (block, label, count) =
        (candidate.block.bytes(), candidate.object.label(), candidate.object.extents.len());
    let words = ProposalText {
        elements: None,
        sentence: format!(
            "The {count} {} of `{label}`, used by {}, share blocks of {} with each other and with \
             other objects: begin each at a block and round its size up.",
            pieces(candidate.object),
            users(candidate.survey, &candidate.users),
            size(block)
        ),
        hint: hint(candidate),
    };
    candidate.propose(each_at_a_block(candidate), words)
}
