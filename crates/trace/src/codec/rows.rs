//! A block of rows for the encoder, in columns, small enough for the first-level cache.

use std::ops::Range;

use homenode_base::{Access, AccessKind, Flags};

use crate::model::Columns;

/// Rows of a block: a power of two, and about 30 KB of columns.
pub(crate) const BLOCK_ROWS: usize = 1 << 10;

/// Thread, kind, flags and size of a row in one word, so that the encoder compares them in one
/// instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Traits(u32);

impl Traits {
    /// Matches no row: the size is 0.
    pub(super) const NONE: Self = Self(0);

    #[inline(always)]
    fn new(thread: [u8; 2], [kind, flags, size]: [u8; 3]) -> Self {
        let [kind, flags, size] = [kind, flags, size].map(u32::from);
        Self(u32::from(u16::from_le_bytes(thread)) | kind << 16 | flags << 18 | size << 24)
    }

    #[inline(always)]
    pub(super) const fn same_thread(self, other: Self) -> bool {
        (self.0 ^ other.0).trailing_zeros() >= 16
    }

    pub(super) const fn thread(self) -> u16 {
        let [low, high, ..] = self.0.to_le_bytes();
        u16::from_le_bytes([low, high])
    }

    const fn kind(self) -> u8 {
        self.0.to_le_bytes()[2] & 3
    }

    const fn flags(self) -> u8 {
        self.0.to_le_bytes()[2] >> 2 & Flags::ALL.0
    }

    const fn size(self) -> u8 {
        self.0.to_le_bytes()[3]
    }

