//! The per-processor data areas of a whole system's kernel.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::names::AddressRange;

/// The per-processor data areas of a kernel: one per processor, all with the same layout.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessorAreas {
    /// Bytes of an area.
    pub size: u64,
    /// First byte of each processor's area.
    pub starts: Vec<u64>,
}

const PAGE_BYTES: u64 = 4096;
/// After the static data of a processor, Linux reserves memory for modules and for dynamic
/// allocation (Linux, include/linux/percpu.h: `PERCPU_MODULE_RESERVE`, `PERCPU_DYNAMIC_RESERVE`).
const RESERVED_BYTES: u64 = (8 << 10) + (28 << 10);
/// Alignment of all areas together in Linux for x86-64 (arch/x86/kernel/setup_percpu.c: a large
/// page).
const ALIGNMENT_BYTES: u64 = 2 << 20;

impl ProcessorAreas {
    /// The areas of Linux for x86-64 at these addresses, with `static_bytes` of static data each.
    /// `None` without areas or static data.
    #[must_use]
    pub fn of_linux(starts: Vec<u64>, static_bytes: u64) -> Option<Self> {
        let mut ordered = starts.clone();
        ordered.sort_unstable();
        let gap = ordered.windows(2).map(|pair| pair[1] - pair[0]).min().unwrap_or(u64::MAX);
        let pages = static_bytes.div_ceil(PAGE_BYTES);
        let size = pages.saturating_mul(PAGE_BYTES).saturating_add(RESERVED_BYTES).min(gap);
        (!starts.is_empty() && static_bytes > 0 && size > 0).then_some(Self { size, starts })
    }

    /// Finds the areas by the names of ranges in them, such as `runqueues (processor 2)`.
    pub(crate) fn from_names(ranges: &[AddressRange]) -> Option<Self> {
        let mut symbols: BTreeMap<&str, BTreeMap<usize, u64>> = BTreeMap::new();
        let mut high = 0;
        for range in ranges {
            let Some((symbol, processor)) = per_processor_name(&range.name) else { continue };
            symbols.entry(symbol).or_default().insert(processor, range.start);
            if processor == 0 {
                high = high.max(range.start.saturating_add(range.size));
            }
        }
        let firsts = symbols.values().filter_map(|copies| copies.get(&0));
        let low = *firsts.min()?;
        let most = symbols.values().max_by_key(|copies| copies.len())?;
        let first = *most.get(&0)?;
        let whole = most.keys().copied().eq(0..most.len());
        let gap = most.get(&1).map_or(ALIGNMENT_BYTES, |&second| second.abs_diff(first));
        let aligned = if gap.is_power_of_two() { gap } else { PAGE_BYTES };
        let base = low / aligned * aligned;
        let starts = most.values().map(|&start| base.wrapping_add(start.wrapping_sub(first)));
        Self::of_linux(starts.collect(), high - base).filter(|_| whole)
    }

    /// The address of the same data in the first area; `None` outside the areas.
    #[must_use]
    pub fn in_first(&self, addr: u64) -> Option<u64> {
        let (_, offset) = self.find(addr)?;
        self.starts.first().map(|start| start + offset)
    }

    /// The processor whose area has the address, and the offset in the area.
    #[must_use]
    pub fn find(&self, addr: u64) -> Option<(usize, u64)> {
        let offsets = self.starts.iter().map(|&start| addr.wrapping_sub(start));
        offsets.enumerate().find(|&(_, offset)| offset < self.size)
    }
}

/// `runqueues (processor 2)`: the symbol and the processor.
fn per_processor_name(name: &str) -> Option<(&str, usize)> {
    let (symbol, rest) = name.rsplit_once(" (processor ")?;
    Some((symbol, rest.strip_suffix(')')?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::RangeKind;

    fn range(start: u64, name: &str) -> AddressRange {
        AddressRange::new(RangeKind::Static, start, 0x100, name)
    }

    #[test]
    fn areas_are_found_by_the_names_of_their_data() {
        let ranges = [
            range(0x1000, "jiffies"),
            range(0x20_3040, "clock (processor 0)"),
            range(0x20_8f80, "queue (processor 0)"),
            range(0x24_8f80, "queue (processor 1)"),
            range(0x28_8f80, "queue (processor 2)"),
        ];
        let areas = ProcessorAreas::from_names(&ranges).unwrap();
        let starts = vec![0x20_0000, 0x24_0000, 0x28_0000];
        assert_eq!(areas, ProcessorAreas { size: 0xa000 + 0x9000, starts });
        assert_eq!(areas.find(0x24_8f80), Some((1, 0x8f80)));
        assert_eq!(areas.find(0x20_0000), Some((0, 0)));
        assert_eq!(areas.find(0x21_3000), None, "other memory follows");
        assert_eq!(areas.find(0x1f_ffff), None);
        // One processor alone, and none.
        let alone = ProcessorAreas::from_names(&ranges[..3]).unwrap();
        assert_eq!((alone.starts.as_slice(), alone.size), (&[0x20_0000][..], 0x1_3000));
        assert_eq!(ProcessorAreas::from_names(&ranges[..1]), None);
        assert_eq!(ProcessorAreas::from_names(&ranges[3..]), None, "no data of processor 0");
    }

    #[test]
    fn areas_do_not_overlap() {
        let areas = ProcessorAreas::of_linux(vec![0x8000, 0x4000], 0x100).unwrap();
        assert_eq!(areas.size, 0x4000);
        assert_eq!(ProcessorAreas::of_linux(Vec::new(), 0x100), None);
        assert_eq!(ProcessorAreas::of_linux(vec![0], 0), None);
    }
}
