//! Where in memory the blocks of a workload are.

/// Areas begin on pages, so that private and shared data are never on one page.
const PAGE_BYTES: u64 = 4096;
const USER_START: u64 = 1 << 32;
const KERNEL_START: u64 = 1 << 46;

/// Consecutive blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Area {
    /// Address of the first byte.
    pub(crate) start: u64,
    /// Blocks.
    pub(crate) blocks: u64,
}

/// Takes areas from a part of the address space, one after the other.
pub(crate) struct Allocator {
    next: u64,
    block_bytes: u64,
}

impl Allocator {
    /// User addresses.
    pub(crate) fn user(block_bytes: u64) -> Self {
        Self { next: USER_START, block_bytes }
    }

    /// The kernel's addresses.
    pub(crate) fn kernel(block_bytes: u64) -> Self {
        Self { next: KERNEL_START, block_bytes }
    }

    /// The next area.
    pub(crate) fn take(&mut self, blocks: u64) -> Area {
        let area = Area { start: self.next, blocks };
        let align = PAGE_BYTES.max(self.block_bytes);
        self.next += (blocks * self.block_bytes).next_multiple_of(align);
        area
    }
}

/// The place of each rank in an area: popular blocks are spread over it, in clusters.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scatter {
    blocks: u64,
    cluster: u64,
    clusters: u64,
    step: u64,
}

impl Scatter {
    /// A scatter of the ranks of at least one block.
    pub(crate) fn new(blocks: u64, cluster: u64) -> Self {
        let clusters = blocks.div_ceil(cluster);
        // Near the golden section, so that successive clusters are far apart.
        let mut step = (clusters * 618 / 1000).max(1);
        while common_divisor(step, clusters) != 1 {
            step += 1;
        }
        Self { blocks, cluster, clusters, step }
    }

    /// The block of a rank. A few ranks of the last, incomplete cluster share their blocks with
    /// others.
    pub(crate) fn place(self, rank: u64) -> u64 {
        let moved = (rank / self.cluster).wrapping_mul(self.step) % self.clusters;
        (moved * self.cluster + rank % self.cluster) % self.blocks
    }
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn every_block_has_a_rank() {
        for (blocks, cluster) in [(1, 1), (1, 8), (64, 4), (97, 1), (1000, 8)] {
            let scatter = Scatter::new(blocks, cluster);
            let places: BTreeSet<u64> = (0..blocks).map(|rank| scatter.place(rank)).collect();
            assert_eq!(places.len() as u64, blocks, "{blocks} in clusters of {cluster}");
        }
    }

    #[test]
    fn areas_do_not_share_pages() {
        let mut allocator = Allocator::user(32);
        let (one, other) = (allocator.take(129), allocator.take(1));
        assert_eq!(other.start - one.start, 2 * PAGE_BYTES);
    }
}