    #[inline(always)]
    pub(super) const fn of_site(self) -> SiteTraits {
        let [_, _, low, high] = self.0.to_le_bytes();
        SiteTraits(u16::from_le_bytes([low, high]))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct SiteTraits(pub(super) u16);

impl SiteTraits {
    pub(super) fn of_thread(self, thread: u16) -> Traits {
        Traits(u32::from(self.0) << 16 | u32::from(thread))
    }

    #[inline(always)]
    pub(super) const fn parts(self) -> [u8; 3] {
        let traits = Traits((self.0 as u32) << 16);
        [traits.kind(), traits.size(), traits.flags()]
    }
}

/// A block of rows. Numbers are little-endian bytes, as the content checksum requires.
pub(crate) struct RowBlock {
    rows: usize,
    /// Rows at which the block is full.
    limit: usize,
    columns: Columns,
    thread: [[u8; 2]; BLOCK_ROWS],
    kind: [u8; BLOCK_ROWS],
    size: [u8; BLOCK_ROWS],
    flags: [u8; BLOCK_ROWS],
    addr: [[u8; 8]; BLOCK_ROWS],
    pc: [[u8; 8]; BLOCK_ROWS],
    gap: [[u8; 4]; BLOCK_ROWS],
    pid: [[u8; 4]; BLOCK_ROWS],
    /// Derived from the columns above.
    traits: [Traits; BLOCK_ROWS],
}

/// Rows copied column by column at a time, small enough for the first-level cache.
const TILE_ROWS: usize = 64;

pub(crate) const fn is_storable(thread: u16, size: u8, flags: u8) -> bool {
    size.wrapping_sub(1) < 64 && thread != u16::MAX && flags & !Flags::ALL.0 == 0
}

impl RowBlock {
    pub(crate) fn new(columns: Columns, rows: usize) -> Box<Self> {
        let mut block = Box::new(Self {
            rows: 0,
            limit: 0,
            columns,
            thread: [[0; 2]; BLOCK_ROWS],
            kind: [0; BLOCK_ROWS],
            size: [0; BLOCK_ROWS],
            flags: [0; BLOCK_ROWS],
            addr: [[0; 8]; BLOCK_ROWS],
            pc: [[0; 8]; BLOCK_ROWS],
            gap: [[0; 4]; BLOCK_ROWS],
            pid: [[0; 4]; BLOCK_ROWS],
            traits: [Traits::default(); BLOCK_ROWS],
        });
        block.empty(rows);
        block
    }

    /// Empties the block; it is full at `rows` rows, at most [`BLOCK_ROWS`].
    pub(crate) fn empty(&mut self, rows: usize) {
        self.rows = 0;
        self.limit = rows.min(BLOCK_ROWS);
    }

    pub(crate) const fn len(&self) -> usize {
        self.rows
    }

    pub(crate) const fn is_full(&self) -> bool {
        self.rows >= self.limit
    }

    pub(crate) fn references(&self) -> usize {
        let fetch = AccessKind::Fetch.code();
        self.kind[..self.rows].iter().filter(|kind| **kind != fetch).count()
    }

    /// Adds a valid row. Returns whether the block is full and must be emptied.
    #[inline(always)]
    pub(crate) fn push(&mut self, access: &Access) -> bool {
        // The remainder equals the number and proves to the compiler that it is in range.
        let at = self.rows % BLOCK_ROWS;
        self.thread[at] = access.thread.to_le_bytes();
        self.kind[at] = access.kind.code();
        self.size[at] = access.size;
        self.flags[at] = access.flags.0;
        self.addr[at] = access.addr.to_le_bytes();
        if self.columns.pc {
            self.pc[at] = access.pc.to_le_bytes();
        }
        if self.columns.gap || self.columns.pid {
            self.gap[at] = access.gap.to_le_bytes();
            self.pid[at] = access.pid.to_le_bytes();
        }
        self.rows = at + 1;
        self.is_full()
    }

    /// Adds as many of `rows` as fit, up to the first invalid one, and returns their number.
    pub(crate) fn fill<R: Copy + Into<Access>>(&mut self, rows: &[R]) -> usize {
        let start = self.rows;
        let end = self.limit.min(start + rows.len());
        for (tile, at) in rows.chunks(TILE_ROWS).zip((start..end).step_by(TILE_ROWS)) {
            let to = at..end.min(at + tile.len());
            copy(&mut self.thread[to.clone()], tile, |row| row.thread.to_le_bytes());
            copy(&mut self.kind[to.clone()], tile, |row| row.kind.code());
            copy(&mut self.size[to.clone()], tile, |row| row.size);
            copy(&mut self.flags[to.clone()], tile, |row| row.flags.0);
            copy(&mut self.addr[to.clone()], tile, |row| row.addr.to_le_bytes());
            if self.columns.pc {
                copy(&mut self.pc[to.clone()], tile, |row| row.pc.to_le_bytes());
            }
            if self.columns.gap {
                copy(&mut self.gap[to.clone()], tile, |row| row.gap.to_le_bytes());
            }
            if self.columns.pid {
                copy(&mut self.pid[to], tile, |row| row.pid.to_le_bytes());
            }
        }
        self.rows = start + self.storable(start..end.max(start));
        self.rows - start
    }

    /// Number of rows of a range before the first invalid one.
    fn storable(&self, range: Range<usize>) -> usize {
        let thread = &self.thread[range.clone()];
        let (size, flags) = (&self.size[range.clone()], &self.flags[range]);
        let is = |row: usize| is_storable(u16::from_le_bytes(thread[row]), size[row], flags[row]);
        // Without branches per row, so that the compiler vectorises it.
        let all = thread.iter().fold(true, |all, thread| all & (*thread != [u8::MAX; 2]))
            & size.iter().fold(true, |all, size| all & (size.wrapping_sub(1) < 64))
            & (flags.iter().fold(0, |bits, flags| bits | flags) & !Flags::ALL.0 == 0);
        if all { size.len() } else { (0..size.len()).take_while(|row| is(*row)).count() }
    }

    /// The rows; flags and program counter are 0 if the trace does not have them.
    pub(crate) fn columns(&mut self) -> RowColumns<'_> {
        let rows = self.rows.min(BLOCK_ROWS);
        if !self.columns.flags {
            self.flags[..rows].fill(0);
        }
        let (thread, kind) = (&self.thread[..rows], &self.kind[..rows]);
        let (size, flags) = (&self.size[..rows], &self.flags[..rows]);
        let traits = &mut self.traits[..rows];
        for row in 0..rows {
            traits[row] = Traits::new(thread[row], [kind[row], flags[row], size[row]]);
        }
        RowColumns {
            thread,
            kind,
            size,
            flags,
            gap: &self.gap[..if self.columns.gap { rows } else { 0 }],
            pid: &self.pid[..if self.columns.pid { rows } else { 0 }],
            reference: SiteColumns { traits, addr: &self.addr[..rows], pc: &self.pc[..rows] },
        }
    }
}

#[inline(always)]
fn copy<T, R: Copy + Into<Access>>(column: &mut [T], rows: &[R], value: impl Fn(Access) -> T) {
    // Eight at a time: otherwise loop overhead costs as much as the copy.
    let (eights, rest) = rows.as_chunks::<8>();
    let (to_eights, to_rest) = column.as_chunks_mut::<8>();
    for (to, eight) in to_eights.iter_mut().zip(eights) {
        for (to, row) in to.iter_mut().zip(eight) {
            *to = value((*row).into());
        }
    }
    let rest = if to_eights.len() < eights.len() { &eights[to_eights.len()] } else { rest };
    for (to, row) in to_rest.iter_mut().zip(rest) {
        *to = value((*row).into());
    }
}

#[derive(Clone, Copy)]
pub(crate) struct RowColumns<'a> {
    pub(crate) thread: &'a [[u8; 2]],
    pub(crate) kind: &'a [u8],
    pub(crate) size: &'a [u8],
    pub(crate) flags: &'a [u8],
    /// Gaps; none if the trace has none.
    pub(crate) gap: &'a [[u8; 4]],
    /// Process identities; none if the trace has none.
    pub(crate) pid: &'a [[u8; 4]],
    pub(crate) reference: SiteColumns<'a>,
}

