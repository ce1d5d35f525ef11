//! The counts and ranges in a chunk's header, accumulated incrementally.

use super::rows::{RowColumns, SiteColumns, any};
use crate::chunk::COUNTED;
use crate::format::v1::ChunkHeader;
use crate::model::Columns;

pub(crate) struct ChunkSummary {
    counts: [u32; 6],
    low: u64,
    high: u64,
    /// Optional columns with a value other than 0.
    used: Columns,
}

impl ChunkSummary {
    pub(crate) fn new() -> Self {
        Self { counts: [0; 6], low: u64::MAX, high: 0, used: Columns::default() }
    }

    pub(crate) const fn used(&self) -> Columns {
        self.used
    }

    pub(crate) fn references(&self) -> u64 {
        self.counts[..3].iter().map(|&count| u64::from(count)).sum()
    }

    pub(crate) fn add(&mut self, rows: &RowColumns<'_>) {
        let RowColumns { kind, size, flags, reference: SiteColumns { addr, pc, .. }, .. } = rows;
        for (count, code) in self.counts.iter_mut().zip(0..3) {
            *count += number(kind, |kind| kind == code);
        }
        if flags.iter().fold(0, |bits, flags| bits | flags) != 0 {
            self.used.flags = true;
            for (count, counted) in self.counts[3..].iter_mut().zip(COUNTED) {
                *count += number(flags, |flags| flags & counted != 0);
            }
        }
        self.used.pc |= any(pc);
        self.used.gap |= any(rows.gap);
        self.used.pid |= any(rows.pid);
        let (mut low, mut high) = (self.low, self.high);
        for (addr, size) in addr.iter().zip(*size) {
            let addr = u64::from_le_bytes(*addr);
            low = low.min(addr);
            high = high.max(addr.saturating_add(u64::from(*size) - 1));
        }
        (self.low, self.high) = (low, high);
    }

    pub(crate) fn describe(&self, header: &mut ChunkHeader) {
        header.counts = self.counts;
        let is_empty = self.low > self.high;
        header.addr_low = if is_empty { 0 } else { self.low };
        header.addr_high = self.high;
    }
}

/// Number of bytes for which `is` holds, summed in parts whose count fits a byte, so that the
/// compiler vectorises it.
fn number(bytes: &[u8], is: impl Fn(u8) -> bool) -> u32 {
    let part = |part: &[u8]| u32::from(part.iter().map(|&byte| u8::from(is(byte))).sum::<u8>());
    bytes.chunks(128).map(part).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_number_of_bytes_is_counted() {
        for length in [0, 1, 127, 128, 129, 1000] {
            assert_eq!(number(&vec![3; length], |byte| byte == 3) as usize, length);
            assert_eq!(number(&vec![2; length], |byte| byte == 3), 0);
        }
    }
}
