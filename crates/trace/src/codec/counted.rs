//! Sites of a chunk without program counters, chosen once all its rows are known.
//!
//! Every distance to the thread's previous address that is frequent in the chunk is a site; all
//! other distances with the same traits share one. In some traces this takes fewer bytes than
//! choosing sites row by row (`made_up`). To find out, the encoder holds a chunk and encodes it
//! both ways.

use super::coder::SiteCoder;
use super::rows::{SiteColumns, SiteTraits, Traits};
use super::thread::{COUNTED, INSTRUCTIONS};
use super::turns::Turn;

/// Counters of distances. A collision only costs some bytes.
const COUNTERS: usize = 1 << 18;
/// Occurrences in a chunk that make a distance a site.
const FREQUENT_MIN: u8 = 250;
/// Key of the site of rows whose distance is rare.
const RARE: u64 = u64::MAX;

#[derive(Default)]
pub(super) struct CountedSites {
    traits: Vec<Traits>,
    addr: Vec<[u8; 8]>,
    pc: Vec<[u8; 8]>,
    counts: Vec<u8>,
    coder: SiteCoder,
}

impl CountedSites {
    pub(super) fn clear(&mut self) {
        self.traits.clear();
        self.addr.clear();
        self.pc.clear();
        self.counts.clear();
        self.coder.clear();
    }

    pub(super) const fn rows(&self) -> usize {
        self.addr.len()
    }

    pub(super) fn hold(&mut self, rows: &SiteColumns<'_>) {
        self.traits.extend_from_slice(rows.traits);
        self.addr.extend_from_slice(rows.addr);
        self.pc.extend_from_slice(rows.pc);
    }

    /// Codes the rows, which form these turns: by instruction if any row has a program counter.
    pub(super) fn code(&mut self, turns: &[Turn], has_pc: bool) -> &mut SiteCoder {
        if !has_pc {
            self.count(turns);
            self.name(turns);
        }
        let Self { traits, addr, pc, coder, .. } = self;
        let rows = SiteColumns { traits, addr, pc };
        for turn in turns {
            let (mut at, end) = (turn.range().start, turn.range().end);
            while at < end {
                at += if has_pc {
                    coder.turn::<INSTRUCTIONS>(turn.slot(), &rows, at..end)
                } else {
                    coder.turn::<COUNTED>(turn.slot(), &rows, at..end)
                };
            }
        }
        coder
    }

    fn count(&mut self, turns: &[Turn]) {
        self.counts.resize(COUNTERS, 0);
        let Self { traits, addr, counts, .. } = self;
        for_each_distance(turns, addr, |row, distance| {
            let count = &mut counts[counter(distance, traits[row].of_site())];
            *count = count.saturating_add(1);
        });
    }

    fn name(&mut self, turns: &[Turn]) {
        let Self { traits, addr, pc, counts, .. } = self;
        for_each_distance(turns, addr, |row, distance| {
            let count = counts[counter(distance, traits[row].of_site())];
            let name = if count >= FREQUENT_MIN { distance } else { RARE };
            pc[row] = name.to_le_bytes();
        });
    }
}

/// Calls `visit` with each row and its distance to the thread's previous address.
fn for_each_distance(turns: &[Turn], addr: &[[u8; 8]], mut visit: impl FnMut(usize, u64)) {
    let threads = turns.iter().map(|turn| turn.slot() + 1).max().unwrap_or(0);
    let mut previous = vec![0; threads];
    for turn in turns {
        let previous = &mut previous[turn.slot()];
        for row in turn.range() {
            let addr = u64::from_le_bytes(addr[row]);
            visit(row, addr.wrapping_sub(*previous));
            *previous = addr;
        }
    }
}

/// Index of the counter of a distance. Collisions influence which distances become sites, so a
/// change of this function changes the bytes of a trace.
fn counter(distance: u64, traits: SiteTraits) -> usize {
    let [kind, size, flags] = traits.parts();
    let traits = u64::from(u32::from_le_bytes([kind, size, flags, 0]));
    let mixed = (distance ^ traits << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 46).unwrap_or(0) % COUNTERS
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::codec::rows::RowBlock;
    use crate::model::Columns;
    use homenode_base::{Access, AccessKind};

    #[test]
    fn frequent_distances_get_sites_and_all_others_share_one() {
        let mut addr = 0u64;
        let mut block = RowBlock::new(Columns::default(), usize::MAX);
        for row in 0..3 * u64::from(FREQUENT_MIN) {
            addr += [8, 24, 1000 + 64 * row][usize::try_from(row % 3).unwrap()];
            block.push(&Access::new(5, AccessKind::Read, addr, 8));
        }
        let mut sites = CountedSites::default();
        sites.hold(&block.columns().reference);
        let turns = [Turn::new(0, 0, block.len()).unwrap()];
        let coder = sites.code(&turns, false);
        let (numbers, _) = coder.rows(0);
        // The first row's distance is from 0, as every distance of a thread's first row.
        assert_eq!(numbers[..6], [1, 2, 3, 1, 2, 3]);
        assert!(numbers.iter().all(|number| (1..=3).contains(number)));
    }
}
