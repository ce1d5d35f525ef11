//! Misses and waiting, by the word that was referenced: whose data they are about.

use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::classify::{MissClass, SharingClass};

/// Why processors wait for memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitCause {
    /// The processor never had the block.
    Cold,
    /// The copy was replaced, or went with its process.
    Replacement,
    /// Others wrote, or have to learn of, what is used.
    TrueSharing,
    /// Others use other words of the block.
    FalseSharing,
}

impl WaitCause {
    /// All of them.
    pub const ALL: [Self; 4] =
        [Self::Cold, Self::Replacement, Self::TrueSharing, Self::FalseSharing];
}

impl From<MissClass> for WaitCause {
    fn from(class: MissClass) -> Self {
        match class {
            MissClass::Cold => Self::Cold,
            MissClass::Replacement | MissClass::Removal => Self::Replacement,
            MissClass::InvalidationTrue => Self::TrueSharing,
            MissClass::InvalidationFalse | MissClass::InvalidationPassive => Self::FalseSharing,
        }
    }
}

impl From<SharingClass> for WaitCause {
    fn from(class: SharingClass) -> Self {
        match class {
            SharingClass::True => Self::TrueSharing,
            SharingClass::False | SharingClass::Passive => Self::FalseSharing,
        }
    }
}

/// Transactions and the cycles that processors waited for them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// Misses, and invalidations or updates of others' copies.
    pub transactions: u64,
    /// Cycles for which processors waited for them.
    pub cycles: u64,
}

/// [`Waits`] by cause, in the order of [`WaitCause`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WaitsByCause([Waits; 4]);

impl WaitsByCause {
    /// Those of a cause.
    #[must_use]
    pub fn of(&self, cause: WaitCause) -> Waits {
        self.0[cause as usize]
    }

    /// Those of a cause, to be changed.
    pub fn of_mut(&mut self, cause: WaitCause) -> &mut Waits {
        &mut self.0[cause as usize]
    }

    /// Adds all of others.
    pub fn add(&mut self, other: &Self) {
        for (sum, more) in self.0.iter_mut().zip(other.0) {
            sum.transactions += more.transactions;
            sum.cycles += more.cycles;
        }
    }

    /// Cycles for all causes.
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.0.iter().map(|waits| waits.cycles).sum()
    }
}

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
        /// Whose sharing that is.
        class: SharingClass,
    },
}

/// Collects [`WaitsByCause`] for every word that missed.
///
/// Whether a miss is false sharing is often known only when its copy is lost: until then its cycles
/// are kept with the frame.
#[derive(Clone, Debug, Default)]
pub struct WaitCollector {
    frames: Vec<FrameMiss>,
    words: FxHashMap<u64, WaitsByCause>,
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
        let waits = self.words.entry(miss.word).or_default().of_mut(cause);
        waits.transactions += 1;
        waits.cycles += cycles;
    }

    /// Others have to learn of a reference to this word.
    pub(crate) fn announce(&mut self, word: u64, class: SharingClass) {
        self.words.entry(word).or_default().of_mut(class.into()).transactions += 1;
        self.last = Some(AwaitedTransaction::Announcement { word, class });
    }

    /// The last transaction, if there was one since the last call.
    pub fn take_last(&mut self) -> Option<AwaitedTransaction> {
        self.last.take()
    }

    /// A processor waited for a transaction.
    pub fn waited(&mut self, transaction: AwaitedTransaction, cycles: u64) {
        let (word, cause) = match transaction {
            AwaitedTransaction::Announcement { word, class } => (word, class.into()),
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
        self.words.entry(word).or_default().of_mut(cause).cycles += cycles;
    }

    /// What was collected, by address divided by four and in this order.
    #[must_use]
    pub fn finish(self) -> Vec<(u64, WaitsByCause)> {
        let mut all: Vec<(u64, WaitsByCause)> = self.words.into_iter().collect();
        all.sort_unstable_by_key(|&(word, _)| word);
        all
    }
}
