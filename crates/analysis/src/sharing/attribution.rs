//! Attribution of misses to words and source lines, at the one block size asked about.

use serde::Serialize;

use super::events::WordEvent;
use crate::last_write::LastWrite;

/// Misses of an infinite cache by class (Dubois and others, ISCA 1993), and misses of other
/// processors that writes here caused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct MissCharges {
    /// First references by a processor.
    pub cold: u64,
    /// Misses after which a value newly written by another processor is referenced.
    pub true_sharing: u64,
    /// Misses after which no such value is referenced.
    pub false_sharing: u64,
    /// False sharing misses of other processors that a write here caused.
    pub inflicted: u64,
}

impl MissCharges {
    pub(crate) fn merge(&mut self, other: &Self) {
        self.cold += other.cold;
        self.true_sharing += other.true_sharing;
        self.false_sharing += other.false_sharing;
        self.inflicted += other.inflicted;
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct CodeAndWord {
    pub word: u32,
    pub site: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissReason {
    Cold,
    TrueSharing,
    /// False sharing, with the write that invalidated the copy.
    FalseSharing(CodeAndWord),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct AttributedMiss {
    pub at: CodeAndWord,
    pub reason: MissReason,
}

/// A write, by its visit and what wrote where.
pub(crate) type LastCodeWrite = LastWrite<(u32, CodeAndWord)>;

#[derive(Clone, Copy, Debug, Default)]
struct AttributedCopy {
    essential_at: u32,
    referenced_at: u32,
    /// The latest miss, while it counts as false sharing: its visit, and its place in the list.
    pending: Option<(u32, usize)>,
}

/// All misses of a block, in order. Events and processor indices are as in `block.rs`, whose counts
/// these add up to.
pub(crate) fn misses(
    events: &[WordEvent],
    procs: usize,
    words: &mut [LastCodeWrite],
) -> Vec<AttributedMiss> {
    let mut found: Vec<AttributedMiss> = Vec::new();
    let mut copies = vec![AttributedCopy::default(); procs];
    let mut block = LastCodeWrite::default();
    let (mut now, mut present) = (0, None);
    for event in events {
        let proc = event.processor;
        if present != Some(proc) {
            (now, present) = (now + 1, Some(proc));
        }
        let place = CodeAndWord { word: event.word, site: event.site };
        let copy = &mut copies[usize::from(proc)];
        let (invalidated_at, write) = block.by_others(proc);
        if copy.referenced_at == 0 {
            copy.essential_at = now;
            found.push(AttributedMiss { at: place, reason: MissReason::Cold });
        } else if invalidated_at > copy.referenced_at {
            copy.pending = Some((now, found.len()));
            found.push(AttributedMiss { at: place, reason: MissReason::FalseSharing(write) });
        }
        let word = &mut words[event.word as usize];
        if word.by_others(proc).0 > copy.essential_at
            && let Some((missed_at, miss)) = copy.pending.take()
        {
            found[miss].reason = MissReason::TrueSharing;
            copy.essential_at = missed_at;
        }
        copy.referenced_at = now;
        if event.access.writes() {
            block.write(proc, (now, place));
            word.write(proc, (now, place));
        }
    }
    for event in events {
        words[event.word as usize] = LastCodeWrite::default();
    }
    found
}
