//! Data of different threads, interleaved.

use std::collections::BTreeMap;

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::objects::{UniformRun, WordExtent, uniform_runs};
use crate::pattern::{self, Elements};
use crate::survey::WordLabel;
use crate::text::{is_heap, size, user, users};

/// Largest object whose columns are gathered, in words: each word may be a move of its own.
const COLUMNS_WORDS_MAX: u64 = 1 << 24;

/// Gathers the words of each thread, beginning at a block; words that are only read follow, and
/// words that several threads use and one writes come last.
pub const ENTRY: Entry = Entry {
    name: "group",
    summary: "gather what each thread uses: bands instead of cyclic rows, an arena a thread",
    source: "Markatos and Chronaki, section 3.4, for objects instead of words",
    propose,
};

fn propose(candidate: &Candidate<'_>) -> Vec<Proposal> {
    if candidate.owners().len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if candidate.object.extents.len() > 1 {
        found.push(by_block(candidate));
    }
    if found.iter().flatten().next().is_none()
        || candidate.runs.len() > candidate.object.extents.len()
    {
        found.extend(
            [
                NonexclusivePlacement::WithExclusive,
                NonexclusivePlacement::AfterExclusive,
                NonexclusivePlacement::OriginalOrder,
            ]
            .map(|o| by_run(candidate, o)),
        );
        found.push(by_column(candidate));
    }
    found.into_iter().flatten().collect()
}

/// A class of words that are gathered: those with the same label, subdivided if necessary by
/// whether they are used exclusively.
type GroupClass = (WordLabel, bool);

/// Packs the extents of each class together; `None` if every class is one extent already.
fn gather<'a>(candidate: &Candidate<'a>, parts: &[(GroupClass, WordExtent)]) -> Option<Packer<'a>> {
    let mut classes: BTreeMap<GroupClass, Vec<WordExtent>> = BTreeMap::new();
    for &(class, extent) in parts {
        classes.entry(class).or_default().push(extent);
    }
    if classes.len() < 2 || classes.values().all(|extents| extents.len() == 1) {
        return None;
    }
    let mut packer = Packer::new(candidate);
    for extents in classes.values() {
        packer.block();
        extents.iter().for_each(|&extent| packer.put(extent));
    }
    Some(packer)
}

/// Gathers whole heap blocks by the thread that uses them. Only if nearly all are used by one
/// thread each: a block that is passed between threads fits into no thread's pool.
fn by_block(candidate: &Candidate<'_>) -> Option<Proposal> {
    let mut runs = candidate.runs.iter().peekable();
    let mut parts = Vec::new();
    let (mut used, mut alone) = (0, 0);
    for &extent in &candidate.object.extents {
        let mut words: BTreeMap<WordLabel, u64> = BTreeMap::new();
        while let Some(run) = runs.next_if(|run| extent.range().contains(&run.extent.first)) {
            *words.entry(run.label).or_default() += run.extent.words;
        }
        let most = words.iter().max_by_key(|&(_, &count)| count);
        let exclusive = extent.range().all(|word| candidate.survey.exclusive(word));
        let label = match most {
            Some((&label, &count)) if 4 * count >= 3 * extent.words => label,
            Some(_) => WordLabel::Shared,
            None => WordLabel::Untouched,
        };
        alone += usize::from(exclusive && matches!(label, WordLabel::Own(_)));
        used += usize::from(label != WordLabel::Untouched);
        parts.push(((label, false), extent));
    }
    if alone == 0 || alone * 10 < used * 9 {
        return None;
    }
    let packer = gather(candidate, &parts)?;
    let sentence = format!(
        "Of the {} heap blocks of `{}` nearly each is used by one thread alone for its life, {}, \
         and those of several threads lie in one block of {}: allocate them from a pool for each \
         thread, whose pieces begin at a block.",
        candidate.object.extents.len(),
        candidate.object.label(),
        one_of(candidate),
        size(candidate.block.bytes())
    );
    let hint = format!(
        "pool[thread] = aligned_alloc({}, ...); take each block from the pool of the thread that \
         will use it",
        candidate.block.bytes()
    );
    candidate.propose(packer, ProposalText { elements: None, sentence, hint })
}

