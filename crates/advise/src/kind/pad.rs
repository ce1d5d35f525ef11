//! Elements of different threads in one block.

use homenode_base::BlockSize;

use super::Entry;
use super::split::apart::values_of;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::WordExtent;
use crate::pattern::{self, Elements};
use crate::survey::WordLabel;
use crate::text::{code_name, is_heap, pieces, size, users};

/// Aligns every element to a block: the consecutive words that one thread uses, or an element of
/// an array of structures.
pub const ENTRY: Entry = Entry {
    name: "pad",
    summary: "pad each element, or each thread's part, of an array to whole blocks",
    source: "Markatos and Chronaki, section 3.4; Bolosky, thesis, chapter 7",
    propose,
};

/// Most parts of an object whose beginnings a hint lists.
const PARTS_MAX: usize = 8;

fn propose(candidate: &Candidate<'_>) -> Vec<Proposal> {
    let found = [by_owner(candidate), by_period(candidate), by_value(candidate)];
    found.into_iter().flatten().collect()
}

/// Pads each run of words with the same label.
fn by_owner(candidate: &Candidate<'_>) -> Option<Proposal> {
    let owners = candidate.owners();
    let owned = candidate.runs.iter().filter(|run| matches!(run.label, WordLabel::Own(_))).count();
    // No programmer can pad runs in no order, as of an array that is being sorted.
    let orderly = candidate.runs.len() <= candidate.object.extents.len() * (owners.len() + 2);
    let elements = pattern::stride(&candidate.runs);
    // Fields of one structure that are used in different ways are a case for `split`.
    let fields = candidate.object.extents.len() == 1 && owned < candidate.runs.len();
    if fields && elements.is_none() {
        return None;
    }
    if owners.is_empty() || candidate.runs.len() < 2 || !(orderly || elements.is_some()) {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for run in &candidate.runs {
        packer.block();
        packer.put(run.extent);
    }
    let (block, label) = (size(candidate.block.bytes()), candidate.object.label());
    let parts = match elements {
        Some(Elements { stride, count }) if owned == candidate.runs.len() => format!(
            "The {count} elements of `{label}`, {} each, belong to {} and lie next to each other",
            size(candidate.bytes_of(stride)),
            users(candidate.survey, &owners)
        ),
        _ if candidate.runs.len() == candidate.object.extents.len() => format!(
            "The {} {} of `{label}` are used by one thread each, {} in all, and lie next \
             to each other",
            candidate.runs.len(),
            pieces(candidate.object),
            owners.len()
        ),
        Some(_) | None => format!(
            "`{label}` has {} parts with different users, {owned} of them used by one thread each",
            candidate.runs.len()
        ),
    };
    let remedy = match elements {
        Some(Elements { stride, .. }) if stride <= candidate.block_units() => {
            format!("pad each element to {block}")
        }
        Some(_) => format!("pad each element to a multiple of {block}"),
        None => format!("begin each part at a multiple of {block}"),
    };
    let sentence = format!("{parts}: {remedy}.");
    candidate.propose(packer, ProposalText { elements, sentence, hint: hint(candidate, elements) })
}

/// Pads each element of an array of structures.
fn by_period(candidate: &Candidate<'_>) -> Option<Proposal> {
    let elements = pattern::period(candidate.object, candidate.survey)?;
    if elements.stride % candidate.block_units() == 0 || candidate.object.extents.len() > 1 {
        return None;
    }
    let header = pattern::header(candidate.object, candidate.survey, elements.stride);
    let elements =
        Elements { count: (candidate.object.words() - header) / elements.stride, ..elements };
    let mut packer = Packer::new(candidate);
    for &extent in &candidate.object.extents {
        let (before, after) = extent.split_at(header);
        if header > 0 {
            put_aligned(&mut packer, before);
        }
        pattern::rows(after, elements.stride).for_each(|row| put_aligned(&mut packer, row));
    }
    let block = size(candidate.block.bytes());
    let which = match header {
        0 => String::new(),
        header => format!(" after its first {}", size(candidate.bytes_of(header))),
    };
    let sentence = format!(
        "The {} elements of `{}`{which}, {} each by their pattern of use, straddle blocks of \
         {block} and share them, while {} use them: pad each element to a multiple of {block}.",
        elements.count,
        candidate.object.label(),
        size(candidate.bytes_of(elements.stride)),
        users(candidate.survey, &candidate.users),
    );
    let hint = hint(candidate, Some(elements));
    candidate.propose(packer, ProposalText { elements: Some(elements), sentence, hint })
}

/// Pads each element of an array of values of one or two bytes, as flags and small locks are.
fn by_value(candidate: &Candidate<'_>) -> Option<Proposal> {
    let [extent] = candidate.object.extents[..] else { return None };
    let values = values_of(candidate.survey, extent);
    let stride = values.first().map(|value| value.words)?;
    let small = candidate.bytes_of(stride) < BlockSize::WORD_BYTES;
    if !small || values.len() < 2 || values.iter().any(|value| value.words != stride) {
        return None;
    }
    let elements = Elements { stride, count: extent.words / stride };
    if by_owner(candidate).is_some_and(|proposal| proposal.text.elements == Some(elements)) {
        return None;
    }
    let mut packer = Packer::new(candidate);
    pattern::rows(extent, stride).for_each(|row| put_aligned(&mut packer, row));
    let block = size(candidate.block.bytes());
    let sentence = format!(
        "The {} elements of `{}`, {} each, lie next to each other in blocks of {block}, and {} use \
         and write them: pad each element to {block}.",
        elements.count,
        candidate.object.label(),
        size(candidate.bytes_of(stride)),
        users(candidate.survey, &candidate.users),
    );
    let hint = hint(candidate, Some(elements));
    candidate.propose(packer, ProposalText { elements: Some(elements), sentence, hint })
}

fn put_aligned(packer: &mut Packer<'_>, extent: WordExtent) {
    packer.block();
    packer.put(extent);
}

fn hint(candidate: &Candidate<'_>, elements: Option<Elements>) -> String {
    let (block, name) = (candidate.block.bytes(), code_name(candidate.object));
    match elements {
        Some(Elements { count, .. }) if !is_heap(candidate.object) => {
            format!("struct {{ alignas({block}) TYPE value; }} {name}[{count}];")
        }
        Some(Elements { count, .. }) => format!(
            "struct padded {{ alignas({block}) TYPE value; }} *{name} = aligned_alloc({block}, \
             {count} * sizeof *{name});"
        ),
        None if candidate.object.extents.len() == 1 && candidate.runs.len() <= PARTS_MAX => {
            let first = candidate.runs.first().map_or(0, |run| run.extent.first);
            let starts = candidate.runs.iter().skip(1);
            let starts: Vec<String> = starts
                .map(|run| candidate.bytes_of(run.extent.first - first).to_string())
                .collect();
            format!("alignas({block}) before what begins at bytes {} of it", starts.join(", "))
        }
        None => format!("start_of(part) = (end_of(part - 1) + {block} - 1) / {block} * {block}"),
    }
}
