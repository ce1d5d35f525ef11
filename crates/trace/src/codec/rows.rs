//! Rows on their way to the encoder, in columns: so few that they stay in the innermost cache.

use std::ops::Range;

use homenode_base::{Access, AccessKind};

use crate::model::Columns;

/// Rows of a block: a power of two, and about 30 KB of columns.
pub(crate) const BLOCK_ROWS: usize = 1 << 10;

/// Thread, kind, flags and size of a row in one word: a processor stores fewer words than it could
/// compute with, so rows come in few of them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Traits(u32);

impl Traits {
    #[inline(always)]
    fn new(access: &Access, flags: u8) -> Self {
        let [kind, flags, size] = [access.kind.code(), flags, access.size].map(u32::from);
        Self(u32::from(access.thread) | kind << 16 | flags << 18 | size << 24)
    }

    #[inline(always)]
    pub(super) const fn same_thread(self, other: Self) -> bool {
        (self.0 ^ other.0).trailing_zeros() >= 16
    }

    /// The thread, little-endian.
    pub(super) const fn thread(self) -> [u8; 2] {
        let [low, high, ..] = self.0.to_le_bytes();
        [low, high]
    }

    const fn kind(self) -> u8 {
        self.0.to_le_bytes()[2] & 3
    }

    const fn flags(self) -> u8 {
        self.0.to_le_bytes()[2] >> 2 & 7
    }

    const fn size(self) -> u8 {
        self.0.to_le_bytes()[3]
    }

    /// Kind, flags and size: all but the thread.
    #[inline(always)]
    pub(super) const fn of_site(self) -> SiteTraits {
        let [_, _, low, high] = self.0.to_le_bytes();
        SiteTraits(u16::from_le_bytes([low, high]))
    }
}

/// Kind, flags and size of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SiteTraits(pub(super) u16);

impl SiteTraits {
    /// No row has these: its size is 0.
    pub(super) const NONE: Self = Self(0);

    /// Kind, size and flags.
    #[inline(always)]
    pub(super) const fn parts(self) -> [u8; 3] {
        let traits = Traits((self.0 as u32) << 16);
        [traits.kind(), traits.size(), traits.flags()]
    }
}

/// A block of rows. Numbers are little-endian bytes, as the content checksum takes them.
pub(crate) struct RowBlock {
    rows: usize,
    /// Rows at which the block is full.
    limit: usize,
    columns: Columns,
    /// All ones if the trace has the column, else 0.
    has_flags: u8,
    has_pc: u64,
    traits: [Traits; BLOCK_ROWS],
    addr: [[u8; 8]; BLOCK_ROWS],
    pc: [[u8; 8]; BLOCK_ROWS],
    gap: [[u8; 4]; BLOCK_ROWS],
    pid: [[u8; 4]; BLOCK_ROWS],
    // The traits, one by one.
    thread: [[u8; 2]; BLOCK_ROWS],
    kind: [u8; BLOCK_ROWS],
    size: [u8; BLOCK_ROWS],
    flags: [u8; BLOCK_ROWS],
}

impl RowBlock {
    /// A block for a trace with these columns, full with `rows` or with all that it can hold.
    pub(crate) fn new(columns: Columns, rows: usize) -> Box<Self> {
        let mut block = Box::new(Self {
            rows: 0,
            limit: 0,
            columns,
            has_flags: if columns.flags { u8::MAX } else { 0 },
            has_pc: if columns.pc { u64::MAX } else { 0 },
            traits: [Traits::default(); BLOCK_ROWS],
            addr: [[0; 8]; BLOCK_ROWS],
            pc: [[0; 8]; BLOCK_ROWS],
            gap: [[0; 4]; BLOCK_ROWS],
            pid: [[0; 4]; BLOCK_ROWS],
            thread: [[0; 2]; BLOCK_ROWS],
            kind: [0; BLOCK_ROWS],
            size: [0; BLOCK_ROWS],
            flags: [0; BLOCK_ROWS],
        });
        block.empty(rows);
        block
    }

    /// Empties the block, to be full with `rows`, or with all that it can hold.
    pub(crate) fn empty(&mut self, rows: usize) {
        self.rows = 0;
        self.limit = rows.min(BLOCK_ROWS);
    }

    /// Rows in the block.
    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    /// Data references in the block.
    pub(crate) fn references(&self) -> usize {
        let fetch = AccessKind::Fetch.code();
        self.traits[..self.rows].iter().filter(|traits| traits.kind() != fetch).count()
    }

    /// Adds a row; flags and program counter are 0 if the trace does not have them. Returns whether
    /// the block is full now, and must be emptied.
    #[inline(always)]
    pub(crate) fn push(&mut self, access: &Access) -> bool {
        // The remainder is the number itself, and tells the compiler that it is in range.
        let at = self.rows % BLOCK_ROWS;
        self.traits[at] = Traits::new(access, access.flags.0 & self.has_flags);
        self.addr[at] = access.addr.to_le_bytes();
        self.pc[at] = (access.pc & self.has_pc).to_le_bytes();
        if self.columns.gap || self.columns.pid {
            self.gap[at] = access.gap.to_le_bytes();
            self.pid[at] = access.pid.to_le_bytes();
        }
        self.rows = at + 1;
        self.rows >= self.limit
    }

