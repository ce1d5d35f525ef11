//! What no layout helps but a change of the program does: counts and locks that many threads write.

use std::collections::{BTreeMap, BTreeSet};

use homenode_advise::{ContendedUse, UseSurvey};
use homenode_analysis::Names;
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, WaitsByCause, WordWaits};
use serde::Serialize;

use crate::ratio::ratio;

/// Something is found if processors wait for it for more than one in so many of their cycles: as
/// much as the answer of a report names objects for.
const FINDING_PART: u64 = 100;

/// And at least so often: what hands out the parts of a loop, such as an index of rows, is written
/// by all threads, too, but seldom.
const TRANSACTIONS_MIN: u64 = 1000;

/// Most values of an object that are found: what has more is an array that threads share.
const VALUES_MAX: usize = 16;

/// Values are counted, longest waited for first, up to this percentage of the waiting.
const VALUES_PERCENT: u64 = 90;

/// Most findings.
const FINDINGS_MAX: usize = 5;

/// Data that several threads write, and what a change of the program would avoid.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFinding {
    /// `count`, to which threads add, or `lock`.
    pub kind: &'static str,
    /// The object's short name.
    pub object: String,
    /// The field, where the type of the object is known.
    pub field: Option<String>,
    /// Threads that write it.
    pub threads: u32,
    /// How many of them have nine tenths of the waiting: elements of an array, or heap blocks.
    pub count: usize,
    /// Part of all processors' time that waits for it because others use its line.
    pub share: Option<f64>,
    /// What is the matter and what would help.
    pub sentence: String,
}

/// Waiting for the words of one object, or one of its fields, that are written alike.
#[derive(Default)]
struct ContendedWords {
    transactions: u64,
    threads: u32,
    /// Cycles for each value: a word, or two.
    values: Vec<u64>,
    /// Cycles of those that wait for what others have written there.
    true_sharing: u64,
}

impl ContendedWords {
    fn cycles(&self) -> u64 {
        self.values.iter().sum()
    }

    /// The values that nearly all of the waiting is for.
    fn count(&self) -> usize {
        let mut values = self.values.clone();
        values.sort_unstable_by_key(|&cycles| std::cmp::Reverse(cycles));
        let most = self.cycles() * VALUES_PERCENT / 100;
        let mut sum = 0;
        let before = values.iter().take_while(|&&cycles| {
            sum += cycles;
            sum < most
        });
        before.count() + 1
    }
}

/// Waiting for sharing: cycles and transactions.
#[derive(Clone, Copy, Default)]
struct SharingWaits(u64, u64);

impl SharingWaits {
    fn add(&mut self, waits: &WaitsByCause) {
        for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
            self.0 += waits.of(cause).cycles;
            self.1 += waits.of(cause).transactions;
        }
    }

    /// Whether it is so much that something may be found.
    fn suffices(self, processor_cycles: u64) -> bool {
        self.0 >= (processor_cycles / FINDING_PART).max(1) && self.1 >= TRANSACTIONS_MIN
    }
}

/// Whether so much of the time waits for sharing that something may be found.
pub(super) fn may_find(waits: &WordWaits, processor_cycles: u64) -> bool {
    let mut sum = SharingWaits::default();
    sum.add(&waits.total());
    sum.suffices(processor_cycles)
}