/// Where words that a thread owns, but that others use too, are placed relative to the words that
/// it uses exclusively.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NonexclusivePlacement {
    /// Among the exclusive words of their thread.
    WithExclusive,
    /// After the exclusive words, thread by thread.
    AfterExclusive,
    /// In their original order, after the exclusive words of all threads.
    OriginalOrder,
}

impl NonexclusivePlacement {
    fn class(self, run: &UniformRun) -> GroupClass {
        match self {
            Self::WithExclusive => (run.label, false),
            Self::AfterExclusive => (run.label, run.exclusive),
            Self::OriginalOrder if run.exclusive || run.label == WordLabel::Read => {
                (run.label, false)
            }
            Self::OriginalOrder => (WordLabel::Shared, false),
        }
    }

    fn instruction(self) -> &'static str {
        match self {
            Self::WithExclusive => "",
            Self::AfterExclusive => "; keep what others use, too, behind what is its alone",
            Self::OriginalOrder => "; leave what several use in its order, in blocks of its own",
        }
    }
}

/// Runs of words with the same label.
fn by_run(candidate: &Candidate<'_>, placement: NonexclusivePlacement) -> Option<Proposal> {
    let cut;
    let runs = if placement == NonexclusivePlacement::WithExclusive {
        &candidate.runs
    } else {
        cut = uniform_runs(candidate.object, candidate.survey, true);
        &cut
    };
    let parts: Vec<(GroupClass, WordExtent)> =
        runs.iter().map(|r| (placement.class(r), r.extent)).collect();
    let packer = gather(candidate, &parts)?;
    let owned = candidate.runs.iter().filter(|run| matches!(run.label, WordLabel::Own(_)));
    let lengths = owned.map(|run| candidate.bytes_of(run.extent.words));
    let order = match pattern::thread_stride(candidate) {
        Some(thread_stride) => {
            format!("one after the other, again every {}", size(candidate.bytes_of(thread_stride)))
        }
        // Data used at random have no owner, even if one thread happens to use them most.
        None if !owned_for_good(candidate) => return None,
        // The same holds for heap memory that an allocator hands out: next time any thread may get
        // any piece.
        None if is_heap(candidate.object) && !pattern::regular_extents(candidate) => return None,
        None if is_heap(candidate.object) => "at equal distances in each heap block".to_owned(),
        None => "in no regular order, but each for good".to_owned(),
    };
    let apart = placement.instruction();
    let sentence = format!(
        "`{}` is dealt out to {} in pieces of {} ({order}), so that blocks of {} belong to many: \
         give each {} one stretch of it that begins at a block (bands instead of cyclic \
         pieces){apart}.",
        candidate.object.label(),
        users(candidate.survey, &candidate.owners()),
        size(median(lengths.collect())),
        size(candidate.block.bytes()),
        user(candidate.survey),
    );
    let hint = if is_heap(candidate.object) {
        format!(
            "one aligned_alloc({}, ...) a thread, indexed [thread][piece]",
            candidate.block.bytes()
        )
    } else {
        format!("struct {{ alignas({}) TYPE part[...]; }} [THREADS];", candidate.block.bytes())
    };
    candidate.propose(
        packer,
        ProposalText { elements: pattern::stride(&candidate.runs), sentence, hint },
    )
}

/// Whether nearly all words that a thread owns are used only by that thread.
fn owned_for_good(candidate: &Candidate<'_>) -> bool {
    let runs = uniform_runs(candidate.object, candidate.survey, true);
    let owned = runs.iter().filter(|run| matches!(run.label, WordLabel::Own(_)));
    let (mut all, mut exclusive) = (0, 0);
    for run in owned {
        all += run.extent.words;
        exclusive += if run.exclusive { run.extent.words } else { 0 };
    }
    exclusive * 10 >= all * 9
}

