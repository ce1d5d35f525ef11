//! References to words that can move data, in eight bytes each.

use homenode_base::ProcId;

/// Bits of each part of a [`PackedEvent`]; what is left is the number of the program counter.
const WORD_BITS: u32 = 20;
const ACCESS_BITS: u32 = 2;
const PROCESSOR_BITS: u32 = 10;

/// Most words of a region: those of 4 MB.
pub(super) const WORDS_MAX: u64 = 1 << WORD_BITS;

/// Most processors: the limit of the model.
pub(super) const PROCESSORS_MAX: u16 = 1 << PROCESSOR_BITS;

/// What a reference does to a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WordAccess {
    /// Reads it.
    Read,
    /// Writes it.
    Write,
    /// Reads and writes it in one step.
    Update,
}

impl WordAccess {
    /// Whether the old value is seen.
    #[must_use]
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::Update)
    }

    /// Whether there is a new value.
    #[must_use]
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::Update)
    }
}

/// A reference to one word. Repetitions by a processor are left out if no other processor
/// references the region between them. So are repeated reads as long as only the first processor
/// has written, before others came. Neither moves data at any block size (`docs/sharing.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WordEvent {
    /// The word, counted from the start of the region.
    pub word: u32,
    /// Index of the program counter in [`super::Collected::sites`].
    pub site: u32,
    /// The processor that makes it.
    pub processor: ProcId,
    /// What it does.
    pub access: WordAccess,
}

/// The compact form of a [`WordEvent`]: a trace has one for every second reference, or more.
///
/// ```text
/// 63      32 31        22 21    20 19    0
/// [  site  ] [processor ] [access] [ word ]
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct PackedEvent(u64);

impl PackedEvent {
    /// Packs an event; its word and processor are below the greatest numbers.
    #[inline]
    pub(super) fn new(event: WordEvent) -> Self {
        debug_assert!(u64::from(event.word) < WORDS_MAX && event.processor < PROCESSORS_MAX);
        let access = match event.access {
            WordAccess::Read => 0,
            WordAccess::Write => 1,
            WordAccess::Update => 2,
        };
        let who = u64::from(event.processor) << (WORD_BITS + ACCESS_BITS);
        let what = access << WORD_BITS | u64::from(event.word);
        Self(u64::from(event.site) << 32 | who | what)
    }

    #[inline]
    pub(super) fn unpacked(self) -> WordEvent {
        let bits = |from: u32, count: u32| (self.0 >> from) & ((1 << count) - 1);
        let access = match bits(WORD_BITS, ACCESS_BITS) {
            0 => WordAccess::Read,
            1 => WordAccess::Write,
            _ => WordAccess::Update,
        };
        WordEvent {
            word: u32::try_from(bits(0, WORD_BITS)).unwrap_or(0),
            site: u32::try_from(self.0 >> 32).unwrap_or(0),
            processor: ProcId::try_from(bits(WORD_BITS + ACCESS_BITS, PROCESSOR_BITS)).unwrap_or(0),
            access,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_event_comes_back() {
        let last = u32::try_from(WORDS_MAX).unwrap() - 1;
        for access in [WordAccess::Read, WordAccess::Write, WordAccess::Update] {
            for (word, site, processor) in
                [(0, 0, 0), (last, 0, 0), (0, u32::MAX, 0), (0, 0, PROCESSORS_MAX - 1)]
            {
                let event = WordEvent { word, site, processor, access };
                assert_eq!(PackedEvent::new(event).unpacked(), event);
            }
        }
    }
}
