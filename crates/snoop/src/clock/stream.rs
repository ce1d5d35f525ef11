//! What each process does, in its own order.

use std::collections::VecDeque;
use std::sync::Arc;

/// What a process does next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Step {
    /// Reads.
    Read,
    /// Writes.
    Write,
    /// Reads and writes at once.
    Atomic,
    /// Fetches an instruction.
    Fetch,
    /// Takes the lock at the address, or waits for it.
    Acquire,
    /// Gives the lock at the address back.
    Release,
    /// Arrives at the barrier episode with this number, or wakes who waits for a condition.
    Arrive,
    /// Waits until so many have arrived at the episode, or have woken.
    Depart,
    /// Makes the process with this number.
    Create,
    /// Waits until somebody made it.
    Born,
    /// Waits until the process with this number has ended.
    Join,
    /// Ends.
    Exit,
    /// Makes a system call that may wait, and gives its processor up.
    Yield,
}

/// One step of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Item {
    /// First byte of a reference, address of a lock, number of an episode or process.
    pub addr: u64,
    /// How many depart from a barrier. Of a reference, how many instructions without one are before
    /// it, in a process that does not fetch its instructions.
    pub count: u32,
    /// What it is.
    pub step: Step,
    /// Bytes of a reference.
    pub size: u8,
    /// [`homenode_base::Flags`] of a reference.
    pub flags: u8,
    /// Whether it belongs to the same reference as the item before, which ended with its page.
    pub continues: bool,
}

impl Item {
    /// A step that is no reference, or one that has still to get its size and flags.
    pub(super) fn step(step: Step, addr: u64) -> Self {
        Self { addr, count: 0, step, size: 0, flags: 0, continues: false }
    }
}

/// What some processes do next: shared between all simulations of a trace.
#[derive(Clone, Debug, Default)]
pub struct Dealt {
    /// Steps by process.
    pub steps: Vec<(usize, Arc<[Item]>)>,
    /// Processes that have no further steps.
    pub closed: Vec<usize>,
}

/// The steps of one process that are known and not done.
#[derive(Default)]
pub(super) struct Stream {
    current: Arc<[Item]>,
    at: usize,
    /// With where they begin.
    later: VecDeque<(Arc<[Item]>, usize)>,
    /// Whether nothing will be added.
    pub(super) closed: bool,
}

impl Stream {
    pub(super) fn add(&mut self, steps: Arc<[Item]>) {
        self.later.push_back((steps, 0));
    }

    /// Puts steps before the next one.
    pub(super) fn insert(&mut self, steps: Arc<[Item]>) {
        let rest = (std::mem::replace(&mut self.current, steps), std::mem::take(&mut self.at));
        self.later.push_front(rest);
    }

    /// The next step, if it is known.
    #[inline]
    pub(super) fn front(&mut self) -> Option<Item> {
        if let Some(&item) = self.current.get(self.at) {
            return Some(item);
        }
        self.next_chunk()
    }

    /// The next steps that are known, or some of them.
    #[inline]
    pub(super) fn known(&self) -> &[Item] {
        self.current.get(self.at..).unwrap_or_default()
    }

    /// So many steps are done.
    #[inline]
    pub(super) fn skip(&mut self, steps: u64) {
        self.at += usize::try_from(steps).unwrap_or(usize::MAX);
    }

    #[cold]
    fn next_chunk(&mut self) -> Option<Item> {
        while let Some(steps) = self.later.pop_front() {
            (self.current, self.at) = steps;
            if let Some(&item) = self.current.get(self.at) {
                return Some(item);
            }
        }
        // Chunks are shared: what is done is given back as soon as possible.
        (self.current, self.at) = (Arc::default(), 0);
        None
    }

    /// The step is done.
    #[inline]
    pub(super) fn advance(&mut self) {
        self.at += 1;
    }
}
