//! Detail of one of the worst blocks, by word and by program counter, from the second pass.

use std::collections::BTreeMap;

use homenode_base::ProcId;
use rustc_hash::FxHashMap;
use serde::Serialize;

use crate::last_write::LastWrite;

/// How the processors share a block, estimated from the words they touch over the whole trace.
///
/// A word is *truly shared* if one processor writes it and another one references it; then data
/// flows between the two and no layout can avoid it. A block is falsely shared if several
/// processors use it, one of them writes, and yet no word is truly shared: they share only the
/// block (Bolosky chapter 7). This ignores Time: a block that migrated once counts like one that
/// moves back and forth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum SharingPattern {
    /// One processor uses the block.
    Private,
    /// Several use it and none writes.
    ReadShared,
    /// Every word that is written is truly shared.
    TrueSharing,
    /// Words are written, and none is truly shared.
    FalseSharing,
    /// Some of the written words are truly shared, the others are not.
    Mixed,
}

/// One number for each class of words.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ByClass {
    /// Words that one processor uses.
    pub private: u64,
    /// Words that several processors read and none writes.
    pub read_shared: u64,
    /// Words that one processor writes and another one references.
    pub truly_shared: u64,
}

/// The misses of a block if every processor had an infinite cache and every write invalidated all
/// other copies: the effect of the block's sharing, independent of the simulated policy.
///
/// Source: Dubois, Skeppstedt, Ricciulli, Ramamurthy and Stenström, *The detection and elimination
/// of useless misses in multiprocessors*, ISCA 1993.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BlockMisses {
    /// First references, one for each processor.
    pub cold: u64,
    /// Misses after which the processor, before it loses the block again, references a word that
    /// another one has written since its last miss that was not false sharing.
    pub true_sharing: u64,
    /// The other misses: they would not happen if every word were a block.
    pub false_sharing: u64,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct UseCounts {
    pub reads: u64,
    pub writes: u64,
}

impl UseCounts {
    pub(crate) fn add(&mut self, write: bool) {
        self.writes += u64::from(write);
        self.reads += u64::from(!write);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        self.reads += other.reads;
        self.writes += other.writes;
    }

