//! Elements of different threads in one block.

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::items::WordExtent;
use crate::pattern::{self, Elements, bytes};
use crate::survey::WordLabel;
use crate::text::{code_name, is_heap, size, threads};

/// Every element begins at a block: a stretch that one thread uses, or an element of an array of
/// structures that any thread may use.
pub const ENTRY: Entry = Entry {
    name: "pad",
    summary: "pad each element, or each thread's part, of an array to whole blocks",
    source: "Markatos and Chronaki, section 3.4; Bolosky, thesis, chapter 7",
    propose,
};

fn propose(case: &Candidate<'_>) -> Vec<Proposal> {
    let found = [by_owner(case), by_period(case)];
    found.into_iter().flatten().collect()
}

/// Each stretch of words that are alike to the threads.
fn by_owner(case: &Candidate<'_>) -> Option<Proposal> {
    let owners = case.owners();
    let owned = case.runs.iter().filter(|run| matches!(run.label, WordLabel::Own(_))).count();
    // Parts without order, as of an array that is sorted, no programmer can tell apart.
    let orderly = case.runs.len() <= case.item.extents.len() * (owners.len() + 2);
    let elements = pattern::stride(&case.runs);
    if owners.is_empty() || case.runs.len() < 2 || !(orderly || elements.is_some()) {
        return None;
    }
    let mut packer = Packer::new(case);
    for run in &case.runs {
        packer.block();
        packer.put(run.extent);
    }
    let (block, label) = (size(case.block.bytes()), case.item.label());
    let parts = match elements {
        Some(Elements { stride, count }) if owned == case.runs.len() => format!(
            "The {count} elements of `{label}`, {} each, belong to {} and lie next to each other",
            size(bytes(stride)),
            threads(&owners)
        ),
        _ if case.runs.len() == case.item.extents.len() => format!(
            "The {} heap blocks of `{label}` are used by one thread each, {} in all, and lie next \
             to each other",
            case.runs.len(),
            owners.len()
        ),
        Some(_) | None => format!(
            "`{label}` has {} parts with different users, {owned} of them used by one thread each",
            case.runs.len()
        ),
    };
    let remedy = match elements {
        Some(Elements { stride, .. }) if stride <= case.block.words() => {
            format!("pad each element to {block}")
        }
        Some(_) => format!("pad each element to a multiple of {block}"),
        None => format!("begin each part at a multiple of {block}"),
    };
    let sentence = format!("{parts}: {remedy}.");
    case.propose(packer, ProposalText { elements, sentence, hint: hint(case, elements) })
}

/// Each element of an array of structures.
fn by_period(case: &Candidate<'_>) -> Option<Proposal> {
    let elements = pattern::period(case.item, case.survey)?;
    if elements.stride % case.block.words() == 0 || case.item.extents.len() > 1 {
        return None;
    }
    let mut packer = Packer::new(case);
    for extent in pattern::elements(case.item, elements.stride) {
        put_aligned(&mut packer, extent);
    }
    let block = size(case.block.bytes());
    let sentence = format!(
        "The {} elements of `{}`, {} each by their pattern of use, straddle blocks of {block} and \
         share them, while {} use them: pad each element to a multiple of {block}.",
        elements.count,
        case.item.label(),
        size(bytes(elements.stride)),
        threads(&case.users),
    );
    let hint = hint(case, Some(elements));
    case.propose(packer, ProposalText { elements: Some(elements), sentence, hint })
}

fn put_aligned(packer: &mut Packer<'_>, extent: WordExtent) {
    packer.block();
    packer.put(extent);
}

fn hint(case: &Candidate<'_>, elements: Option<Elements>) -> String {
    let (block, name) = (case.block.bytes(), code_name(case.item));
    match elements {
        Some(Elements { count, .. }) if !is_heap(case.item) => {
            format!("struct {{ _Alignas({block}) TYPE value; }} {name}[{count}];")
        }
        Some(Elements { count, .. }) => format!(
            "struct padded {{ _Alignas({block}) TYPE value; }} *{name} = aligned_alloc({block}, \
             {count} * sizeof *{name});"
        ),
        None => format!("start_of(part) = (end_of(part - 1) + {block} - 1) / {block} * {block}"),
    }
}
