//! Data of different threads, interleaved.

use std::collections::BTreeMap;

use super::Entry;
use crate::candidate::{Candidate, Packer, Proposal, ProposalText};
use crate::items::{UniformRun, WordExtent, runs};
use crate::pattern::{self, Elements, bytes};
use crate::survey::WordLabel;
use crate::text::{is_heap, size, threads};

/// Largest object whose columns are gathered: each word of it may go elsewhere.
const COLUMNS_WORDS_MAX: u64 = 1 << 24;

/// What belongs to one thread is gathered, thread by thread, each beginning at a block; what is
/// only read follows, and what several use and one writes comes last.
pub const ENTRY: Entry = Entry {
    name: "group",
    summary: "gather what each thread uses: bands instead of cyclic rows, an arena a thread",
    source: "Markatos and Chronaki, section 3.4, for objects instead of words",
    propose,
};

fn propose(case: &Candidate<'_>) -> Vec<Proposal> {
    if case.owners().len() < 2 {
        return Vec::new();
    }
    let mut found = Vec::new();
    if case.item.extents.len() > 1 {
        found.push(by_block(case));
    }
    if found.iter().flatten().next().is_none() || case.runs.len() > case.item.extents.len() {
        found.extend([Others::With, Others::Apart, Others::Behind].map(|o| by_run(case, o)));
        found.push(by_column(case));
    }
    found.into_iter().flatten().collect()
}

/// What goes together: what is one thread's apart from what others use, too, and what is shared.
type GroupClass = (WordLabel, bool);

/// Packs every class by itself; false if every class is one stretch, so that there is nothing to
/// gather.
fn gather<'a>(case: &Candidate<'a>, parts: &[(GroupClass, WordExtent)]) -> Option<Packer<'a>> {
    let mut classes: BTreeMap<GroupClass, Vec<WordExtent>> = BTreeMap::new();
    for &(class, extent) in parts {
        classes.entry(class).or_default().push(extent);
    }
    if classes.len() < 2 || classes.values().all(|extents| extents.len() == 1) {
        return None;
    }
    let mut packer = Packer::new(case);
    for extents in classes.values() {
        packer.block();
        extents.iter().for_each(|&extent| packer.put(extent));
    }
    Some(packer)
}

/// Heap blocks as wholes, each with the thread that most of its used words belong to.
fn by_block(case: &Candidate<'_>) -> Option<Proposal> {
    let mut runs = case.runs.iter().peekable();
    let mut parts = Vec::new();
    for &extent in &case.item.extents {
        let mut words: BTreeMap<WordLabel, u64> = BTreeMap::new();
        while let Some(run) = runs.next_if(|run| extent.range().contains(&run.extent.first)) {
            *words.entry(run.label).or_default() += run.extent.words;
        }
        let most = words.iter().max_by_key(|&(_, &count)| count);
        let label = match most {
            Some((&label, &count)) if 4 * count >= 3 * extent.words => label,
            Some(_) => WordLabel::Shared,
            None => WordLabel::Untouched,
        };
        parts.push(((label, false), extent));
    }
    let packer = gather(case, &parts)?;
    let sentence = format!(
        "The {} blocks of `{}` belong to {} each, and those of several lie in one block of {}: \
         allocate each thread's from an arena of its own, whose pieces begin at a block.",
        case.item.extents.len(),
        case.item.label(),
        one_of(case),
        size(case.block.bytes())
    );
    let hint = format!(
        "_Thread_local char *arena; arena = aligned_alloc({}, ...); bump it for each block",
        case.block.bytes()
    );
    case.propose(packer, ProposalText { elements: None, sentence, hint })
}

/// What becomes of words that are a thread's own but others use, too.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Others {
    /// They lie among what is the thread's alone.
    With,
    /// They go behind that, thread by thread.
    Apart,
    /// They stay in their order, behind everything that is one thread's alone.
    Behind,
}

impl Others {
    fn class(self, run: &UniformRun) -> GroupClass {
        match self {
            Self::With => (run.label, false),
            Self::Apart => (run.label, run.exclusive),
            Self::Behind if run.exclusive || run.label == WordLabel::Read => (run.label, false),
            Self::Behind => (WordLabel::Shared, false),
        }
    }

