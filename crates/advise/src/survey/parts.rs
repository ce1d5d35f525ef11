//! Words of which several threads use parts, and surveys of their bytes.

use homenode_base::{BlockSize, ReferenceFilter};

use super::{UseSurvey, UseSurveyor};
use crate::line_filter::LineFilter;
use crate::words::{ConcurrentUse, PARTLY, WordReferences};

impl UseSurvey {
    /// Bytes of a unit: those of a word, or 1 in a survey of bytes.
    #[must_use]
    pub fn unit_bytes(&self) -> u64 {
        self.unit_bytes
    }

    /// A surveyor of bytes and the rest of their lines, for the same references: what a survey says
    /// of words holds for bytes then.
    pub fn of_bytes(&self, bytes: impl IntoIterator<Item = u64>) -> UseSurveyor {
        UseSurveyor {
            unit_bits: 0,
            roles: self.roles,
            lines: Some(LineFilter::new(bytes, 1)),
            ..UseSurveyor::new(self.processors, ReferenceFilter::ALL)
        }
    }

    /// Whether several threads use a word, and use some of its bytes apart from others: in a survey
    /// of bytes.
    #[must_use]
    pub fn is_divided(&self, word: u64) -> bool {
        let first = word * BlockSize::WORD_BYTES;
        let mut bytes = (first..first + BlockSize::WORD_BYTES)
            .filter(|&byte| self.used_concurrently(byte))
            .peekable();
        while let Some(byte) = bytes.next() {
            if bytes.peek().is_some_and(|&next| (byte..next).any(|byte| !self.joined(byte))) {
                return true;
            }
        }
        false
    }

    /// Words of which several threads use parts, and one writes: what they share is found by a
    /// survey of the bytes.
    pub fn words_used_in_parts(&self) -> impl Iterator<Item = u64> + '_ {
        let apart = |users: &ConcurrentUse| {
            self.uses.count(users.uses) > 1 && self.uses.written(users.uses)
        };
        let partly = move |(word, users): &(WordReferences, ConcurrentUse)| {
            word.bits & PARTLY != 0 && apart(users)
        };
        self.words.touched().filter(move |(_, state)| partly(state)).map(|(word, _)| word)
    }
}
