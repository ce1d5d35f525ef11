//! When processors look next.

use homenode_cache::members;

use super::processor::NEVER;

/// When each processor looks next. Most wait most of the time: those are not looked through.
pub(super) struct Agenda {
    next: Vec<u64>,
    /// A bit for each processor that looks at a known time.
    awake: u64,
}

impl Agenda {
    pub(super) fn new(processors: usize) -> Self {
        Self { next: vec![NEVER; processors], awake: 0 }
    }

    #[inline]
    pub(super) fn next(&self, processor: usize) -> u64 {
        self.next[processor]
    }

    /// The processor looks at this time.
    #[inline]
    pub(super) fn wake(&mut self, processor: usize, time: u64) {
        self.next[processor] = time;
        self.awake |= 1 << processor;
    }

    /// It is not known when the processor looks.
    #[inline]
    pub(super) fn sleep(&mut self, processor: usize) {
        self.next[processor] = NEVER;
        self.awake &= !(1 << processor);
    }

    /// When somebody looks next.
    #[inline]
    pub(super) fn earliest(&self) -> u64 {
        members(self.awake).fold(NEVER, |earliest, at| earliest.min(self.next[at]))
    }

    /// Those who look at a known time, from this processor on.
    #[inline]
    pub(super) fn awake(&self, from: usize) -> impl Iterator<Item = usize> + use<> {
        members(self.awake & (u64::MAX << from))
    }
}
