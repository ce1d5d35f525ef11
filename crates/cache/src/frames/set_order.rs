//! Orders of use of the frames of a set, and searches of tags, in words. All orders are 0 before
//! the first use; of frames that were never used, the first is the oldest.

/// A one in each byte.
const ONES: u64 = 0x0101_0101_0101_0101;

/// The high bit of each byte that equals the wanted one.
#[inline]
pub(super) fn equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    !(((differ & !(ONES << 7)) + !(ONES << 7)) | differ) & (ONES << 7)
}

/// As [`equal`] in fewer instructions, but sometimes with the high bit of a byte above the first
/// one that is not the wanted one.
#[inline]
pub(super) fn first_equal(bytes: u64, want: u64) -> u64 {
    let differ = bytes ^ (want * ONES);
    differ.wrapping_sub(ONES) & !differ & (ONES << 7)
}

/// The position of the byte whose high bit is the lowest one; 0 if there is none.
#[inline]
pub(super) fn first(high_bits: u64) -> usize {
    usize::try_from(high_bits.trailing_zeros() >> 3 & 7).unwrap_or(0)
}

/// The order of up to eight frames as a matrix of bits: in byte *i*, bit *j* says that frame *i*
/// was used after frame *j*.
pub(super) mod matrix {
    use super::{ONES, first};

    /// All bits of byte *i*.
    const ROW: [u64; 8] = {
        let mut rows = [0; 8];
        let mut way = 0;
        while way < 8 {
            rows[way] = 0xff << (8 * way);
            way += 1;
        }
        rows
    };
    /// All bits but bit *i* of each byte.
    const OTHER_COLUMNS: [u64; 8] = {
        let mut columns = [0; 8];
        let mut way = 0;
        while way < 8 {
            columns[way] = !(ONES << way);
            way += 1;
        }
        columns
    };
    /// Byte *i* with bit *i*.
    const DIAGONAL: u64 = 0x8040_2010_0804_0201;

    /// The order after a use of this frame.
    #[inline]
    pub(crate) fn used(order: u64, way: usize) -> u64 {
        (order | ROW[way & 7]) & OTHER_COLUMNS[way & 7]
    }

    /// The candidate that was used after no other one; a bit for each candidate.
    #[inline]
    pub(crate) fn oldest(order: u64, candidates: u16) -> usize {
        let candidates = u64::from(candidates) * ONES;
        // A row is zero for this candidate only; rows of others keep their diagonal.
        let rows = (order & candidates) | (DIAGONAL & !candidates);
        first(rows.wrapping_sub(ONES) & !rows & (ONES << 7))
    }
}

/// The order of up to 16 frames as a list of four-bit numbers, the frame used last in the lowest
/// bits, combined with the first order by XOR.
pub(super) mod list {
    /// The order before the first use: frame 0 is the oldest.
    const FIRST: u64 = 0x0123_4567_89ab_cdef;
    /// A one in each four bits.
    const ONES: u64 = 0x1111_1111_1111_1111;

    /// The order after a use of this frame.
    #[inline]
    pub(crate) fn used(order: u64, way: usize) -> u64 {
        let (order, way) = (order ^ FIRST, way as u64);
        // The lowest four bits that equal the way: those that differ leave a one somewhere.
        let differ = order ^ (way * ONES);
        let zero = differ.wrapping_sub(ONES) & !differ & (ONES << 3);
        let below = ((zero & zero.wrapping_neg()) >> 3).wrapping_sub(1);
        ((order & !((below << 4) | 15)) | ((order & below) << 4) | way) ^ FIRST
    }

    /// The candidate that was used before all others; a bit for each candidate.
    #[inline]
    pub(crate) fn oldest(order: u64, candidates: u16) -> usize {
        let order = order ^ FIRST;
        let mut shift = 60;
        // Frames that the set does not have come first, then those that are no candidates.
        while shift > 0 && candidates >> (order >> shift & 15) & 1 == 0 {
            shift -= 4;
        }
        usize::try_from(order >> shift & 15).unwrap_or(0)
    }
}
