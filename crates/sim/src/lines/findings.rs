//! What no layout helps but a change of the program does: counts and locks that many threads write.

use std::collections::BTreeMap;

use homenode_advise::{ContendedUse, UseSurvey};
use homenode_analysis::Names;
use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, WaitsByCause};
use serde::Serialize;

use crate::ratio::ratio;

/// Something is found if processors wait for it for more than one in so many of their cycles: as
/// much as the answer of a report names objects for.
const FINDING_PART: u64 = 100;

/// And at least so often: a handful of misses, as when threads begin, is nobody's problem.
const TRANSACTIONS_MIN: u64 = 100;

/// Most words of an object that are taken for counts: what has more is an array that threads share.
const COUNTS_MAX: u64 = 16;

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
    /// How many there are in the object: elements of an array, or heap blocks.
    pub count: u64,
    /// Part of all processors' time that waits for it because others use its line.
    pub share: Option<f64>,
    /// What is the matter and what would help.
    pub sentence: String,
}

/// Waiting for the words of one object, or one of its fields, that are written alike.
#[derive(Default)]
struct ContendedWords {
    cycles: u64,
    transactions: u64,
    threads: u32,
    count: u64,
}

/// Finds the counts and locks that processors wait for, longest first.
pub(crate) fn findings(
    names: &Names<'_>,
    survey: &UseSurvey,
    waits: &[(u64, WaitsByCause)],
    processor_cycles: u64,
) -> Vec<LineFinding> {
    let mut found: BTreeMap<(String, Option<String>, ContendedUse), ContendedWords> =
        BTreeMap::new();
    for (word, waits) in waits {
        let Some((what, threads)) = survey.contended(*word) else { continue };
        let addr = word * BlockSize::WORD_BYTES;
        let label = names.object_of(names.group(addr)).label();
        if label.is_empty() {
            continue;
        }
        let sum = found.entry((label, names.field_of(addr), what)).or_default();
        for cause in [WaitCause::FalseSharing, WaitCause::TrueSharing] {
            sum.cycles += waits.of(cause).cycles;
            sum.transactions += waits.of(cause).transactions;
        }
        sum.threads = sum.threads.max(threads);
        // The later words of a value are not values of their own.
        sum.count += u64::from(!survey.joined(word.wrapping_sub(1)));
    }
    let least = (processor_cycles / FINDING_PART).max(1);
    let mut found: Vec<_> = found
        .into_iter()
        .filter(|((_, _, what), sum)| {
            let much = sum.cycles >= least && sum.transactions >= TRANSACTIONS_MIN;
            much && (*what == ContendedUse::Lock || sum.count <= COUNTS_MAX)
        })
        .collect();
    found.sort_by_key(|(_, sum)| std::cmp::Reverse(sum.cycles));
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
    let share = ratio(sum.cycles, processor_cycles);
    let percent = format!("{:.1} %", 100.0 * share.unwrap_or(0.0));
    let name = field
        .as_ref()
        .map_or_else(|| format!("`{object}`"), |field| format!("`{field}` of `{object}`"));
    let threads = sum.threads;
    let (kind, sentence) = match what {
        ContendedUse::Update => (
            "count",
            format!(
                "{threads} threads add to {name}; giving each thread one of its own and adding \
                 them up when they are read would avoid up to {percent} of the time, if it is a \
                 count that nobody needs at each addition."
            ),
        ),
        ContendedUse::Lock => {
            let which = if sum.count > 1 {
                format!("{name} has {} locks, or atomics like them", sum.count)
            } else {
                format!("{name} is a lock, or an atomic like one")
            };
            let them = if sum.count > 1 { "their lines" } else { "its line" };
            (
                "lock",
                format!(
                    "{which}, contended for by {threads} threads: {percent} of the time waits for \
                     {them}, which no layout avoids, but taking it less often or several locks for \
                     parts of what it guards may."
                ),
            )
        }
    };
    LineFinding { kind, object, field, threads, count: sum.count, share, sentence }
}
