//! Values that several threads write, each in a block of its own.

use std::collections::BTreeMap;
use std::ops::Range;

use super::{FieldClass, PARTS_MAX, classes};
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::{UniformRun, WordExtent};
use crate::pattern::{self, Elements};
use crate::survey::{UseSurvey, WordLabel};
use crate::text::{byte_range, pieces, size, users};

/// Most values, of an object or an element, that go to blocks of their own.
const VALUES_MAX: usize = 32;

/// Longest beginning that elements of different sizes have in common, in words.
const HEAD_WORDS_MAX: u64 = 128;

/// Most values that a sentence lists.
const LISTED_MAX: usize = 4;

/// By values of the whole object, and by fields of its elements: heap blocks of different sizes
/// that begin alike have fields only.
pub(super) fn proposals(candidate: &Candidate<'_>) -> [Option<Proposal>; 2] {
    let extents = &candidate.object.extents;
    let fields = fields(candidate);
    let by_values = extents.len() == 1
        || are_unequal(extents) && extents.len() <= PARTS_MAX && fields.is_none();
    [by_values.then(|| values(candidate)).flatten(), fields]
}

/// A single structure, or heap blocks of different sizes that one line allocates: those with few
/// parts are taken apart, the others begin at a block.
fn values(candidate: &Candidate<'_>) -> Option<Proposal> {
    let extents = &candidate.object.extents;
    let several = extents.len() > 1;
    let mut rest: BTreeMap<WordLabel, Vec<WordExtent>> = BTreeMap::new();
    let (mut alone, mut whole) = (Vec::new(), Vec::new());
    let mut runs = candidate.runs.iter().peekable();
    for &extent in extents {
        let of_it =
            std::iter::from_fn(|| runs.next_if(|r| extent.range().contains(&r.extent.first)));
        let of_it: Vec<&UniformRun> = of_it.collect();
        let shared = of_it.iter().filter(|run| run.label == WordLabel::Shared);
        let values: Vec<WordExtent> =
            shared.flat_map(|run| values_of(candidate.survey, run.extent)).collect();
        if of_it.len() > PARTS_MAX || values.len() > VALUES_MAX {
            whole.push(extent);
            continue;
        }
        alone.extend(values);
        for run in of_it.iter().filter(|run| run.label != WordLabel::Shared) {
            rest.entry(run.label).or_default().push(run.extent);
        }
    }
    // One value beside data of one other use is what `structure` takes apart.
    let parts = alone.len() + rest.len() + whole.len();
    if alone.is_empty() || parts < 2 || alone.len() == 1 && !several {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for extents in rest.values() {
        packer.block();
        extents.iter().for_each(|&extent| packer.put(extent));
    }
    for &extent in alone.iter().chain(&whole) {
        packer.block();
        packer.put(extent);
    }
    let begin = extents.iter().rfind(|extent| extent.first <= alone[0].first)?;
    let ranges: Vec<Range<u64>> = alone
        .iter()
        .filter(|value| begin.range().contains(&value.first))
        .map(|value| value.first - begin.first..value.first - begin.first + value.words)
        .collect();
    let label = candidate.object.label();
    let which = if several {
        format!("Of the {} {} of `{label}` one has", extents.len(), pieces(candidate.object))
    } else {
        format!("`{label}` has")
    };
    propose(candidate, packer, &which, &ranges, None)
}

/// Elements of an array of structures, or heap blocks of different sizes that begin alike, such as
/// structures with an array of variable length at their end: every field that several threads write
/// begins at a block, and so does what follows it.
fn fields(candidate: &Candidate<'_>) -> Option<Proposal> {
    let extents = &candidate.object.extents;
    let unequal = are_unequal(extents);
    let (stride, elements): (u64, Vec<WordExtent>) = if unequal {
        let shortest = extents.iter().map(|extent| extent.words).min()?;
        (shortest.min(HEAD_WORDS_MAX), extents.clone())
    } else {
        let stride = pattern::period(candidate.object, candidate.survey)?.stride;
        (stride, pattern::elements(candidate.object, stride).collect())
    };
    let heads = || elements.iter().map(|element| element.split_at(stride).0);
    let classes = classes(candidate, stride, heads());
    if unequal && !are_alike(candidate.survey, &classes, heads()) {
        return None;
    }
    let begins = value_begins(candidate, stride, heads());
    let cut = |at: usize| {
        at == 0 || classes[at] != classes[at - 1] || classes[at] == FieldClass::Shared && begins[at]
    };
    let mut ranges: Vec<Range<u64>> = Vec::new();
    for (at, position) in (0..classes.len()).zip(0..) {
        match ranges.last_mut() {
            Some(last) if !cut(at) => last.end = position + 1,
            _ => ranges.push(position..position + 1),
        }
    }
    let class = |range: &Range<u64>| classes[usize::try_from(range.start).unwrap_or(0)];
    let shared: Vec<Range<u64>> =
        ranges.iter().filter(|range| class(range) == FieldClass::Shared).cloned().collect();
    // Where sizes are equal, `fields` of the parent takes a single one apart.
    let least = if unequal { 1 } else { 2 };
    if shared.len() < least || ranges.len() < 2 || ranges.len() > VALUES_MAX {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for element in &elements {
        let mut rest = *element;
        for range in ranges.iter().skip(1).chain([&(element.words..element.words)]) {
            let taken = rest.first - element.first;
            let (part, after) = rest.split_at(range.start.saturating_sub(taken));
            if part.words > 0 {
                packer.block();
                packer.put(part);
            }
            rest = after;
        }
    }
    let count = u64::try_from(elements.len()).unwrap_or(u64::MAX);
    let label = candidate.object.label();
    let which = if unequal {
        let pieces = pieces(candidate.object);
        format!("The {count} {pieces} of `{label}`, of different sizes, each have")
    } else {
        format!(
            "The {count} elements of `{label}`, {} each, each have",
            size(candidate.bytes_of(stride))
        )
    };
    let elements = (!unequal).then_some(Elements { stride, count });
    propose(candidate, packer, &which, &shared, elements)
}

fn are_unequal(extents: &[WordExtent]) -> bool {
    extents.windows(2).any(|pair| pair[0].words != pair[1].words)
}

/// Whether elements have fields of the same classes: at least three quarters of their words.
fn are_alike(
    survey: &UseSurvey,
    classes: &[FieldClass],
    elements: impl Iterator<Item = WordExtent>,
) -> bool {
    let (mut used, mut alike) = (0, 0);
    for element in elements {
        for (word, class) in element.range().zip(classes) {
            let of_word = FieldClass::of(survey.label(word));
            used += usize::from(of_word.is_some());
            alike += usize::from(of_word == Some(*class));
        }
    }
    alike * 4 >= used * 3
}

/// Cuts words that several threads write into values. Unused words go with those before them.
pub(in crate::kind) fn values_of(survey: &UseSurvey, words: WordExtent) -> Vec<WordExtent> {
    let mut values: Vec<WordExtent> = Vec::new();
    for word in words.range() {
        let goes_on = survey.references_to(word) == 0 || word > 0 && survey.joined(word - 1);
        match values.last_mut() {
            Some(value) if goes_on => value.words += 1,
            _ => values.push(WordExtent { first: word, words: 1 }),
        }
    }
    values
}

/// For each word of an element whether a value begins there.
fn value_begins(
    candidate: &Candidate<'_>,
    stride: u64,
    elements: impl Iterator<Item = WordExtent>,
) -> Vec<bool> {
    let length = usize::try_from(stride).unwrap_or(0);
    let (mut used, mut joined) = (vec![false; length], vec![false; length + 1]);
    for element in elements {
        for (at, word) in element.range().enumerate() {
            used[at] |= candidate.survey.references_to(word) > 0;
            joined[at + 1] |= candidate.survey.joined(word);
        }
    }
    used.into_iter().zip(joined).map(|(used, joined)| used && !joined).collect()
}

fn propose(
    candidate: &Candidate<'_>,
    packer: Packer<'_>,
    which: &str,
    values: &[Range<u64>],
    elements: Option<Elements>,
) -> Option<Proposal> {
    let one = |range: &Range<u64>| {
        byte_range(candidate.bytes_of(range.start), candidate.bytes_of(range.end) - 1)
    };
    let listed: Vec<String> = values.iter().take(LISTED_MAX).map(one).collect();
    let more = if values.len() > LISTED_MAX { " and more" } else { "" };
    let (what, each) = if values.len() == 1 { ("a value", "it") } else { ("values", "each") };
    let sentence = format!(
        "{which} {what} that {} write, beside each other or other data in blocks of {} (bytes \
         {}{more}): give {each} a block of its own.",
        users(candidate.survey, &candidate.users),
        size(candidate.block.bytes()),
        listed.join(", "),
    );
    let hint = format!(
        "struct {{ alignas({0}) TYPE one; alignas({0}) TYPE other; alignas({0}) TYPE rest; }}",
        candidate.block.bytes()
    );
    candidate.propose(packer, ProposalText { elements, sentence, hint })
}
