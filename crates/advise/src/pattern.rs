//! Elements of an array, found from how its words are used.

use std::collections::BTreeMap;

use homenode_base::ProcId;

use crate::candidate::Candidate;
use crate::objects::{DataObject, UniformRun, WordExtent};
use crate::survey::{UseSurvey, WordLabel};

/// Longest element that is found, in words.
const PERIOD_MAX: usize = 128;

/// Words of an object that are examined, from its middle.
const SAMPLE_WORDS: usize = 4096;

/// Percentage of the words that must be used like the word one element further on.
const LIKE_PERCENT: usize = 70;

/// Percentage of the distances between a thread's runs that must be equal.
const THREAD_STRIDE_PERCENT: u64 = 60;

const DISTANCES_MIN: u64 = 8;

/// Words that begin at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Elements {
    /// Words from the beginning of one to that of the next.
    pub stride: u64,
    /// How many.
    pub count: u64,
}

/// The distance between the beginnings of successive runs, if nearly all are equal. Two runs are
/// elements only if each is one thread's and they have the same size: else they are the parts of a
/// structure.
#[must_use]
pub fn stride(runs: &[UniformRun]) -> Option<Elements> {
    let (first, rest) = runs.split_first()?;
    let second = rest.first()?;
    let owned = |run: &UniformRun| matches!(run.label, WordLabel::Own(_));
    let alike = owned(first) && owned(second) && first.extent.words == second.extent.words;
    if runs.len() == 2 && !alike {
        return None;
    }
    let stride = second.extent.first - first.extent.first;
    let equal = runs.windows(2).filter(|w| w[1].extent.first - w[0].extent.first == stride);
    let regular = equal.count() * 10 >= (runs.len() - 1) * 9;
    let count = u64::try_from(runs.len()).unwrap_or(u64::MAX);
    regular.then_some(Elements { stride, count })
}

/// The distance, in words, between successive runs of the same thread in an extent, if most are
/// equal: the row of a matrix divided by columns, or the threads in a cyclic distribution.
#[must_use]
pub fn thread_stride(candidate: &Candidate<'_>) -> Option<u64> {
    let mut distances: BTreeMap<u64, u64> = BTreeMap::new();
    for (&(_, distance), count) in &thread_distances(candidate) {
        *distances.entry(distance).or_default() += count;
    }
    let all: u64 = distances.values().sum();
    let (&distance, &count) = distances.iter().max_by_key(|&(_, &count)| count)?;
    (count * 100 >= all * THREAD_STRIDE_PERCENT).then_some(distance)
}

/// Whether runs of the same thread follow at mostly equal distances within each extent: arrays of
/// one call site that are dealt out alike, but have elements of different sizes.
#[must_use]
pub fn regular_extents(candidate: &Candidate<'_>) -> bool {
    let mut extents: BTreeMap<u64, (u64, u64)> = BTreeMap::new();
    for (&(extent, _), &count) in &thread_distances(candidate) {
        let (all, most) = extents.entry(extent).or_default();
        *all += count;
        *most = count.max(*most);
    }
    let all: u64 = extents.values().map(|&(all, _)| all).sum();
    // A small number of equal distances may be chance.
    let most = extents.values().filter(|&&(all, _)| all >= DISTANCES_MIN).map(|&(_, most)| most);
    all > 0 && most.sum::<u64>() * 100 >= all * THREAD_STRIDE_PERCENT
}

fn thread_distances(candidate: &Candidate<'_>) -> BTreeMap<(u64, u64), u64> {
    let mut last: BTreeMap<(ProcId, u64), u64> = BTreeMap::new();
    let mut distances: BTreeMap<(u64, u64), u64> = BTreeMap::new();
    let mut extents = candidate.object.extents.iter().peekable();
    for run in &candidate.runs {
        while extents.next_if(|extent| extent.range().end <= run.extent.first).is_some() {}
        let (WordLabel::Own(owner), Some(extent)) = (run.label, extents.peek()) else { continue };
        if let Some(before) = last.insert((owner, extent.first), run.extent.first) {
            *distances.entry((extent.first, run.extent.first - before)).or_default() += 1;
        }
    }
    distances
}