#[derive(Clone, Copy)]
pub(crate) struct SiteColumns<'a> {
    pub(super) traits: &'a [Traits],
    pub(crate) addr: &'a [[u8; 8]],
    /// Program counters; 0 where there is none.
    pub(crate) pc: &'a [[u8; 8]],
}

impl<'a> SiteColumns<'a> {
    #[inline(always)]
    pub(super) fn part(&self, rows: Range<usize>) -> SiteColumns<'a> {
        SiteColumns {
            traits: &self.traits[rows.clone()],
            addr: &self.addr[rows.clone()],
            pc: &self.pc[rows],
        }
    }
}

pub(crate) fn any<const N: usize>(column: &[[u8; N]]) -> bool {
    // Without a branch per number, so that the compiler vectorises it.
    column.as_flattened().iter().fold(0, |bits, byte| bits | byte) != 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traits_hold_every_property_of_a_row() {
        for (kind, size, flags) in [(0, 1, 15), (1, 64, 0), (2, 33, 5), (3, 8, 2)] {
            let kind = AccessKind::from_code(kind).unwrap();
            let traits = Traits::new(65_534u16.to_le_bytes(), [kind.code(), flags, size]);
            assert_eq!(traits.thread(), 65_534);
            assert_eq!(traits.of_site().parts(), [kind.code(), size, flags]);
            assert_eq!(traits.of_site().of_thread(65_534), traits);
            assert_ne!(traits, Traits::NONE);
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

    #[test]
    fn rows_are_added_in_any_portions_up_to_the_first_invalid_one() {
        let columns = Columns { pc: true, gap: true, ..Columns::default() };
        let row = |number: u16| Access {
            pc: u64::from(number) << 9,
            gap: 7,
            ..Access::new(number, AccessKind::Atomic, u64::from(number) << 33, 8)
        };
        let rows: Vec<Access> = (0..900).map(row).collect();
        let mut one_by_one = RowBlock::new(columns, usize::MAX);
        assert!(rows.iter().all(|access| !one_by_one.push(access)));
        let mut filled = RowBlock::new(columns, usize::MAX);
        assert_eq!((filled.fill(&rows[..1]), filled.fill(&rows[1..300])), (1, 299));
        assert_eq!(filled.fill(&rows[300..]), 600);
        let [a, b] = [&mut one_by_one, &mut filled].map(|block| block.columns());
        assert_eq!((a.thread, a.kind, a.size, a.flags), (b.thread, b.kind, b.size, b.flags));
        assert_eq!((a.gap, a.pid), (b.gap, b.pid));
        let [a, b] = [a.reference, b.reference];
        assert_eq!((a.addr, a.pc, a.traits), (b.addr, b.pc, b.traits));
        for bad in [
            Access { size: 0, ..rows[5] },
            Access { size: 65, ..rows[5] },
            Access { thread: u16::MAX, ..rows[5] },
            Access { flags: Flags(16), ..rows[5] },
        ] {
            assert!(!is_storable(bad.thread, bad.size, bad.flags.0));
            assert_eq!((filled.fill(&[rows[0], bad, rows[1]]), filled.len()), (1, 901));
            filled.rows -= 1;
        }
        assert_eq!((filled.fill(&rows), filled.is_full()), (BLOCK_ROWS - 900, true));
    }
}