    pub(crate) fn all(self) -> u64 {
        self.reads + self.writes
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct ProcessorCopy {
    missed_at: u64,
    /// The last miss that was cold or true sharing.
    essential_at: u64,
    referenced_at: u64,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct WordDetail {
    first: ProcId,
    several: bool,
    written: bool,
    last: LastWrite<u64>,
    /// References that begin at this word, or whose first word in the block it is.
    pub uses: UseCounts,
}

impl WordDetail {
    fn class<T>(self, of: &mut T, pick: [fn(&mut T) -> &mut u64; 3]) -> &mut u64 {
        match (self.several, self.written) {
            (false, _) => pick[0](of),
            (true, false) => pick[1](of),
            (true, true) => pick[2](of),
        }
    }
}

const PICK: [fn(&mut ByClass) -> &mut u64; 3] =
    [|c| &mut c.private, |c| &mut c.read_shared, |c| &mut c.truly_shared];

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReferenceInBlock {
    pub thread: u16,
    pub processor: ProcId,
    pub write: bool,
    pub pc: u64,
    /// First and last word of the block that it touches, counted from address 0.
    pub words: (u64, u64),
}

#[derive(Debug, Default)]
pub(crate) struct BlockDetail {
    /// References by program counter and thread.
    pub uses: FxHashMap<(u64, u16), UseCounts>,
    words: FxHashMap<u64, WordDetail>,
    copies: FxHashMap<ProcId, ProcessorCopy>,
    written: LastWrite<u64>,
    now: u64,
    misses: BlockMisses,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Classified {
    pub sharing: SharingPattern,
    pub words: ByClass,
    pub references: ByClass,
    pub misses: BlockMisses,
}

impl BlockDetail {
    pub(crate) fn add(&mut self, touch: ReferenceInBlock) {
        self.uses.entry((touch.pc, touch.thread)).or_default().add(touch.write);
        self.now += 1;
        self.count_miss(touch);
        for number in touch.words.0..=touch.words.1 {
            let word = self.words.entry(number).or_insert(WordDetail {
                first: touch.processor,
                several: false,
                written: false,
                last: LastWrite::default(),
                uses: UseCounts::default(),
            });
            word.several |= word.first != touch.processor;
            word.written |= touch.write;
            if touch.write {
                word.last.write(touch.processor, self.now);
            }
            if number == touch.words.0 {
                word.uses.add(touch.write);
            }
        }
    }

    /// Counts the miss of a reference, if it is one. A miss counts as false sharing until a
    /// reference to a value newly written by another processor shows that it was essential.
    fn count_miss(&mut self, touch: ReferenceInBlock) {
        let copy = self.copies.entry(touch.processor).or_default();
        if copy.referenced_at == 0 {
            self.misses.cold += 1;
            (copy.missed_at, copy.essential_at) = (self.now, self.now);
        } else if self.written.by_others(touch.processor) > copy.referenced_at {
            self.misses.false_sharing += 1;
            copy.missed_at = self.now;
        }
        let new_value = (touch.words.0..=touch.words.1)
            .filter_map(|number| self.words.get(&number))
            .any(|word| word.last.by_others(touch.processor) > copy.essential_at);
        if new_value && copy.essential_at != copy.missed_at {
            self.misses.false_sharing -= 1;
            self.misses.true_sharing += 1;
            copy.essential_at = copy.missed_at;
        }
        copy.referenced_at = self.now;
        if touch.write {
            self.written.write(touch.processor, self.now);
        }
    }

    pub(crate) fn words(&self) -> BTreeMap<u64, WordDetail> {
        self.words.iter().map(|(&number, &word)| (number, word)).collect()
    }

    pub(crate) fn classify(&self) -> Classified {
        let (mut words, mut references) = (ByClass::default(), ByClass::default());
        let (mut first, mut several, mut written_alone) = (None, false, false);
        for word in self.words.values() {
            *word.class(&mut words, PICK) += 1;
            *word.class(&mut references, PICK) += word.uses.all();
            several |= word.several || first.is_some_and(|p| p != word.first);
            first = Some(word.first);
            written_alone |= word.written && !word.several;
        }
        let sharing = match (several, words.truly_shared > 0, written_alone) {
            (false, _, _) => SharingPattern::Private,
            (true, false, false) => SharingPattern::ReadShared,
            (true, true, false) => SharingPattern::TrueSharing,
            (true, false, true) => SharingPattern::FalseSharing,
            (true, true, true) => SharingPattern::Mixed,
        };
        Classified { sharing, words, references, misses: self.misses }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    type SmallReference = (u16, bool, u64, u64);

    fn classify(touches: &[SmallReference]) -> Classified {
        let mut detail = BlockDetail::default();
        for &(processor, write, first, last) in touches {
            let words = (first, last);
            detail.add(ReferenceInBlock { thread: processor, processor, write, pc: 0, words });
        }
        detail.classify()
    }

    #[test]
    fn every_kind_of_sharing() {
        use SharingPattern::{FalseSharing, Mixed, Private, ReadShared, TrueSharing};
        let cases: [(&[SmallReference], SharingPattern); 7] = [
            (&[(0, true, 0, 0), (0, false, 1, 1)], Private),
            (&[(0, false, 0, 0), (1, false, 0, 0)], ReadShared),
            (&[(0, false, 0, 0), (1, false, 1, 1)], ReadShared),
            (&[(0, true, 0, 0), (1, false, 0, 0)], TrueSharing),
            (&[(0, true, 0, 0), (1, false, 1, 1)], FalseSharing),
            (&[(0, true, 0, 1), (1, false, 1, 1)], Mixed),
            (&[(0, true, 0, 0), (1, true, 0, 0), (2, false, 1, 1)], TrueSharing),
        ];
        for (touches, sharing) in cases {
            assert_eq!(classify(touches).sharing, sharing, "{touches:?}");
        }
    }

    /// The third case:
    ///
    /// ```text
    /// processor 0   W0         W0          W2
    /// processor 1        R0          R1          R1   R0
    /// misses       cold cold       false       true
    /// ```
    ///
    /// Word 1 is private, so the first reload is false sharing. The second one is true sharing: it
    /// is followed by a read of word 0, whose new value the first reload had brought unused.
    #[test]
    fn misses_are_true_sharing_when_a_new_value_is_read() {
        let w = |word| (0, true, word, word);
        let r = |word| (1, false, word, word);
        let found = |touches: &[SmallReference]| {
            let misses = classify(touches).misses;
            (misses.cold, misses.true_sharing, misses.false_sharing)
        };
        assert_eq!(found(&[w(0), r(0), r(1)]), (2, 0, 0));
        assert_eq!(found(&[w(0), r(0), w(0), r(1)]), (2, 0, 1));
        assert_eq!(found(&[w(0), r(0), w(0), r(1), w(2), r(1), r(0)]), (2, 1, 1));
        assert_eq!(found(&[w(0), r(0), w(0), r(0), w(0), r(0)]), (2, 2, 0));
        assert_eq!(found(&[w(0), w(0), (1, true, 1, 1), w(0), (1, true, 1, 1)]), (2, 0, 2));
    }

    /// A double by one processor, read by another as its upper half, beside a private word.
    #[test]
    fn a_reference_counts_once_and_marks_all_its_words() {
        let found = classify(&[(0, true, 0, 1), (1, false, 1, 1), (1, true, 2, 2)]);
        assert_eq!(found.words, ByClass { private: 2, read_shared: 0, truly_shared: 1 });
        assert_eq!(found.references, ByClass { private: 2, read_shared: 0, truly_shared: 1 });
        assert_eq!(found.sharing, SharingPattern::Mixed);
    }
}