/// The element of an object that is an array of structures: heap blocks of one size and call site,
/// or the period of the pattern of use. `None` if all words are used alike, as in an array of
/// numbers.
#[must_use]
pub fn period(object: &DataObject, survey: &UseSurvey) -> Option<Elements> {
    let count = u64::try_from(object.extents.len()).unwrap_or(u64::MAX);
    let first = object.extents.first()?;
    if count > 1 {
        let equal = object.extents.iter().all(|extent| extent.words == first.words);
        return equal.then_some(Elements { stride: first.words, count });
    }
    let words = usize::try_from(first.words).unwrap_or(usize::MAX);
    let length = words.min(SAMPLE_WORDS);
    let from = first.first + u64::try_from((words - length) / 2).unwrap_or(0);
    let signatures: Vec<FieldSignature> =
        (from..).take(length).map(|word| field_signature(survey, word)).collect();
    let like = |period: usize| {
        let pairs = signatures.iter().zip(&signatures[period..]);
        let same = pairs.filter(|(a, b)| a == b).count();
        same * 1000 / (signatures.len() - period)
    };
    let longest = PERIOD_MAX.min(length / 4);
    let scores: Vec<(usize, usize)> = (1..=longest).map(|period| (period, like(period))).collect();
    let best = scores.iter().map(|&(_, score)| score).max()?;
    let enough = best >= LIKE_PERCENT * 10;
    // A multiple of the period fits as well, so the shortest that is nearly as good is the period.
    let good = |&&(_, score): &&(usize, usize)| score * 100 >= best * 97;
    let period = scores.iter().find(good).filter(|_| enough)?.0;
    let stride = u64::try_from(period).ok()?;
    (period > 1).then_some(Elements { stride, count: first.words / stride })
}

/// Where the first element of an array of structures begins, in words. It begins after a header if
/// that leaves fewer elements with words of several threads than beginning with the object.
#[must_use]
pub fn header(object: &DataObject, survey: &UseSurvey, stride: u64) -> u64 {
    let [extent] = object.extents[..] else { return 0 };
    let labels: Vec<WordLabel> =
        extent.range().take(SAMPLE_WORDS).map(|word| survey.label(word)).collect();
    let length = usize::try_from(stride).unwrap_or(usize::MAX).max(1);
    let divided = |header: usize| {
        let (before, rest) = labels.split_at(header.min(labels.len()));
        let elements = std::iter::once(before).chain(rest.chunks(length));
        elements.filter(|element| has_several_owners(element)).count()
    };
    (0..length).min_by_key(|&header| (divided(header), header)).map_or(0, |h| h as u64)
}

/// Whether more than one thread owns some of these words.
fn has_several_owners(labels: &[WordLabel]) -> bool {
    let mut owners = labels.iter().filter(|label| matches!(label, WordLabel::Own(_)));
    owners.next().is_some_and(|first| owners.any(|other| other != first))
}

/// How a word is used: equal for the same field of two elements.
type FieldSignature = (u8, u32);

fn field_signature(survey: &UseSurvey, word: u64) -> FieldSignature {
    let kind = match survey.label(word) {
        WordLabel::Untouched => 0,
        WordLabel::Own(_) => 1,
        WordLabel::Read => 2,
        WordLabel::Shared => 3,
    };
    // Number of references up to a factor of four: fields differ by more, elements by less.
    (kind, survey.references_to(word).checked_ilog2().map_or(0, |log| 1 + log / 2))
}

/// The elements of an object: extents cut every `stride` words.
pub fn elements(object: &DataObject, stride: u64) -> impl Iterator<Item = WordExtent> + '_ {
    object.extents.iter().flat_map(move |&extent| rows(extent, stride))
}

/// An extent cut every `stride` words.
pub fn rows(extent: WordExtent, stride: u64) -> impl Iterator<Item = WordExtent> {
    let starts = (0..extent.words).step_by(usize::try_from(stride).unwrap_or(usize::MAX));
    starts.map(move |start| WordExtent {
        first: extent.first + start,
        words: stride.min(extent.words - start),
    })
}

#[cfg(test)]
mod tests {
    use homenode_base::{AccessKind, ReferenceFilter};
    use homenode_trace::Batch;

    use super::*;
    use crate::objects::PartOfObject;
    use crate::survey::UseSurveyor;

    #[test]
    fn elements_after_a_header_begin_where_their_users_change() {
        // Two threads run; a header of six words, then elements of ten words with a thread each.
        let begin = |element: u64| 0x1000 + 24 + 40 * element;
        let mut writes = vec![(0, 0x9000), (1, 0x9004), (0, 0x1000), (1, 0x1004), (0, 0x1014)];
        for element in 0..12 {
            let thread = u16::try_from(element % 4).expect("a thread");
            writes.extend((0..10).map(|word| (thread, begin(element) + 4 * word)));
        }
        let mut batch = Batch::default();
        for (thread, addr) in writes {
            batch.turns.push(thread);
            batch.kind.push(AccessKind::Write.code());
            batch.size.push(4);
            batch.addr.push(addr);
        }
        let mut surveyor = UseSurveyor::new(4, ReferenceFilter::ALL);
        surveyor.push(&batch);
        let extents = vec![WordExtent { first: 0x400, words: 6 + 10 * 12 }];
        let object = DataObject {
            identity: None,
            part: PartOfObject::Whole,
            unit_bytes: 4,
            extents,
            used: 123,
        };
        assert_eq!(header(&object, &surveyor.finish(), 10), 6);
    }
}