/// The words that findings may be about, and the word before each: those of objects for whose
/// sharing processors wait long enough. Of no others it matters who uses them, which takes another
/// pass over the trace to find out.
pub(super) fn words_to_survey(
    names: &Names<'_>,
    waits: &WordWaits,
    processor_cycles: u64,
) -> Vec<u64> {
    let mut groups: BTreeMap<usize, SharingWaits> = BTreeMap::new();
    let mut latest = (usize::MAX, SharingWaits::default());
    let group = |word: u64| names.group(word * BlockSize::WORD_BYTES);
    for (word, waits) in waits.iter() {
        let group = group(word);
        if group != latest.0 {
            groups.insert(latest.0, latest.1);
            latest = (group, groups.get(&group).copied().unwrap_or_default());
        }
        latest.1.add(&waits);
    }
    groups.insert(latest.0, latest.1);
    groups.remove(&usize::MAX);
    // Objects that people cannot tell apart are one.
    let mut labels: BTreeMap<String, SharingWaits> = BTreeMap::new();
    for (&group, waits) in &groups {
        let sum = labels.entry(names.object_of(group).label()).or_default();
        (sum.0, sum.1) = (sum.0 + waits.0, sum.1 + waits.1);
    }
    let suffices = |group: &usize| {
        let label = names.object_of(*group).label();
        !label.is_empty() && labels.get(&label).is_some_and(|sum| sum.suffices(processor_cycles))
    };
    let chosen: BTreeSet<usize> = groups.into_keys().filter(suffices).collect();
    let words = waits.iter().map(|(word, _)| word).filter(|&word| chosen.contains(&group(word)));
    words.flat_map(|word| [word.wrapping_sub(1), word]).collect()
}

/// Finds the counts and locks that processors wait for, longest first.
pub(crate) fn findings(
    names: &Names<'_>,
    survey: &UseSurvey,
    waits: &WordWaits,
    processor_cycles: u64,
) -> Vec<LineFinding> {
    let mut found: BTreeMap<(String, Option<String>, ContendedUse), ContendedWords> =
        BTreeMap::new();
    for (word, waits) in waits.iter() {
        let Some((what, threads)) = survey.contended(word) else { continue };
        let addr = word * BlockSize::WORD_BYTES;
        let label = names.object_of(names.group(addr)).label();
        if label.is_empty() {
            continue;
        }
        let sum = found.entry((label, names.field_of(addr), what)).or_default();
        sum.true_sharing += waits.of(WaitCause::TrueSharing).cycles;
        let mut cycles = 0;
        for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
            cycles += waits.of(cause).cycles;
            sum.transactions += waits.of(cause).transactions;
        }
        sum.threads = sum.threads.max(threads);
        match sum.values.last_mut() {
            Some(value) if survey.joined(word.wrapping_sub(1)) => *value += cycles,
            Some(_) | None => sum.values.push(cycles),
        }
    }
    let least = (processor_cycles / FINDING_PART).max(1);
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|(_, sum)| {
            // If not, it is their neighbours that cost, for which there are layouts.
            let contended = 2 * sum.true_sharing >= sum.cycles();
            let much = sum.cycles() >= least && sum.transactions >= TRANSACTIONS_MIN && contended;
            much && sum.count() <= VALUES_MAX
        })
        .collect();
    found.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.cycles()));
    found.truncate(FINDINGS_MAX);
    let one = |((object, field, what), sum)| finding((object, field), what, &sum, processor_cycles);
    found.into_iter().map(one).collect()
}

fn finding(
    (object, field): (String, Option<String>),
    what: ContendedUse,
    sum: &ContendedWords,
    processor_cycles: u64,
) -> LineFinding {
    let share = ratio(sum.cycles(), processor_cycles);
    let percent = format!("{:.1}%", 100.0 * share.unwrap_or(0.0));
    let name = field
        .as_ref()
        .map_or_else(|| format!("`{object}`"), |field| format!("`{field}` of `{object}`"));
    let (threads, count) = (sum.threads, sum.count());
    let (kind, sentence) = match what {
        ContendedUse::Update => (
            "count",
            format!(
                "{threads} threads change {name} where it is, and {percent} of the time waits for \
                 it; if it is a count or a sum that nobody needs at each change, one for each \
                 thread, added up when they are read, would avoid that."
            ),
        ),
        ContendedUse::Lock => {
            let (is, them, line) = match count {
                1 => ("is a lock, or an atomic like one".to_owned(), "it", "its line"),
                _ => (format!("has {count} locks, or atomics like them"), "them", "their lines"),
            };
            (
                "lock",
                format!(
                    "{name} {is}, and contended: {threads} threads take {them}, and {percent} of \
                     the time waits for {line}. No layout avoids that, but locking less often, or \
                     more locks for less data each, may."
                ),
            )
        }
    };
    LineFinding { kind, object, field, threads, count, share, sentence }
}
