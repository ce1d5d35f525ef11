//! The cache filter from the definition: a list of blocks for each processor and set.

use std::collections::BTreeMap;

use homenode_base::{Access, AccessKind};

/// A cache in front of each processor.
pub struct SlowCaches {
    pub processors: u16,
    pub sets: u64,
    pub ways: usize,
    pub block_bytes: u64,
    /// By processor and set, the blocks from the least to the most recently used, and whether each
    /// is owned.
    pub lists: BTreeMap<(u16, u64), Vec<(u64, bool)>>,
}

impl SlowCaches {
    pub fn passes(&mut self, access: &Access) -> bool {
        if access.kind == AccessKind::Fetch {
            return true;
        }
        let (first, last) = (
            access.addr / self.block_bytes,
            access.addr.saturating_add(u64::from(access.size) - 1) / self.block_bytes,
        );
        let mut through = false;
        for block in first..=last {
            through |= self.block(access.thread % self.processors, block, access.kind);
        }
        through
    }

    fn block(&mut self, processor: u16, block: u64, kind: AccessKind) -> bool {
        let (set, write) = (block % self.sets, kind != AccessKind::Read);
        let mine = self.lists.entry((processor, set)).or_default();
        let mut through = true;
        let mut owned = write;
        if let Some(at) = mine.iter().position(|&(held, _)| held == block) {
            let (_, was_owned) = mine.remove(at);
            through = write && !was_owned;
            owned |= was_owned;
        }
        mine.push((block, owned));
        if mine.len() > self.ways {
            mine.remove(0);
        }
        for other in (0..self.processors).filter(|&other| other != processor) {
            let theirs = self.lists.entry((other, set)).or_default();
            if write {
                theirs.retain(|&(held, _)| held != block);
            } else {
                theirs.iter_mut().filter(|(held, _)| *held == block).for_each(|one| one.1 = false);
            }
        }
        through
    }
}
