//! Rows without program counters, which are held until the end of their chunk: only then it is
//! known which differences occur often, and stand for instructions.

use super::coder::SiteNames;
use super::rows::{SiteColumns, SiteTraits, Traits};

/// Entries of the table that counts differences. A collision only costs some bytes.
const COUNTERS: usize = 1 << 18;
/// A difference that occurs this often in a chunk becomes a site.
const FREQUENT_MIN: u8 = 250;
/// Substitute for the program counter of rows whose difference is rare.
const RARE_DIFFERENCE: u64 = u64::MAX;

/// The rows of a chunk that has no program counters so far.
#[derive(Default)]
pub(super) struct HeldRows {
    traits: Vec<Traits>,
    addr: Vec<[u8; 8]>,
    pc: Vec<[u8; 8]>,
    counted: Counted,
    /// Last address of each thread.
    previous: Vec<u64>,
}

/// How often each difference to the thread's previous address occurred, by a hash.
#[derive(Default)]
pub(super) struct Counted(Vec<u8>);

impl HeldRows {
    /// Forgets everything but its memory.
    pub(super) fn clear(&mut self) {
        self.traits.clear();
        self.addr.clear();
        self.counted.0.clear();
        self.previous.clear();
    }

    /// Adds consecutive rows of a thread, the `slot`-th to appear.
    pub(super) fn push(&mut self, slot: usize, rows: &SiteColumns<'_>) {
        self.traits.extend_from_slice(rows.traits);
        self.addr.extend_from_slice(rows.addr);
        if self.previous.len() <= slot {
            self.previous.resize(slot + 1, 0);
        }
        self.previous[slot] = self.counted.count(rows, self.previous[slot]);
    }

    /// The rows, and which of their differences are frequent.
    pub(super) fn rows(&mut self) -> (SiteColumns<'_>, &Counted) {
        self.pc.resize(self.addr.len(), [0; 8]);
        let rows = SiteColumns { traits: &self.traits, addr: &self.addr, pc: &self.pc };
        (rows, &self.counted)
    }
}

impl Counted {
    /// Counts the differences of rows of a thread; returns their last address.
    fn count(&mut self, rows: &SiteColumns<'_>, mut previous: u64) -> u64 {
        self.0.resize(COUNTERS, 0);
        for row in 0..rows.addr.len() {
            let addr = u64::from_le_bytes(rows.addr[row]);
            let count =
                &mut self.0[counter(addr.wrapping_sub(previous), rows.traits[row].of_site())];
            *count = count.saturating_add(1);
            previous = addr;
        }
        previous
    }
}

impl SiteNames for Counted {
    const SYNTHETIC: bool = true;

    /// Without program counters a frequent difference stands for the instruction that makes it;
    /// all others share one site, whose differences are written out.
    #[inline(always)]
    fn name(&self, rows: &SiteColumns<'_>, row: usize, offset: u64) -> u64 {
        let is_frequent = self.0[counter(offset, rows.traits[row].of_site())] >= FREQUENT_MIN;
        if is_frequent { offset } else { RARE_DIFFERENCE }
    }
}

/// The place of the counter. Which differences share one decides which become sites: as long as it
/// is the same, so are the bytes of a trace.
#[inline(always)]
fn counter(difference: u64, traits: SiteTraits) -> usize {
    let [kind, size, flags] = traits.parts();
    let traits = u64::from(u32::from_le_bytes([kind, size, flags, 0]));
    let mixed = (difference ^ traits << 40).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    usize::try_from(mixed >> 46).unwrap_or(0) % COUNTERS
}
