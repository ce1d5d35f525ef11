//! Which unit of the debug information is about an address, from `.debug_aranges`.

use crate::dwarf::SectionReader;

/// A range of addresses of a unit.
#[derive(Debug)]
struct UnitRange {
    begin: u64,
    end: u64,
    /// Where the unit begins in `.debug_info`.
    unit: usize,
    /// Lowest beginning of this range and all after it.
    lowest: u64,
}

/// The ranges of all units, by their ends.
#[derive(Debug)]
pub(crate) struct UnitRanges {
    ranges: Vec<UnitRange>,
}

impl UnitRanges {
    /// Reads the section.
    ///
    /// # Errors
    /// When a set's header is damaged. Damaged ranges are left out.
    pub(crate) fn read(section: &gimli::DebugAranges<SectionReader>) -> Result<Self, gimli::Error> {
        let mut ranges = Vec::new();
        let mut headers = section.headers();
        while let Some(header) = headers.next()? {
            let unit = header.debug_info_offset().0;
            let mut entries = header.entries();
            while let Some(entry) = entries.next().transpose() {
                let Ok(entry) = entry else { continue };
                let gimli::Range { begin, end } = entry.range();
                if begin < end {
                    ranges.push(UnitRange { begin, end, unit, lowest: begin });
                }
            }
        }
        ranges.sort_unstable_by_key(|range| (range.end, range.unit));
        let mut lowest = u64::MAX;
        for range in ranges.iter_mut().rev() {
            lowest = lowest.min(range.begin);
            range.lowest = lowest;
        }
        Ok(Self { ranges })
    }

    /// Whether no unit has any range.
    pub(crate) fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// The units with a range that contains the address, in the order in which the resolver tries
    /// them: that of the ranges' ends.
    pub(crate) fn at(&self, addr: u64) -> impl Iterator<Item = usize> + '_ {
        let first = self.ranges.partition_point(|range| range.end <= addr);
        let near = self.ranges[first..].iter().take_while(move |range| range.lowest <= addr);
        near.filter(move |range| range.begin <= addr).map(|range| range.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use gimli::RunTimeEndian::Little;
    use std::sync::Arc;

    /// A set of 32-bit or 64-bit format with ranges for a unit.
    fn set(long: bool, unit: u32, ranges: &[[u64; 2]]) -> Vec<u8> {
        let mut body = vec![2, 0];
        body.extend(unit.to_le_bytes());
        body.extend(&[0; 4][..if long { 4 } else { 0 }]);
        body.extend([8, 0]);
        // Up to a multiple of two addresses.
        body.extend(&[0; 8][..if long { 8 } else { 4 }]);
        let words = ranges.iter().chain([&[0, 0]]).flatten();
        body.extend(words.flat_map(|word| word.to_le_bytes()));
        let length = u32::try_from(body.len()).unwrap().to_le_bytes();
        let long_length = [&[0xff; 4][..], &length, &[0; 4]].concat();
        [if long { &long_length } else { &length[..] }, &body].concat()
    }

    fn read(bytes: &[u8]) -> UnitRanges {
        UnitRanges::read(&SectionReader::new(Arc::from(bytes), Little).into()).unwrap()
    }

    #[test]
    fn units_are_found_in_the_order_of_the_ends_of_their_ranges() {
        let sets = [
            set(false, 7, &[[0x1000, 0x100], [0x5000, 0x10]]),
            set(true, 3, &[[0x1080, 0x10], [0x3000, 0]]),
            set(false, 900, &[[0x10, 0x8000], [u64::MAX, 2]]),
        ];
        let ranges = read(&sets.concat());
        let at = |addr| ranges.at(addr).collect::<Vec<_>>();
        assert_eq!(at(0x1085), [3, 7, 900]);
        assert_eq!(at(0x1090), [7, 900], "a range does not contain its end");
        assert_eq!((at(0x1000), at(0x1100), at(0x500f)), (vec![7, 900], vec![900], vec![7, 900]));
        assert_eq!((at(0xf), at(0x8010), at(u64::MAX)), (vec![], vec![], vec![]));
        assert!(read(&[]).is_empty() && !ranges.is_empty());
        assert!(read(&set(false, 1, &[])).is_empty());
    }
}