/// A matrix whose columns are divided among the threads, with its dimensions exchanged.
fn by_column(candidate: &Candidate<'_>) -> Option<Proposal> {
    let thread_stride = pattern::thread_stride(candidate)?;
    if candidate.object.words() > COLUMNS_WORDS_MAX {
        return None;
    }
    let units = units(candidate, thread_stride)?;
    let mut packer = Packer::new(candidate);
    for extent in &candidate.object.extents {
        packer.block();
        let mut owner = None;
        for &(unit, label) in &units {
            if owner.replace(label).is_some_and(|before| before != label) {
                packer.block();
            }
            for row in pattern::rows(*extent, thread_stride) {
                let end = row.words.min(unit.1);
                if unit.0 < end {
                    packer.put(WordExtent { first: row.first + unit.0, words: end - unit.0 });
                }
            }
        }
    }
    let sentence = format!(
        "`{}` is divided among {} along the dimension that runs fastest in memory: each has a few \
         bytes of every {}, and blocks of {} belong to many. Exchange the dimensions, so that what \
         a thread uses lies in a row, and begin each thread's part at a block.",
        candidate.object.label(),
        users(candidate.survey, &candidate.owners()),
        size(candidate.bytes_of(thread_stride)),
        size(candidate.block.bytes())
    );
    let (block, count) = (candidate.block.bytes(), candidate.object.words() / thread_stride);
    let hint = format!("x[column][row] for x[row][column], parts aligned to {block} bytes");
    let elements = Some(Elements { stride: thread_stride, count });
    candidate.propose(packer, ProposalText { elements, sentence, hint })
}

/// Columns of a matrix with the given words per row, joined where they are used alike: the first
/// word of some, one past the last, and the label of most of their words. `None` if the words of a
/// column are mostly used differently, or all columns are used alike: then this is not a matrix
/// divided by columns.
fn units(candidate: &Candidate<'_>, thread_stride: u64) -> Option<Vec<((u64, u64), WordLabel)>> {
    let length = usize::try_from(thread_stride).unwrap_or(0);
    let mut counts: Vec<BTreeMap<WordLabel, u64>> = vec![BTreeMap::new(); length];
    let mut joined = vec![false; length + 1];
    for row in
        candidate.object.extents.iter().flat_map(|&extent| pattern::rows(extent, thread_stride))
    {
        for (at, word) in row.range().enumerate() {
            let label = candidate.survey.label(word);
            if label != WordLabel::Untouched {
                *counts[at].entry(label).or_default() += 1;
            }
            joined[at + 1] |= candidate.survey.joined(word);
        }
    }
    let mut units: Vec<((u64, u64), WordLabel)> = Vec::new();
    let (mut all, mut alike) = (0, 0);
    for ((at, count), joined) in (0..).zip(&counts).zip(joined) {
        all += count.values().sum::<u64>();
        alike += count.values().max().copied().unwrap_or(0);
        let most = count.iter().max_by_key(|&(_, &count)| count).map(|(&label, _)| label);
        match units.last_mut() {
            // Words that one thread uses stay together: a record must not be taken apart.
            Some(((_, end), label)) if joined || most.is_none_or(|most| most == *label) => {
                *end = at + 1;
            }
            _ => units.push(((at, at + 1), most.unwrap_or(WordLabel::Untouched))),
        }
    }
    let mut labels: Vec<WordLabel> = units.iter().map(|&(_, label)| label).collect();
    labels.sort_unstable();
    labels.dedup();
    (alike * 4 >= all * 3 && labels.len() > 1).then_some(units)
}

fn one_of(candidate: &Candidate<'_>) -> String {
    format!("one of {}", users(candidate.survey, &candidate.owners()))
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
