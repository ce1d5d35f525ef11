//! Rolls back hits that a processor has performed ahead of the other processors.
//!
//! A hit changes nothing that another processor sees until a transaction concerns its block. So a
//! processor performs its next hits at once, beyond the cycle up to which nothing can change, and
//! keeps a log of them. When something concerns one of them before its time, it and those after it
//! are taken back, and the processor issues them again: the time warp of Jefferson (1985), for hits
//! only.

use super::Clock;
use super::run_ahead::instructions_of;
use crate::processor::{HITS_MAX, MemorySystem, ReferenceCounts};

impl<M: MemorySystem> Clock<M> {
    /// How many hits a processor may perform beyond the cycle up to which nothing can change.
    ///
    /// None before the end of initialisation, at which counts restart; none in a live program,
    /// whose next operations depend on times; none close to the end, so that the last references
    /// are the last in time.
    #[inline]
    pub(super) fn hits_ahead(&mut self) -> usize {
        let simple = self.processor.operation_cycles > 0
            && self.processor.instruction_cycles == 0
            && !self.does_timed_hits()
            && !self.awaits_init_done
            && !self.live;
        if M::ROLLS_BACK && simple && self.is_far_from_the_end() { HITS_MAX } else { 0 }
    }

    fn is_far_from_the_end(&mut self) -> bool {
        let cycles = (HITS_MAX as u64 + 1) * self.processor.operation_cycles;
        self.shares.as_mut().is_none_or(|shares| shares.last_beyond(cycles))
    }

    /// Before a buffered store is performed in its cache, ahead of the processor's issue in this
    /// cycle: takes back the hits in the same set that were performed too early.
    #[inline]
    pub(super) fn roll_back_own(&mut self, at: usize, store: usize) {
        if !M::ROLLS_BACK || !self.processors[at].ahead.reaches(self.now) {
            return;
        }
        let access = self.processors[at].stores[store];
        let now = self.now;
        self.roll_back_from(at, now, |memory, hit| memory.same_set(&access, hit));
    }

    /// Takes back all hits later than this cycle.
    pub(super) fn roll_back_all(&mut self) {
        for at in 0..self.processors.len() {
            if M::ROLLS_BACK && self.processors[at].ahead.reaches(self.now + 1) {
                self.roll_back_from(at, self.now + 1, |_, _| true);
            }
        }
    }

    fn roll_back_from(&mut self, at: usize, time: u64, concerned: impl Fn(&M, &M::Hit) -> bool) {
        let Self { memory, processors, .. } = self;
        if processors[at].ahead.roll_back(memory, time, concerned) {
            self.issue_again(at);
        }
    }

    /// Takes back, in the clock, what was rolled back in the memory system.
    #[inline]
    pub(super) fn resume_earlier(&mut self) {
        while let Some(at) = self.rolled_back.pop() {
            self.issue_again(at);
        }
    }

    fn issue_again(&mut self, at: usize) {
        let processor = &mut self.processors[at];
        let process = processor.process;
        let time = processor.ahead.time(processor.ahead.len());
        let cycles = self.processor.operation_cycles;
        let lost = self.wakeups.time(at) - time;
        if lost == 0 {
            return;
        }
        let operations = usize::try_from(lost / cycles).unwrap_or(0);
        let mut counted = ReferenceCounts::default();
        for operation in self.streams[process].unskip(operations) {
            processor.instructions -= instructions_of(operation, self.fetches[process]);
            counted.add(operation);
        }
        processor.busy -= lost;
        processor.slice_left += counted.references;
        self.unbegin(process, counted.references);
        self.memory.discount(counted);
        self.wakeups.bring_forward(at, time);
    }
}
