//! What the kernel has for each processor follows the processor that is simulated.

use std::ops::Range;

use homenode_trace::ProcessorAreas;

/// Set in the flags of an operation whose address is relative to its processor.
pub const PROCESSOR_RELATIVE: u8 = 0x80;
/// Bits of a place in an area.
const PLACE_BITS: u32 = 32;
/// Where areas are of processors that the traced system did not have: beyond the memory of any.
const BEYOND: u64 = 1 << 40;

/// The areas as they were recorded.
pub struct RecordedAreas {
    areas: ProcessorAreas,
    /// All of them are within.
    reach: Range<u64>,
}

impl RecordedAreas {
    /// Areas as the trace says.
    pub fn new(areas: &ProcessorAreas) -> Self {
        let low = areas.starts.iter().min().copied().unwrap_or(0);
        let high = areas.starts.iter().max().copied().unwrap_or(0).saturating_add(areas.size);
        Self { areas: areas.clone(), reach: low..high }
    }

    /// The address as seen from the processor that made the reference: how many processors further
    /// the area is that it is in, and the place there. Nothing if it is in none.
    pub fn relative(&self, processor: usize, addr: u64) -> Option<u64> {
        if !self.reach.contains(&addr) {
            return None;
        }
        let (area, place) = self.areas.find(addr)?;
        let count = self.areas.starts.len();
        let further = (area + count - processor % count) % count;
        (place >> PLACE_BITS == 0).then_some((further as u64) << PLACE_BITS | place)
    }
}

/// The areas of the processors that are simulated.
#[derive(Default)]
pub struct SimulatedAreas {
    starts: Vec<u64>,
}

impl SimulatedAreas {
    /// For so many processors: those of the traced system have its areas, others new ones that lie
    /// as far apart.
    pub fn new(areas: &ProcessorAreas, processors: usize) -> Self {
        let gap = match areas.starts[..] {
            [first, second, ..] => second.abs_diff(first),
            _ => areas.size.next_power_of_two(),
        };
        let new = (0..).map(|number: u64| BEYOND + number * gap);
        let known = areas.starts.iter().copied();
        let starts = known.chain(new.skip(areas.starts.len())).take(processors);
        Self { starts: starts.collect() }
    }

    /// The address in memory of what a processor refers to.
    pub fn address(&self, relative: u64, processor: usize) -> u64 {
        let further = usize::try_from(relative >> PLACE_BITS).unwrap_or(0);
        let start = self.starts.get((processor + further) % self.starts.len().max(1));
        start.copied().unwrap_or(0) + (relative & ((1 << PLACE_BITS) - 1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn own_areas_stay_own_and_others_stay_others() {
        let areas = ProcessorAreas { size: 0x100, starts: vec![0x1000, 0x1200, 0x1400] };
        let recorded = RecordedAreas::new(&areas);
        let simulated = |processors, at, from, addr| {
            let relative = recorded.relative(from, addr)?;
            Some(SimulatedAreas::new(&areas, processors).address(relative, at))
        };
        assert_eq!(simulated(3, 1, 1, 0x1210), Some(0x1210));
        assert_eq!(simulated(3, 2, 1, 0x1210), Some(0x1410), "its own");
        assert_eq!(simulated(3, 2, 1, 0x1410), Some(0x1010), "its neighbour's");
        assert_eq!(simulated(5, 4, 0, 0x1010), Some(BEYOND + 4 * 0x200 + 0x10));
        assert_eq!(simulated(1, 0, 1, 0x1410), Some(0x1010), "there is but one");
        assert_eq!(simulated(3, 0, 0, 0x1100), None);
        assert_eq!(simulated(3, 0, 0, 0x0fff), None);
        assert_eq!(simulated(3, 0, 0, 0x1500), None);
    }
}
