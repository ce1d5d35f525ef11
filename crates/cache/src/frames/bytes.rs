//! Eight bytes in a word, searched at once.

/// A one in each byte.
pub(super) const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that is the wanted one.
#[inline]
pub(super) fn equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    !(((differ & !(ONES << 7)) + !(ONES << 7)) | differ) & (ONES << 7)
}

/// The same in fewer instructions, and sometimes the high bit of a byte above it that is not the
/// wanted one: enough for those who take the lowest.
#[inline]
pub(super) fn first_equal(bytes: u64, want: u64) -> u64 {
    zeros(bytes ^ (want * ONES))
}

/// The high bit of each byte that is zero, and sometimes of one above it that is not.
#[inline]
pub(super) fn zeros(bytes: u64) -> u64 {
    bytes.wrapping_sub(ONES) & !bytes & (ONES << 7)
}

/// The position of the byte whose high bit is the lowest one; 0 if there is none.
#[inline]
pub(super) fn first(high_bits: u64) -> usize {
    usize::try_from(high_bits.trailing_zeros() >> 3 & 7).unwrap_or(0)
}