    fn said(self) -> &'static str {
        match self {
            Self::With => "",
            Self::Apart => "; keep what others use, too, behind what is its alone",
            Self::Behind => "; leave what several use in its order, in blocks of its own",
        }
    }
}

/// Stretches of words that are alike to the threads.
fn by_run(case: &Candidate<'_>, others: Others) -> Option<Proposal> {
    let cut;
    let runs = if others == Others::With {
        &case.runs
    } else {
        cut = runs(case.item, case.survey, true);
        &cut
    };
    let parts: Vec<(GroupClass, WordExtent)> =
        runs.iter().map(|r| (others.class(r), r.extent)).collect();
    let packer = gather(case, &parts)?;
    let owned = case.runs.iter().filter(|run| matches!(run.label, WordLabel::Own(_)));
    let lengths = owned.map(|run| bytes(run.extent.words));
    let order = match pattern::turn(case) {
        Some(turn) => format!("one after the other, again every {}", size(bytes(turn))),
        None => "in no regular order, so that this is for data whose users are known".to_owned(),
    };
    let apart = others.said();
    let sentence = format!(
        "`{}` is dealt out to {} in pieces of {} ({order}), so that blocks of {} belong to many: \
         give each thread one stretch of it that begins at a block (bands instead of cyclic \
         pieces){apart}.",
        case.item.label(),
        threads(&case.owners()),
        size(median(lengths.collect())),
        size(case.block.bytes())
    );
    let hint = if is_heap(case.item) {
        format!("one aligned_alloc({}, ...) a thread, indexed [thread][piece]", case.block.bytes())
    } else {
        format!("struct {{ _Alignas({}) TYPE part[...]; }} [THREADS];", case.block.bytes())
    };
    case.propose(packer, ProposalText { elements: pattern::stride(&case.runs), sentence, hint })
}

/// A matrix whose columns are divided among the threads, with its dimensions exchanged.
fn by_column(case: &Candidate<'_>) -> Option<Proposal> {
    let turn = pattern::turn(case)?;
    if case.item.words() > COLUMNS_WORDS_MAX {
        return None;
    }
    let units = units(case, turn);
    let mut packer = Packer::new(case);
    for extent in &case.item.extents {
        packer.block();
        let mut owner = None;
        for &(unit, label) in &units {
            if owner.replace(label).is_some_and(|before| before != label) {
                packer.block();
            }
            for row in pattern::rows(*extent, turn) {
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
        case.item.label(),
        threads(&case.owners()),
        size(bytes(turn)),
        size(case.block.bytes())
    );
    let (block, count) = (case.block.bytes(), case.item.words() / turn);
    let hint = format!("x[column][row] for x[row][column], parts aligned to {block} bytes");
    let elements = Some(Elements { stride: turn, count });
    case.propose(packer, ProposalText { elements, sentence, hint })
}

/// The columns of rows of so many words: first and behind the last word, and what most of a column
/// is. Words that hold a value together in any row are one column.
fn units(case: &Candidate<'_>, turn: u64) -> Vec<((u64, u64), WordLabel)> {
    let length = usize::try_from(turn).unwrap_or(0);
    let mut counts: Vec<BTreeMap<WordLabel, u64>> = vec![BTreeMap::new(); length];
    let mut joined = vec![false; length + 1];
    for row in case.item.extents.iter().flat_map(|&extent| pattern::rows(extent, turn)) {
        for (at, word) in row.range().enumerate() {
            let label = case.survey.label(word);
            if label != WordLabel::Untouched {
                *counts[at].entry(label).or_default() += 1;
            }
            joined[at + 1] |= case.survey.joined(word);
        }
    }
    let mut units: Vec<((u64, u64), WordLabel)> = Vec::new();
    for ((at, count), joined) in (0..).zip(&counts).zip(joined) {
        let most = count.iter().max_by_key(|&(_, &count)| count).map(|(&label, _)| label);
        match units.last_mut() {
            Some(((_, end), _)) if joined => *end = at + 1,
            last => {
                let before = last.map_or(WordLabel::Untouched, |&mut (_, label)| label);
                units.push(((at, at + 1), most.unwrap_or(before)));
            }
        }
    }
    units
}

fn one_of(case: &Candidate<'_>) -> String {
    format!("one of {}", threads(&case.owners()))
}

fn median(mut values: Vec<u64>) -> u64 {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or(0)
}
