//! Size and organisation of the filtering caches, as users write them.

use std::fmt;

use homenode_base::BlockSize;

/// Most blocks of a cache: each takes 8 bytes of memory.
const BLOCKS_MAX: u64 = 1 << 26;

/// Most ways: a set is searched one by one.
const WAYS_MAX: u64 = 1024;

/// Suffixes of a number of bytes, and their factors.
const UNITS: [(char, u64); 3] = [('K', 1 << 10), ('M', 1 << 20), ('G', 1 << 30)];

/// Size and organisation of the cache of each processor. The number of sets is a power of two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CacheFilterShape {
    sets: u64,
    ways: u64,
    block: BlockSize,
}

impl CacheFilterShape {
    /// A cache of this many bytes, ways, and bytes in a block.
    ///
    /// # Errors
    /// When size is not ways times block size times a power of two.
    pub fn new(size_bytes: u64, ways: u64, block_size_bytes: u64) -> Result<Self, String> {
        let block = BlockSize::new(block_size_bytes).map_err(|error| error.to_string())?;
        if !(1..=WAYS_MAX).contains(&ways) {
            return Err(format!("{ways} ways: expected 1 to {WAYS_MAX}"));
        }
        let set = ways * block.bytes();
        let sets = size_bytes / set;
        if !size_bytes.is_multiple_of(set) || !sets.is_power_of_two() {
            let below = if sets == 0 { 1 } else { 1 << sets.ilog2() };
            return Err(format!(
                "a size of {size_bytes} bytes is not {ways} ways of {}-byte blocks times a power \
                 of two; the nearest are {} and {}",
                block.bytes(),
                sized(set * below),
                sized(set * below * 2)
            ));
        }
        if sets * ways > BLOCKS_MAX {
            return Err(format!("{} blocks: expected at most {BLOCKS_MAX}", sets * ways));
        }
        Ok(Self { sets, ways, block })
    }

    /// Reads `SIZE:WAYS:BLOCK`, such as `2M:16:64`.
    ///
    /// # Errors
    /// When the text has another form, or the numbers do not fit.
    ///
    /// ```
    /// use homenode_transform::CacheFilterShape;
    /// assert_eq!(CacheFilterShape::parse("2048K:16:64")?.to_string(), "2M:16:64");
    /// assert!(CacheFilterShape::parse("3M:16:64").is_err());
    /// # Ok::<(), String>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, String> {
        let numbers: Option<Vec<u64>> = text.split(':').map(bytes).collect();
        match numbers.as_deref() {
            Some(&[size, ways, block]) => Self::new(size, ways, block),
            _ => Err("expected size, ways and block size, as in 2M:16:64".to_owned()),
        }
    }

    /// Bytes in a block.
    #[must_use]
    pub const fn block_bytes(self) -> u64 {
        self.block.bytes()
    }

    pub(super) const fn block(self) -> BlockSize {
        self.block
    }

    pub(super) const fn sets(self) -> u64 {
        self.sets
    }

    pub(super) fn blocks(self) -> usize {
        usize::try_from(self.sets * self.ways).unwrap_or(usize::MAX)
    }

    pub(super) fn ways(self) -> usize {
        usize::try_from(self.ways).unwrap_or(usize::MAX)
    }
}

impl fmt::Display for CacheFilterShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let block = self.block.bytes();
        write!(f, "{}:{}:{block}", sized(self.sets * self.ways * block), self.ways)
    }
}

fn bytes(text: &str) -> Option<u64> {
    let upper = text.trim().to_ascii_uppercase();
    for (letter, unit) in UNITS {
        if let Some(number) = upper.strip_suffix(letter) {
            return number.parse::<u64>().ok()?.checked_mul(unit);
        }
    }
    upper.parse().ok()
}

fn sized(bytes: u64) -> String {
    let fits = |&&(_, unit): &&(char, u64)| bytes > 0 && bytes.is_multiple_of(unit);
    match UNITS.iter().rev().find(fits) {
        Some((letter, unit)) => format!("{}{letter}", bytes / unit),
        None => bytes.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn errors_name_the_nearest_valid_sizes() {
        let fails = |text: &str| CacheFilterShape::parse(text).unwrap_err();
        assert!(
            fails("75M:15:64").contains("the nearest are 60M and 120M"),
            "{}",
            fails("75M:15:64")
        );
        assert!(fails("1:16:64").contains("the nearest are 1K and 2K"));
        assert!(fails("2M:0:64").contains("0 ways"));
        assert!(fails("2M:16:48").contains("power of two"));
        for text in ["", "2M", "2M:16", "2M:16:64:1", "2X:16:64", "-2M:16:64", "none"] {
            assert!(fails(text).contains("as in 2M:16:64"), "{text}");
        }
        assert!(fails("1024G:16:64").contains("at most"));
        assert!(fails("99999999999G:16:64").contains("as in"), "a product that does not fit");
    }

    #[test]
    fn sizes_are_written_with_the_largest_suffix() {
        for text in ["64M:16:64", "60M:15:64", "1G:16:128", "96:3:32", "33K:33:4"] {
            assert_eq!(CacheFilterShape::parse(text).unwrap().to_string(), text);
        }
    }
}