    /// The rows.
    pub(crate) fn columns(&mut self) -> RowColumns<'_> {
        let rows = self.rows.min(BLOCK_ROWS);
        let traits = &self.traits[..rows];
        // A loop for each: the compiler makes wide instructions of it.
        let columns = [(&mut self.kind, 0), (&mut self.size, 1), (&mut self.flags, 2)];
        for (column, part) in columns {
            for (to, traits) in column.iter_mut().zip(traits) {
                *to = match part {
                    0 => traits.kind(),
                    1 => traits.size(),
                    _ => traits.flags(),
                };
            }
        }
        for (to, traits) in self.thread.iter_mut().zip(traits) {
            *to = traits.thread();
        }
        RowColumns {
            thread: &self.thread[..rows],
            kind: &self.kind[..rows],
            size: &self.size[..rows],
            flags: &self.flags[..rows],
            gap: &self.gap[..if self.columns.gap { rows } else { 0 }],
            pid: &self.pid[..if self.columns.pid { rows } else { 0 }],
            reference: SiteColumns { traits, addr: &self.addr[..rows], pc: &self.pc[..rows] },
        }
    }
}

/// Columns of consecutive rows.
#[derive(Clone, Copy)]
pub(crate) struct RowColumns<'a> {
    /// Threads.
    pub(crate) thread: &'a [[u8; 2]],
    /// Codes of kinds.
    pub(crate) kind: &'a [u8],
    /// Sizes in bytes.
    pub(crate) size: &'a [u8],
    /// Bits of flags.
    pub(crate) flags: &'a [u8],
    /// Gaps; none if the trace has none.
    pub(crate) gap: &'a [[u8; 4]],
    /// Process identities; none if the trace has none.
    pub(crate) pid: &'a [[u8; 4]],
    /// What the predictors are about.
    pub(crate) reference: SiteColumns<'a>,
}

/// What the predictors are about, of consecutive rows.
#[derive(Clone, Copy)]
pub(crate) struct SiteColumns<'a> {
    /// Thread, kind, flags and size.
    pub(super) traits: &'a [Traits],
    /// Addresses.
    pub(crate) addr: &'a [[u8; 8]],
    /// Program counters; 0 where there is none.
    pub(crate) pc: &'a [[u8; 8]],
}

impl<'a> SiteColumns<'a> {
    /// Some of the rows.
    #[inline(always)]
    pub(super) fn part(&self, rows: Range<usize>) -> SiteColumns<'a> {
        SiteColumns {
            traits: &self.traits[rows.clone()],
            addr: &self.addr[rows.clone()],
            pc: &self.pc[rows],
        }
    }
}

/// Whether a number of a column is not 0.
pub(crate) fn any<const N: usize>(column: &[[u8; N]]) -> bool {
    // Without a branch for each, which the compiler turns into wide instructions.
    column.as_flattened().iter().fold(0, |bits, byte| bits | byte) != 0
}

/// Rows at the beginning of `thread` that are of one thread; there is at least one.
pub(crate) fn run_length(thread: &[[u8; 2]]) -> usize {
    const STEP: usize = 8;
    let first = thread[0];
    let mut rows = 1;
    while thread.get(rows..rows + STEP).is_some_and(|next| *next == [first; STEP]) {
        rows += STEP;
    }
    rows + thread[rows..].iter().take_while(|next| **next == first).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::Flags;

    #[test]
    fn runs_of_any_length_are_found() {
        for length in 1..40 {
            let mut threads = vec![[7, 1]; length];
            assert_eq!(run_length(&threads), length);
            threads.push([8, 1]);
            threads.extend([[7, 1]; 20]);
            assert_eq!(run_length(&threads), length);
        }
    }

    #[test]
    fn a_row_has_all_its_traits() {
        for (kind, size, flags) in [(0, 1, 7), (1, 64, 0), (2, 33, 5), (3, 8, 2)] {
            let kind = AccessKind::from_code(kind).unwrap();
            let access = Access { flags: Flags(flags), ..Access::new(65_534, kind, 0, size) };
            let traits = Traits::new(&access, flags);
            assert_eq!(u16::from_le_bytes(traits.thread()), 65_534);
            assert_eq!(traits.of_site().parts(), [kind.code(), size, flags]);
            assert_ne!(traits.of_site(), SiteTraits::NONE);
        }
    }

    #[test]
    fn a_block_is_full_at_its_limit() {
        let mut block = RowBlock::new(Columns::default(), 3);
        let access = Access { pc: 9, ..Access::new(1, AccessKind::Write, 0x40, 8) };
        assert_eq!([0; 3].map(|_| block.push(&access)), [false, false, true]);
        let rows = block.columns();
        assert_eq!((rows.kind, any(rows.thread)), (&[1, 1, 1][..], true));
        assert!(!any(rows.reference.pc) && !any(rows.gap));
        block.empty(usize::MAX);
        assert_eq!((1..).find(|_| block.push(&access)), Some(BLOCK_ROWS));
    }
}
