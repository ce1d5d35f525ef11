//! Whether the time that a layout saves comes from the lines that it changes.
//!
//! A layout also changes which thread touches a page first, and in which order threads get a lock.
//! The time saved in that way is chance, and no layout can promise it.

use std::ops::Range;

use homenode_base::BlockSize;
use homenode_snoop::{WaitCause, WaitsByCause};

use crate::lines::LineResult;

/// The lines that a layout changes, before and after.
pub(super) struct ChangedLines<'a> {
    pub(super) block: BlockSize,
    /// In order.
    pub(super) old_blocks: &'a [u64],
    pub(super) new_blocks: &'a [Range<u64>],
}

impl ChangedLines<'_> {
    fn has(&self, word: u64) -> bool {
        let number = word / self.block.words();
        self.new_blocks.iter().any(|blocks| blocks.contains(&number))
            || self.old_blocks.binary_search(&number).is_ok()
    }

    fn waited(&self, result: &LineResult) -> WaitsByCause {
        let mut sum = WaitsByCause::default();
        let of_them = result.waits.iter().filter(|(word, _)| self.has(*word));
        of_them.for_each(|(_, waits)| sum.add(&waits));
        sum
    }

    /// By how many cycles the waits for all other lines fell: those for memory line by line, since
    /// a page that comes near to one processor goes away from another, and the others together.
    fn fell_elsewhere(&self, before: &LineResult, after: &LineResult) -> i128 {
        let mut memory = 0;
        let mut sharing = 0;
        let mut later = after.waits.iter().peekable();
        for (word, waits) in before.waits.iter().filter(|(word, _)| !self.has(*word)) {
            while later.next_if(|&(other, _)| other < word).is_some() {}
            let now = later.next_if(|&(other, _)| other == word);
            let now = now.map_or_else(WaitsByCause::default, |(_, waits)| waits);
            let fell = |causes: [WaitCause; 2]| -> i128 {
                let cycles = |waits: &WaitsByCause| -> i128 {
                    causes.iter().map(|&cause| i128::from(waits.of(cause).cycles)).sum()
                };
                cycles(&waits) - cycles(&now)
            };
            memory += fell([WaitCause::Cold, WaitCause::Replacement]).max(0);
            sharing += fell([WaitCause::TrueSharing, WaitCause::FalseSharing]);
        }
        memory + sharing.max(0)
    }

    /// Whether a saving of execution time comes from these lines. It may exceed the sum of the
    /// waits that they save: the run ends with its slowest thread, and other threads may wait
    /// longer while that one waits less. What exceeds it must be covered by false sharing that
    /// ends and not be found in the waits for other lines; where threads wait for locks it must be
    /// at most half of the saving.
    pub(super) fn explain(
        &self,
        saved: i128,
        before: &LineResult,
        after: &LineResult,
        has_locks: bool,
    ) -> bool {
        let [waited, waits] = [before, after].map(|result| self.waited(result));
        let fell = |cycles: fn(&WaitsByCause) -> u64| -> i128 {
            i128::from(cycles(&waited)) - i128::from(cycles(&waits))
        };
        let excess = saved - fell(WaitsByCause::cycles);
        if excess <= 0 {
            return true;
        }
        let ended = fell(|waits| waits.of(WaitCause::FalseSharing).cycles);
        let most = if has_locks { ended.min(saved / 2) } else { ended };
        excess <= most && 2 * self.fell_elsewhere(before, after) <= excess
    }
}
