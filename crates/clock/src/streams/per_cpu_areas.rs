//! Per-processor data areas of the kernel: references to them follow the simulated processor.

use std::ops::Range;

use homenode_trace::ProcessorAreas;

/// Flag of an operation whose address is relative to its processor.
pub const PROCESSOR_RELATIVE: u8 = 0x80;
/// Bits of an offset in an area.
const OFFSET_BITS: u32 = 32;
/// Base address of the areas of processors that the traced system did not have, beyond any memory.
const ADDED_AREAS: u64 = 1 << 40;

/// The areas of the traced system.
pub struct RecordedAreas {
    areas: ProcessorAreas,
    /// Bounds of all areas: most references are outside and need no search.
    bounds: Range<u64>,
}

impl RecordedAreas {
    /// Computes the bounds of the areas.
    pub fn new(areas: &ProcessorAreas) -> Self {
        let low = areas.starts.iter().min().copied().unwrap_or(0);
        let high = areas.starts.iter().max().copied().unwrap_or(0).saturating_add(areas.size);
        Self { areas: areas.clone(), bounds: low..high }
    }

    /// The address relative to the processor that made the reference. The high bits hold the
    /// distance to the processor of the area, modulo the number of processors; the low bits hold
    /// the offset in the area. `None` outside the areas.
    pub fn relative(&self, processor: usize, addr: u64) -> Option<u64> {
        if !self.bounds.contains(&addr) {
            return None;
        }
        let (area, offset) = self.areas.find(addr)?;
        let count = self.areas.starts.len();
        let distance = (area + count - processor % count) % count;
        (offset >> OFFSET_BITS == 0).then_some((distance as u64) << OFFSET_BITS | offset)
    }
}

/// The areas of the simulated processors.
#[derive(Default)]
pub struct SimulatedAreas {
    starts: Vec<u64>,
}

impl SimulatedAreas {
    /// Processors of the traced system keep their areas; additional ones get new areas with the
    /// same spacing.
    pub fn new(areas: &ProcessorAreas, processors: usize) -> Self {
        let gap = match areas.starts[..] {
            [first, second, ..] => second.abs_diff(first),
            _ => areas.size.next_power_of_two(),
        };
        let new = (0..).map(|number: u64| ADDED_AREAS + number * gap);
        let known = areas.starts.iter().copied();
        let starts = known.chain(new.skip(areas.starts.len())).take(processors);
        Self { starts: starts.collect() }
    }

    /// The address of a relative reference by a processor.
    pub fn address(&self, relative: u64, processor: usize) -> u64 {
        let distance = usize::try_from(relative >> OFFSET_BITS).unwrap_or(0);
        let start = self.starts.get((processor + distance) % self.starts.len().max(1));
        start.copied().unwrap_or(0) + (relative & ((1 << OFFSET_BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_keep_their_distance_to_the_processor_of_the_area() {
        let areas = ProcessorAreas { size: 0x100, starts: vec![0x1000, 0x1200, 0x1400] };
        let recorded = RecordedAreas::new(&areas);
        let simulated = |processors, at, from, addr| {
            let relative = recorded.relative(from, addr)?;
            Some(SimulatedAreas::new(&areas, processors).address(relative, at))
        };
        assert_eq!(simulated(3, 1, 1, 0x1210), Some(0x1210));
        assert_eq!(simulated(3, 2, 1, 0x1210), Some(0x1410), "its own");
        assert_eq!(simulated(3, 2, 1, 0x1410), Some(0x1010), "its neighbour's");
        assert_eq!(simulated(5, 4, 0, 0x1010), Some(ADDED_AREAS + 4 * 0x200 + 0x10));
        assert_eq!(simulated(1, 0, 1, 0x1410), Some(0x1010), "there is only one");
        assert_eq!(simulated(3, 0, 0, 0x1100), None);
        assert_eq!(simulated(3, 0, 0, 0x0fff), None);
        assert_eq!(simulated(3, 0, 0, 0x1500), None);
    }
}
