//! Waiting that a change of the program, but no layout, reduces: counters and locks that many
//! threads write.

use std::collections::{BTreeMap, BTreeSet};

use homenode_advise::{ContendedUse, UseSurvey};
use homenode_analysis::Names;
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, WaitsByCause, WordWaits};
use serde::Serialize;

use crate::results::ratio;

/// Findings are reported if processors wait for them for more than one in this many of their
/// cycles, the same threshold as for named objects in a report.
const FINDING_PART: u64 = 100;

/// Least number of waits. A loop index that hands out rows, for example, is written by all threads
/// too, but rarely.
const TRANSACTIONS_MIN: u64 = 1000;

/// Most values of an object in a finding; an object with more is a shared array.
const VALUES_MAX: usize = 16;

/// Values are counted, in order of waiting, up to this percentage of the waiting.
const VALUES_PERCENT: u64 = 90;

const FINDINGS_MAX: usize = 5;

/// Data that several threads write, and the change of the program that reduces the waiting.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LineFinding {
    /// `count` for a counter that threads add to, or `lock`.
    pub kind: &'static str,
    /// The object's short name.
    pub object: String,
    /// The field; `null` if the type of the object is unknown.
    pub field: Option<String>,
    /// Threads that write it.
    pub threads: u32,
    /// Number of values with nine tenths of the waiting: elements of an array, or heap blocks.
    pub count: usize,
    /// Fraction of all processors' time that waits for it because others use its line.
    pub share: Option<f64>,
    /// The problem and its remedy.
    pub sentence: String,
}

/// Waiting for words of one object, or of one of its fields, with the same kind of writes.
#[derive(Default)]
struct ContendedWords {
    transactions: u64,
    threads: u32,
    /// Cycles by value, which is one or two words, or a lock.
    values: Vec<u64>,
    /// Where the last value begins.
    last: Option<u64>,
    true_sharing: u64,
}

impl ContendedWords {
    fn cycles(&self) -> u64 {
        self.values.iter().sum()
    }

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

#[derive(Clone, Copy, Default)]
struct SharingWaits(u64, u64);

impl SharingWaits {
    fn add(&mut self, waits: &WaitsByCause) {
        for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
            self.0 += waits.of(cause).cycles;
            self.1 += waits.of(cause).transactions;
        }
    }

    fn suffices(self, processor_cycles: u64) -> bool {
        self.0 >= (processor_cycles / FINDING_PART).max(1) && self.1 >= TRANSACTIONS_MIN
    }
}

pub(super) fn may_find(waits: &WordWaits, processor_cycles: u64) -> bool {
    let mut sum = SharingWaits::default();
    sum.add(&waits.total());
    sum.suffices(processor_cycles)
}

/// The words that findings may be about, and the word before each: those of objects with enough
/// waiting for sharing. Word use is found by another pass over the trace, so it is limited to
/// these.
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
    // Objects with the same label are one.
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

/// Finds the counters and locks that processors wait for, longest first.
pub(crate) fn findings(
    names: &Names<'_>,
    survey: &UseSurvey,
    waits: &WordWaits,
    processor_cycles: u64,
) -> Vec<LineFinding> {
    let mut found: BTreeMap<(String, Option<String>, ContendedUse), ContendedWords> =
        BTreeMap::new();
    for (word, waits) in waits.iter() {
        // Waiting for any field of a lock is waiting for the lock.
        let begin = survey.beginning(word);
        let Some((what, threads)) = survey.contended(begin) else { continue };
        let addr = begin * BlockSize::WORD_BYTES;
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
            Some(value) if sum.last == Some(begin) || survey.joined(begin.wrapping_sub(1)) => {
                *value += cycles;
            }
            Some(_) | None => sum.values.push(cycles),
        }
        sum.last = Some(begin);
    }
    let least = (processor_cycles / FINDING_PART).max(1);
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|(_, sum)| {
            // Otherwise neighbouring words cause the waiting, and a layout helps.
            let contended = 2 * sum.true_sharing >= sum.cycles();
            let much = sum.cycles() >= least && sum.transactions >= TRANSACTIONS_MIN && contended;
            much && sum.count() <= VALUES_MAX
        })
        .collect();
    found.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.cycles()));
    found.truncate(FINDINGS_MAX);
    let one = |((object, field, what), sum)| finding(object, field, what, &sum, processor_cycles);
    found.into_iter().map(one).collect()
}

fn finding(
    object: String,
    field: Option<String>,
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
                "{threads} threads update {name} in place, and {percent} of the time is spent \
                 waiting for it; if it is a count or a sum that is not read at each update, keep \
                 one per thread and add them up when it is read."
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
                     the time is spent waiting for {line}. No layout avoids that; locking less \
                     often, or more locks for less data each, may."
                ),
            )
        }
    };
    LineFinding { kind, object, field, threads, count, share, sentence }
}
