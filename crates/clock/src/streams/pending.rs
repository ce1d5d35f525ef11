//! Buffers operations between the front end and a simulation, process by process.
//!
//! A simulation does not need the whole trace: it runs until it needs an operation that is not
//! known yet, and resumes when that is added. The division into portions does not change the
//! result. The front end may be a file that is still being read, or a running program whose next
//! operation depends on the simulation so far.

use std::collections::VecDeque;
use std::sync::Arc;

use super::operation::Operation;
use super::portions::{PackedPortion, Portion};

/// Operations in a cache line of the host.
const LINE_OPERATIONS: usize = 4;

/// Operations of a process that are kept unpacked (4 MB); those that follow are packed.
const UNPACKED_MAX: usize = 1 << 18;

/// The next operations of some processes.
#[derive(Clone, Debug, Default)]
pub struct ThreadStreams {
    /// Operations by process.
    pub operations: Vec<(usize, Portion)>,
    /// Processes that have no further operations.
    pub closed: Vec<usize>,
    /// Of a live program: the numbers of arrivals for open departures ([`super::OPEN`]), by
    /// process.
    pub resolved: Vec<(usize, u32)>,
    /// Of a live program: the number of processes so far.
    pub processes: usize,
}

impl ThreadStreams {
    /// All operations of some processes, `portion` of each at a time.
    pub fn portions(all: &[Vec<Operation>], portion: usize) -> impl Iterator<Item = Self> {
        let longest = all.iter().map(Vec::len).max().unwrap_or(0);
        (0..longest).step_by(portion).map(move |at| {
            let part = |own: &Vec<Operation>| {
                Portion::new(own.iter().skip(at).take(portion).copied().collect())
            };
            Self { operations: all.iter().map(part).enumerate().collect(), ..Self::default() }
        })
    }
}

/// The operations of one process that are known to a simulation and not yet done.
#[derive(Default)]
pub struct PendingOperations {
    current: Arc<Vec<Operation>>,
    at: usize,
    /// Portions that follow.
    later: VecDeque<LaterPortion>,
    later_operations: usize,
    /// Whether no operations will be added.
    closed: bool,
    /// All operations that were added, if the process can restart.
    kept: Option<Vec<Portion>>,
}

/// A portion that has not started, or was interrupted.
enum LaterPortion {
    /// Unpacked; the index is that of the next operation.
    Ready(Arc<Vec<Operation>>, usize),
    Packed(PackedPortion),
}

impl LaterPortion {
    fn len(&self) -> usize {
        match self {
            Self::Ready(operations, at) => operations.len() - at,
            Self::Packed(portion) => portion.len(),
        }
    }
}

impl PendingOperations {
    /// A buffer for a process that can restart ([`Self::rewind`]).
    #[must_use]
    pub fn kept() -> Self {
        Self { kept: Some(Vec::new()), ..Self::default() }
    }

    /// Restarts with the first operation. Only operations of a [`Self::kept`] buffer come again.
    pub fn rewind(&mut self) {
        (self.current, self.at) = (Arc::default(), 0);
        (self.later, self.later_operations) = (VecDeque::new(), 0);
        for portion in self.kept.iter().flatten() {
            self.later_operations += portion.len();
            self.later.push_back(LaterPortion::Ready(Arc::clone(&portion.operations), 0));
        }
    }

    /// The number of kept references.
    pub fn kept_references(&self) -> u64 {
        self.kept.iter().flatten().map(Portion::references).sum()
    }

    /// Appends operations.
    pub fn add(&mut self, operations: Portion) {
        self.kept.iter_mut().for_each(|kept| kept.push(operations.clone()));
        let packs = self.later_operations >= UNPACKED_MAX && self.kept.is_none();
        self.later_operations += operations.len();
        self.later.push_back(if packs {
            LaterPortion::Packed(operations.packed())
        } else {
            LaterPortion::Ready(operations.operations, 0)
        });
    }

    /// Declares that no further operations will be added.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// Whether the known operations are the last of the process.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Inserts operations before the next one.
    pub fn insert(&mut self, operations: Portion) {
        let current = std::mem::replace(&mut self.current, operations.operations);
        let interrupted = LaterPortion::Ready(current, std::mem::take(&mut self.at));
        self.later_operations += interrupted.len();
        self.later.push_front(interrupted);
    }

    /// The next operation, if it is known.
    #[inline]
    pub fn front(&mut self) -> Option<Operation> {
        if let Some(&operation) = self.current.get(self.at) {
            return Some(operation);
        }
        self.next_portion()
    }

    /// The known operations of the current portion.
    #[inline]
    #[must_use]
    pub fn known(&self) -> &[Operation] {
        self.current.get(self.at..).unwrap_or_default()
    }

