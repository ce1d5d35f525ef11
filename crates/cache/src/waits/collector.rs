//! Attributes waiting to transactions, and to their causes once these are known.

use super::elapsed::ElapsedWaiting;
use super::log::WaitLog;
use super::{WaitCause, Waits, WordWaits};

/// The miss that brought a frame its copy.
#[derive(Clone, Copy, Debug, Default)]
struct FrameMiss {
    /// The word that missed: its address divided by four.
    word: u64,
    /// The cause; `None` until it is known.
    cause: Option<WaitCause>,
    /// Cycles waited for it before.
    undecided_cycles: u64,
}

/// A transaction that a processor may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedTransaction {
    /// A miss on this word, which fetches a copy into the frame.
    Miss {
        /// The frame.
        frame: usize,
        /// The word: its address divided by four.
        word: u64,
    },
    /// An invalidation or update for a reference to this word.
    Announcement {
        /// The word: its address divided by four.
        word: u64,
        /// The cause, by its kind of sharing.
        cause: WaitCause,
    },
}

/// Collects [`crate::WaitsByCause`] for every word that missed.
///
/// Whether a miss is false sharing is often known only when its copy is lost: until then its cycles
/// are kept with the frame.
#[derive(Clone, Debug, Default)]
pub struct WaitCollector {
    frames: Vec<FrameMiss>,
    log: WaitLog,
    /// Time in which processors waited for what may be sharing.
    sharing: ElapsedWaiting,
    last: Option<AwaitedTransaction>,
}

impl WaitCollector {
    /// For this number of frames in all caches.
    #[must_use]
    pub fn new(frames: usize) -> Self {
        Self { frames: vec![FrameMiss::default(); frames], ..Self::default() }
    }

    /// Records a miss on this word, which fetches a copy into the frame.
    pub(crate) fn miss(&mut self, frame: usize, word: u64) {
        self.frames[frame] = FrameMiss { word, ..FrameMiss::default() };
        self.last = Some(AwaitedTransaction::Miss { frame, word });
    }

    /// Records the cause of the miss that fetched the copy of a frame.
    pub(crate) fn decide(&mut self, frame: usize, cause: WaitCause) {
        let miss = &mut self.frames[frame];
        miss.cause = Some(cause);
        let cycles = std::mem::take(&mut miss.undecided_cycles);
        self.log.add(miss.word, cause, Waits { transactions: 1, cycles });
    }

    /// Records an invalidation or update for a reference to this word.
    pub(crate) fn announce(&mut self, word: u64, cause: WaitCause) {
        self.log.add(word, cause, Waits { transactions: 1, cycles: 0 });
        self.last = Some(AwaitedTransaction::Announcement { word, cause });
    }

    /// The last transaction, if there was one since the last call.
    pub fn take_last(&mut self) -> Option<AwaitedTransaction> {
        self.last.take()
    }

    /// The miss that brought a frame its copy.
    #[must_use]
    pub fn miss_of(&self, frame: usize) -> AwaitedTransaction {
        AwaitedTransaction::Miss { frame, word: self.frames[frame].word }
    }

    /// Records that a processor waited for a transaction, until `now`.
    pub fn waited(&mut self, now: u64, transaction: AwaitedTransaction, cycles: u64) {
        if self.may_be_sharing(transaction) {
            self.sharing.add(now - cycles, now);
        }
        self.add(transaction, cycles);
    }

    /// Records waiting whose transaction became known only later.
    pub fn waited_before(&mut self, transaction: AwaitedTransaction, cycles: u64) {
        if self.may_be_sharing(transaction) {
            self.sharing.add_cycles(cycles);
        }
        self.add(transaction, cycles);
    }

    /// Whether the cause is sharing, as far as is known.
    fn may_be_sharing(&self, transaction: AwaitedTransaction) -> bool {
        let cause = match transaction {
            AwaitedTransaction::Announcement { cause, .. } => Some(cause),
            AwaitedTransaction::Miss { frame, word } => {
                let miss = &self.frames[frame];
                miss.cause.filter(|_| miss.word == word)
            }
        };
        !matches!(cause, Some(WaitCause::Cold | WaitCause::Replacement))
    }

    fn add(&mut self, transaction: AwaitedTransaction, cycles: u64) {
        let (word, cause) = match transaction {
            AwaitedTransaction::Announcement { word, cause } => (word, cause),
            AwaitedTransaction::Miss { frame, word } => {
                let miss = &mut self.frames[frame];
                match miss.cause {
                    // The frame was filled with another block before the processor continued.
                    _ if miss.word != word => (word, WaitCause::Replacement),
                    Some(cause) => (word, cause),
                    None => {
                        miss.undecided_cycles += cycles;
                        return;
                    }
                }
            }
        };
        self.log.add(word, cause, Waits { transactions: 0, cycles });
    }

    /// The waits of each word.
    #[must_use]
    pub fn finish(self) -> WordWaits {
        let mut waits = self.log.finish();
        waits.sharing_elapsed = self.sharing.cycles();
        waits
    }
}
