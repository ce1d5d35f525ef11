//! Which transaction a processor waits for, and the cause once it is known.

use super::elapsed::ElapsedWaiting;
use super::log::WaitLog;
use super::{WaitCause, Waits, WordWaits};

/// The miss that brought a frame its copy.
#[derive(Clone, Copy, Debug, Default)]
struct FrameMiss {
    /// The word that missed: its address divided by four.
    word: u64,
    /// Why, once that is known.
    cause: Option<WaitCause>,
    /// Cycles waited for it before that was known.
    undecided_cycles: u64,
}

/// A transaction that a processor may wait for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AwaitedTransaction {
    /// The frame gets a copy, because this word is missed.
    Miss {
        /// The frame.
        frame: usize,
        /// The word: its address divided by four.
        word: u64,
    },
    /// Others learn of a reference to this word.
    Announcement {
        /// The word: its address divided by four.
        word: u64,
        /// Whose sharing that is, as a cause.
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
    /// When processors waited for what may be sharing.
    sharing: ElapsedWaiting,
    last: Option<AwaitedTransaction>,
}

impl WaitCollector {
    /// For caches with so many frames together.
    #[must_use]
    pub fn new(frames: usize) -> Self {
        Self { frames: vec![FrameMiss::default(); frames], ..Self::default() }
    }

    /// A frame gets a copy because this word is missed.
    pub(crate) fn miss(&mut self, frame: usize, word: u64) {
        self.frames[frame] = FrameMiss { word, ..FrameMiss::default() };
        self.last = Some(AwaitedTransaction::Miss { frame, word });
    }

    /// The cause of the miss is known.
    pub(crate) fn decide(&mut self, frame: usize, cause: WaitCause) {
        let miss = &mut self.frames[frame];
        miss.cause = Some(cause);
        let cycles = std::mem::take(&mut miss.undecided_cycles);
        self.log.add(miss.word, cause, Waits { transactions: 1, cycles });
    }

    /// Others have to learn of a reference to this word.
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

    /// A processor waited for a transaction, until `now`.
    pub fn waited(&mut self, now: u64, transaction: AwaitedTransaction, cycles: u64) {
        if self.may_be_sharing(transaction) {
            self.sharing.add(now - cycles, now);
        }
        self.add(transaction, cycles);
    }

    /// A processor waited at some time before it was known for which transaction.
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
                    // Another block came into the frame before this one's processor went on.
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

    /// What was collected.
    #[must_use]
    pub fn finish(self) -> WordWaits {
        let mut waits = self.log.finish();
        waits.sharing_elapsed = self.sharing.cycles();
        waits
    }
}
