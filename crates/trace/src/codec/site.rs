//! The address predictor of a site.

use homenode_base::unzigzag;

/// Last address plus the last stride.
pub(super) const STRIDE: u8 = 0;
/// Last address plus the second stride.
pub(super) const SECOND: u8 = 1;
/// The thread's previous address plus the same offset as last time.
pub(super) const OFFSET: u8 = 2;
/// Last address plus an explicit difference; 3 to 8 by the width of the difference.
pub(super) const FROM_LAST: u8 = 3;
/// The thread's previous address plus an explicit difference; 9 to 14 by its width.
pub(super) const FROM_PREVIOUS: u8 = 9;
/// Added to the code when the site is new to the thread.
pub(super) const FIRST_USE: u8 = 16;
/// One more than the highest code of a site the thread knows.
pub(super) const CODES: u8 = 15;
const WIDTHS: [u8; 6] = [1, 2, 3, 4, 6, 8];
/// Bytes of the difference that belongs to each code.
pub(super) const WIDTH_OF_CODE: [u8; 16] = {
    let mut widths = [0; 16];
    let mut i = 0;
    while i < WIDTHS.len() {
        widths[FROM_LAST as usize + i] = WIDTHS[i];
        widths[FROM_PREVIOUS as usize + i] = WIDTHS[i];
        i += 1;
    }
    widths
};
/// The bits of those bytes in a little-endian word.
const MASK_OF_CODE: [u64; 16] = {
    let mut masks = [0; 16];
    let mut code = 0;
    while code < 16 {
        let width = WIDTH_OF_CODE[code] as u32;
        masks[code] = if width == 0 { 0 } else { u64::MAX >> (64 - 8 * width) };
        code += 1;
    }
    masks
};

pub(super) fn width_index(zigzag: u64) -> u8 {
    const INDEX: [u8; 16] = [5, 5, 4, 4, 3, 2, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    INDEX[zigzag.leading_zeros() as usize / 8 % 16]
}

/// The difference in the low bytes of `word`, for a row with this code.
#[inline(always)]
pub(super) fn difference(code: u8, word: u64) -> u64 {
    unzigzag(word & MASK_OF_CODE[usize::from(code & 15)]).cast_unsigned()
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SitePredictor {
    pub(super) pc: u64,
    pub(super) last: u64,
    /// Difference of its last two addresses.
    pub(super) stride: u64,
    /// The last stride that differs from `stride`.
    pub(super) second: u64,
    /// Its last address less the thread's previous address then.
    pub(super) offset: u64,
    pub(super) kind: u8,
    pub(super) size: u8,
    pub(super) flags: u8,
}

impl SitePredictor {
    /// The address of a code from 0 to 14, for a thread whose previous address is `previous`.
    ///
    /// Conditional moves instead of branches: in irregular programs the next code is hard to
    /// predict. Operations that depend on `previous` come last, as they form the dependence chain
    /// between rows.
    #[inline(always)]
    pub(super) fn address(&self, code: u8, previous: u64, difference: u64) -> u64 {
        let stride = if code == SECOND { self.second } else { self.stride };
        let along = if code < OFFSET { stride } else { difference };
        let beside = if code == OFFSET { self.offset } else { difference };
        let from_last = self.last.wrapping_add(along);
        let from_previous = previous.wrapping_add(beside);
        if code == OFFSET || code >= FROM_PREVIOUS { from_previous } else { from_last }
    }

    #[inline(always)]
    pub(super) fn learn(&mut self, addr: u64, previous: u64) {
        let stride = addr.wrapping_sub(self.last);
        self.second = if stride == self.stride { self.second } else { self.stride };
        self.stride = stride;
        self.last = addr;
        self.offset = addr.wrapping_sub(previous);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Rows of three words with a jump to the next row: after one row and one jump every address is
    /// the last one plus one of two strides.
    #[test]
    fn two_strides_explain_a_walk_over_rows() {
        let mut site = SitePredictor::default();
        let walk = [0, 4, 8, 100, 104, 108, 200, 204, 208u64];
        let codes: Vec<Option<u8>> = walk
            .iter()
            .map(|&addr| {
                let code = [STRIDE, SECOND].into_iter().find(|&c| site.address(c, 0, 0) == addr);
                site.learn(addr, 0);
                code
            })
            .collect();
        let (s, t) = (Some(STRIDE), Some(SECOND));
        assert_eq!(codes, [s, None, s, None, t, s, t, t, s]);
    }

    #[test]
    fn a_field_of_a_moving_object_keeps_its_offset() {
        let mut site = SitePredictor::default();
        site.learn(0x1008, 0x1000);
        assert_eq!(site.address(OFFSET, 0x5000, 0), 0x5008);
    }

    #[test]
    fn differences_of_every_width_round_trip() {
        let site = SitePredictor { last: 50, ..SitePredictor::default() };
        for shift in 0..64 {
            let zigzag = u64::MAX >> shift;
            for base in [FROM_LAST, FROM_PREVIOUS] {
                let code = base + width_index(zigzag);
                let width = u32::from(WIDTH_OF_CODE[usize::from(code)]);
                assert!(code < CODES && (width == 8 || zigzag < 1 << (8 * width)));
                // The bytes that follow in the stream must not matter.
                let rest = if width == 8 { 0 } else { 0xaaaa_aaaa_aaaa_aaaa << (8 * width) };
                let difference = difference(code, zigzag | rest);
                let from = if base == FROM_LAST { 50u64 } else { 70 };
                assert_eq!(site.address(code, 70, difference), from.wrapping_add(difference));
                assert_eq!(difference, unzigzag(zigzag).cast_unsigned());
            }
        }
    }
}
