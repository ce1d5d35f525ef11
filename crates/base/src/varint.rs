//! Variable-length integers: small numbers take few bytes.

/// Maps signed to unsigned numbers; small absolute values stay small.
///
/// ```
/// use homenode_base::{unzigzag, zigzag};
/// assert_eq!([0, -1, 1, -2].map(zigzag), [0, 1, 2, 3]);
/// assert_eq!(unzigzag(zigzag(i64::MIN)), i64::MIN);
/// ```
#[inline]
#[must_use]
pub const fn zigzag(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// Inverse of [`zigzag`].
#[inline]
#[must_use]
pub const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -((value & 1).cast_signed())
}

/// Appends `value` in LEB128: seven bits per byte, low bits first; the top bit means that another
/// byte follows.
///
/// ```
/// let mut bytes = Vec::new();
/// homenode_base::put_varint(&mut bytes, 300);
/// assert_eq!(bytes, [0xac, 0x02]);
/// ```
#[inline]
pub fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value.to_le_bytes()[0] | 0x80);
        value >>= 7;
    }
    out.push(value.to_le_bytes()[0]);
}
