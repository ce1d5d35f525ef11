//! Fields of different use in one block.

use std::collections::BTreeMap;

pub(super) mod apart;

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::WordExtent;
use crate::pattern;
use crate::survey::WordLabel;
use crate::text::{byte_range, size, users};

/// Most parts of a single structure for which advice is given.
const PARTS_MAX: usize = 64;

/// Fields that one thread uses, that are only read, and that several use and one writes go to
/// different blocks: an array of structures becomes a structure of arrays.
pub const ENTRY: Entry = Entry {
    name: "split",
    summary: "move fields apart by how they are used: structure of arrays, hot and cold parts",
    source: "Markatos and Chronaki, section 3.4, for fields instead of words",
    propose,
};

fn propose(candidate: &Candidate<'_>) -> Vec<Proposal> {
    let found = [fields(candidate, false), fields(candidate, true), structure(candidate)];
    found.into_iter().chain(apart::proposals(candidate)).flatten().collect()
}

/// How threads use a field, regardless of which threads use a given element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum FieldClass {
    Owned,
    Read,
    Shared,
}

impl FieldClass {
    fn of(label: WordLabel) -> Option<Self> {
        match label {
            WordLabel::Untouched => None,
            WordLabel::Own(_) => Some(Self::Owned),
            WordLabel::Read => Some(Self::Read),
            WordLabel::Shared => Some(Self::Shared),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Owned => "used by one thread",
            Self::Read => "only read",
            Self::Shared => "written and used by several threads",
        }
    }
}

/// The fields of an array of structures, by their distance from its beginning. Those that several
/// threads use and one writes may each have a block for every element.
fn fields(candidate: &Candidate<'_>, shared_apart: bool) -> Option<Proposal> {
    let elements = pattern::period(candidate.object, candidate.survey)?;
    let stride = elements.stride;
    let classes = classes(candidate, stride, pattern::elements(candidate.object, stride));
    let mut ranges: Vec<(FieldClass, std::ops::Range<u64>)> = Vec::new();
    for (at, &class) in (0..).zip(&classes) {
        match ranges.last_mut() {
            Some((last, range)) if *last == class => range.end = at + 1,
            Some(_) | None => ranges.push((class, at..at + 1)),
        }
    }
    let mut packer = Packer::new(candidate);
    let mut kinds: Vec<FieldClass> = classes.clone();
    kinds.sort_unstable();
    kinds.dedup();
    if kinds.len() < 2 || (shared_apart && !kinds.contains(&FieldClass::Shared)) {
        return None;
    }
    for &kind in &kinds {
        packer.block();
        for element in pattern::elements(candidate.object, elements.stride) {
            if shared_apart && kind == FieldClass::Shared {
                packer.block();
            }
            for (_, range) in ranges.iter().filter(|(class, _)| *class == kind) {
                let end = range.end.min(element.words);
                if range.start < end {
                    let first = element.first + range.start;
                    packer.put(WordExtent { first, words: end - range.start });
                }
            }
        }
    }
    let list: Vec<String> = ranges
        .iter()
        .map(|(class, range)| {
            let last = candidate.bytes_of(range.end) - 1;
            format!("{} {}", byte_range(candidate.bytes_of(range.start), last), class.name())
        })
        .collect();
    let remedy = if shared_apart {
        "give what several threads write a block of its own in each element"
    } else {
        "keep these in arrays of their own, each beginning at a block"
    };
    let sentence = format!(
        "The {} elements of `{}`, {} each, mix fields of different use in blocks of {} (bytes {}): \
         {remedy}.",
        elements.count,
        candidate.object.label(),
        size(candidate.bytes_of(elements.stride)),
        size(candidate.block.bytes()),
        list.join(", "),
    );
    let hint = format!(
        "struct {{ TYPE field[{}]; alignas({}) TYPE other[{0}]; }}",
        elements.count,
        candidate.block.bytes()
    );
    candidate.propose(packer, ProposalText { elements: Some(elements), sentence, hint })
}

/// The class of each word of an element: its most frequent class over all elements. Unused words
/// and later words of a value have the class of the word before them.
fn classes(
    candidate: &Candidate<'_>,
    stride: u64,
    elements: impl Iterator<Item = WordExtent>,
) -> Vec<FieldClass> {
    let length = usize::try_from(stride).unwrap_or(0);
    let mut counts: Vec<BTreeMap<FieldClass, u64>> = vec![BTreeMap::new(); length];
    let mut joined = vec![false; length + 1];
    for element in elements {
        for (at, word) in element.range().enumerate() {
            if let Some(class) = FieldClass::of(candidate.survey.label(word)) {
                *counts[at].entry(class).or_default() += 1;
            }
            joined[at + 1] |= candidate.survey.joined(word);
        }
    }
    let most = |count: &BTreeMap<FieldClass, u64>| {
        count.iter().max_by_key(|&(_, &count)| count).map(|(&class, _)| class)
    };
    let mut last = counts.iter().find_map(most).unwrap_or(FieldClass::Owned);
    let mut classes = Vec::with_capacity(length);
    for (count, joined) in counts.iter().zip(joined) {
        if !joined {
            last = most(count).unwrap_or(last);
        }
        classes.push(last);
    }
    classes
}

fn structure(candidate: &Candidate<'_>) -> Option<Proposal> {
    if candidate.object.extents.len() > 1 || candidate.runs.len() > PARTS_MAX {
        return None;
    }
    let mut parts: BTreeMap<WordLabel, Vec<WordExtent>> = BTreeMap::new();
    for run in &candidate.runs {
        parts.entry(run.label).or_default().push(run.extent);
    }
    let several = parts.contains_key(&WordLabel::Read) || parts.contains_key(&WordLabel::Shared);
    if parts.len() < 2 || !several {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for extents in parts.values() {
        packer.block();
        extents.iter().for_each(|&extent| packer.put(extent));
    }
    let start = candidate.object.extents.first().map_or(0, |extent| extent.first);
    let said: Vec<String> =
        parts.iter().map(|(label, e)| part(candidate, *label, e, start)).collect();
    let sentence = format!(
        "`{}` holds data of different use in one block of {} ({}): move these apart, each to a \
         block of its own.",
        candidate.object.label(),
        size(candidate.block.bytes()),
        said.join("; ")
    );
    let hint = format!("struct {{ TYPE one; alignas({}) TYPE other; }}", candidate.block.bytes());
    candidate.propose(packer, ProposalText { elements: None, sentence, hint })
}

fn part(candidate: &Candidate<'_>, label: WordLabel, extents: &[WordExtent], start: u64) -> String {
    let who = match label {
        WordLabel::Own(user) => users(candidate.survey, &[user]),
        WordLabel::Untouched => "no thread".to_owned(),
        WordLabel::Read => "several, which only read".to_owned(),
        WordLabel::Shared => "several, some of which write".to_owned(),
    };
    let one = |extent: &WordExtent| {
        let first = candidate.bytes_of(extent.first - start);
        byte_range(first, first + candidate.bytes_of(extent.words) - 1)
    };
    let shown: Vec<String> = extents.iter().take(3).map(one).collect();
    let more = if extents.len() > 3 { " and more" } else { "" };
    format!("bytes {}{more} used by {who}", shown.join(", "))
}
