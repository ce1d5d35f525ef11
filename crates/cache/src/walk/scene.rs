//! Snapshots of blocks in caches and memory. The names of the fields are a public contract
//! (`docs/explain.md`).

use serde::Serialize;

use super::pieces::WalkBlock;
use crate::frames::{CacheArrays, MissStatus};
use crate::system::CacheSystem;
use crate::words::WordMask;

/// A block in all caches and in memory. A value is the number of the write it comes from, counted
/// from 1 over all blocks; 0 is the initial value.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BlockSnapshot {
    /// By cache.
    pub copies: Vec<CopySnapshot>,
    /// Values in memory, by [`WalkBlock::words`].
    pub memory: Vec<u64>,
    /// The latest values, by [`WalkBlock::words`].
    pub latest: Vec<u64>,
    /// Whether memory has the latest value of every word.
    pub up_to_date: bool,
}

/// A block in one cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CopySnapshot {
    /// The state.
    pub state: &'static str,
    /// Values by [`WalkBlock::words`]; empty without a copy.
    pub values: Vec<u64>,
    /// How the copy was lost, if the frame still has its tag: `invalidated` or `removed`.
    pub lost: Option<&'static str>,
    /// Whether the class of the miss that fetched it is not known yet.
    pub open: bool,
}

/// The values of the words that a walk shows.
fn shown(values: &[u64], words: &[u32]) -> Vec<u64> {
    let at = |&word: &u32| values.get(usize::try_from(word).ok()?).copied();
    words.iter().filter_map(at).collect()
}

/// Inspection by walks. Snapshots have values if reads are checked.
impl<F: CacheArrays<W>, W: WordMask, const WORDS: usize> CacheSystem<F, W, WORDS> {
    /// The state of a cache's copy of the block with this number in the address space, and whether
    /// it came by an invalidation miss that is not yet known to be true sharing.
    pub fn state_of(&self, cache: usize, block: u64) -> (u8, bool) {
        let found = self.frames.find(self.frames.set_of(cache, block), block);
        let frame = found.map(|at| &self.frames.all()[at]);
        frame.map_or((0, false), |frame| (frame.state, frame.status.is_undecided()))
    }

    /// A block of `1 << shift` bytes in the first `caches` caches and in memory. `name` gives the
    /// protocol's name of a state.
    pub fn snapshot(
        &mut self,
        block: &WalkBlock,
        shift: u32,
        caches: usize,
        name: impl Fn(u8) -> &'static str,
    ) -> BlockSnapshot {
        let number = block.address >> shift;
        let copies = (0..caches).map(|cache| self.copy(cache, number, &block.words, &name));
        let copies = copies.collect();
        let known = self.holders.number(number);
        let [latest, memory] = match &mut self.shadow {
            Some(shadow) => shadow.latest_and_memory(known).clone(),
            None => [Vec::new(), Vec::new()],
        };
        BlockSnapshot {
            copies,
            up_to_date: latest == memory,
            memory: shown(&memory, &block.words),
            latest: shown(&latest, &block.words),
        }
    }

    fn copy(
        &self,
        cache: usize,
        block: u64,
        words: &[u32],
        name: impl Fn(u8) -> &'static str,
    ) -> CopySnapshot {
        let Some(at) = self.frames.find(self.frames.set_of(cache, block), block) else {
            return CopySnapshot { state: name(0), values: Vec::new(), lost: None, open: false };
        };
        let frame = &self.frames.all()[at];
        let lost = match frame.status {
            MissStatus::Invalidated => Some("invalidated"),
            MissStatus::Removed => Some("removed"),
            MissStatus::Settled | MissStatus::Undecided | MissStatus::UndecidedKernel => None,
        };
        let values = match &self.shadow {
            Some(shadow) if frame.state != 0 => shown(shadow.copy(at), words),
            Some(_) | None => Vec::new(),
        };
        CopySnapshot { state: name(frame.state), values, lost, open: frame.status.is_undecided() }
    }
}