    /// The number of known operations, if it is at most `most` and all of them are references.
    /// After any other operation, what follows may depend on the simulation.
    #[must_use]
    pub fn known_references(&self, most: usize) -> Option<usize> {
        let known = self.known().len() + self.later_operations;
        let rest = self.later.iter().map(|portion| match portion {
            LaterPortion::Ready(operations, at) => operations.get(*at..).unwrap_or_default(),
            // A buffer with packed portions has far more operations than `most`.
            LaterPortion::Packed(_) => &[],
        });
        let mut all = std::iter::once(self.known()).chain(rest).flatten();
        (known <= most && all.all(|operation| operation.kind.is_reference())).then_some(known)
    }

    /// Prefetches the next operations into the host's caches. Meanwhile other processes are
    /// simulated, whose operations would evict these.
    #[inline]
    pub fn prefetch(&self) {
        let known = self.known();
        let size = |line: usize| known.get(line * LINE_OPERATIONS).map_or(0, |next| next.size);
        std::hint::black_box(size(0) | size(1) | size(2) | size(3));
    }

    /// Removes the first operations of those that [`Self::known`] returned.
    #[inline]
    pub fn skip(&mut self, operations: u64) {
        self.at += usize::try_from(operations).unwrap_or(usize::MAX);
    }

    /// Takes back the last of those that were removed with [`Self::skip`] since the last call of
    /// [`Self::front`], and returns them.
    pub fn unskip(&mut self, operations: usize) -> &[Operation] {
        self.at -= operations;
        &self.current[self.at..self.at + operations]
    }

    /// Removes the operation that [`Self::front`] returned.
    #[inline]
    pub fn advance(&mut self) {
        self.at += 1;
    }

    #[cold]
    fn next_portion(&mut self) -> Option<Operation> {
        while let Some(portion) = self.later.pop_front() {
            self.later_operations -= portion.len();
            (self.current, self.at) = match portion {
                LaterPortion::Ready(operations, at) => (operations, at),
                LaterPortion::Packed(portion) => {
                    (portion.unpacked(std::mem::take(&mut self.current)), 0)
                }
            };
            if let Some(&operation) = self.current.get(self.at) {
                return Some(operation);
            }
        }
        // All simulations share portions; the last one to drop a portion frees it.
        (self.current, self.at) = (Arc::default(), 0);
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::streams::OpKind;

    fn operations(addresses: &[u64]) -> Portion {
        Portion::new(addresses.iter().map(|&addr| Operation::new(OpKind::Read, addr)).collect())
    }

    fn take(pending: &mut PendingOperations) -> Option<u64> {
        let operation = pending.front()?;
        pending.advance();
        Some(operation.addr)
    }

    #[test]
    fn added_operations_come_last_and_inserted_ones_next() {
        let mut pending = PendingOperations::default();
        assert_eq!((take(&mut pending), pending.is_closed()), (None, false), "not known yet");
        pending.add(operations(&[1, 2, 3]));
        pending.add(operations(&[]));
        pending.add(operations(&[4]));
        assert_eq!(take(&mut pending), Some(1));
        pending.insert(operations(&[7, 8]));
        assert_eq!((pending.known().len(), take(&mut pending)), (2, Some(7)));
        pending.skip(1);
        assert_eq!([(); 4].map(|()| take(&mut pending)), [Some(2), Some(3), Some(4), None]);
        pending.add(operations(&[5]));
        pending.close();
        assert_eq!((take(&mut pending), pending.is_closed()), (Some(5), true));
        pending.rewind();
        assert_eq!(take(&mut pending), None, "nothing was kept");
    }

    #[test]
    fn operations_beyond_the_limit_are_packed() {
        let mut pending = PendingOperations::default();
        let addresses: Vec<u64> = (0..UNPACKED_MAX as u64 * 3).collect();
        for some in addresses.chunks(UNPACKED_MAX / 2) {
            pending.add(operations(some));
        }
        let packed = |portion: &&LaterPortion| matches!(portion, LaterPortion::Packed(_));
        assert_eq!(pending.later.iter().filter(packed).count(), 4);
        assert_eq!(pending.known_references(UNPACKED_MAX), None);
        assert_eq!(take(&mut pending), Some(0));
        pending.insert(operations(&[7]));
        assert_eq!(take(&mut pending), Some(7));
        assert!(addresses[1..].iter().all(|&addr| take(&mut pending) == Some(addr)));
        assert_eq!((take(&mut pending), pending.later_operations), (None, 0));
    }

    #[test]
    fn rewinding_repeats_added_operations_but_not_inserted_ones() {
        let mut pending = PendingOperations::kept();
        let rest = Operation { continues: true, ..Operation::new(OpKind::Read, 3) };
        pending.add(operations(&[1, 2]));
        pending.add(Portion::new(vec![rest, Operation::new(OpKind::Release, 4)]));
        pending.insert(operations(&[7]));
        assert_eq!([(); 3].map(|()| take(&mut pending)), [Some(7), Some(1), Some(2)]);
        pending.rewind();
        let all = [Some(1), Some(2), Some(3), Some(4), None];
        assert_eq!([(); 5].map(|()| take(&mut pending)), all);
        assert_eq!(pending.kept_references(), 2, "the third is the rest of the second");
    }
}
