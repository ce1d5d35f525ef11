//! The interpretation of the rows of a trace.

use std::ops::Range;

use homenode_base::{AccessKind, BlockSize, Flags, ReferenceFilter, ReferenceRole};
use homenode_trace::Batch;

use crate::frames::{MAY_READ, MAY_WRITE};

/// In [`RowMeaning::need`]: the row is left out.
pub(super) const LEFT_OUT: u8 = 4;
/// In [`RowMeaning::need`], this or a higher bit: the row may touch several blocks, or is checked.
pub(super) const STRADDLES_SHIFT: u32 = 3;

/// The kinds of references that write.
const WRITES: [u8; 2] = [AccessKind::Write.code(), AccessKind::Atomic.code()];

/// Parameters for the interpretation of rows.
#[derive(Clone, Copy, Debug)]
pub struct TraceOrderSetup<'a> {
    /// Processors. Thread i runs on processor i modulo this.
    pub processors: u16,
    /// Size of a block.
    pub block: BlockSize,
    /// Whether instruction fetches go to caches of their own, which are numbered after the others.
    pub instructions: bool,
    /// Addresses of private areas, besides references flagged as private.
    pub private: &'a [Range<u64>],
    /// Which references count, and which of them are to private areas.
    pub filter: ReferenceFilter,
    /// Whether private areas of the kernel are private.
    pub private_kernel: bool,
    /// Whether every reference goes by the table.
    pub check: bool,
}

#[derive(Clone, Copy, Default)]
pub(super) struct FlagMeaning {
    pub(super) private: bool,
    pub(super) kernel: bool,
    pub(super) taken: bool,
}

/// The meaning of the columns of a batch.
pub(super) struct RowMeaning {
    pub(super) shift: u32,
    /// Bytes in a block, less 1.
    pub(super) offset_mask: u64,
    pub(super) processors: u16,
    /// What is added to a processor's number for the cache of its references of each kind.
    pub(super) further: [u16; 256],
    /// The permission that a reference of each kind needs, or `LEFT_OUT`.
    pub(super) need: [u8; 256],
    pub(super) nature: [FlagMeaning; 256],
    /// By the union of the flags of some rows: whether none of the rows is left out.
    takes_all: [bool; 256],
    pub(super) private: Vec<Range<u64>>,
}

impl RowMeaning {
    pub(super) fn of(setup: &TraceOrderSetup<'_>) -> Self {
        let TraceOrderSetup { processors, block, filter, private_kernel, .. } = *setup;
        let mut further = [0; 256];
        let instructions = if setup.instructions { processors } else { 0 };
        further[usize::from(AccessKind::Fetch.code())] = instructions;
        let mut need = [LEFT_OUT; 256];
        // Where reads are checked, every reference has to go by the table.
        let checked = u8::from(setup.check) << STRADDLES_SHIFT;
        for kind in [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch] {
            let permission = if kind.writes() { MAY_WRITE } else { MAY_READ };
            if kind != AccessKind::Fetch || filter.fetches {
                need[usize::from(kind.code())] = checked | u8::try_from(permission).unwrap_or(0);
            }
        }
        let mut nature = [FlagMeaning::default(); 256];
        for (bits, nature) in (0..=u8::MAX).zip(nature.iter_mut()) {
            let role = filter.role(AccessKind::Read, Flags(bits));
            let kernel = Flags(bits).contains(Flags::KERNEL);
            let private = role == ReferenceRole::Private && Flags(bits).is_private(private_kernel);
            let taken = role != ReferenceRole::Excluded;
            *nature = FlagMeaning { private, kernel, taken };
        }
        let mut takes_all = [false; 256];
        for (present, takes_all) in (0..=u8::MAX).zip(takes_all.iter_mut()) {
            *takes_all = (0..=u8::MAX)
                .filter(|bits| bits & !present == 0)
                .all(|bits| nature[usize::from(bits)].taken);
        }
        let mut private = setup.private.to_vec();
        private.sort_by_key(|range| range.start);
        let shift = block.bytes().trailing_zeros();
        let offset_mask = block.bytes() - 1;
        Self { shift, offset_mask, processors, further, need, nature, takes_all, private }
    }

    /// Whether the reference is to a private area, by its flags or its address.
    #[inline]
    pub(super) fn is_private(&self, addr: u64, flags: u8) -> bool {
        let private = self.nature[usize::from(flags)].private;
        private || self.private.iter().any(|range| range.contains(&addr))
    }

    #[inline]
    pub(super) fn nature(&self, batch: &Batch, row: usize) -> FlagMeaning {
        self.nature[usize::from(batch.flags.get(row).copied().unwrap_or(0))]
    }

    /// The union of the flags of some rows.
    fn present(batch: &Batch, rows: Range<usize>) -> u8 {
        batch.flags.get(rows).map_or(0, |flags| flags.iter().fold(0, |all, &bits| all | bits))
    }

    /// Whether the flags of some rows leave none of them out.
    #[inline]
    pub(super) fn takes_all(&self, batch: &Batch, rows: Range<usize>) -> bool {
        self.takes_all[usize::from(Self::present(batch, rows))]
    }

    /// The number of the kernel's references, without those left out.
    pub(super) fn kernel_rows(&self, batch: &Batch, rows: Range<usize>) -> u64 {
        if !Flags(Self::present(batch, rows.clone())).contains(Flags::KERNEL) {
            return 0;
        }
        let counted = |(&flags, &kind): (&u8, &u8)| {
            let FlagMeaning { kernel, taken, .. } = self.nature[usize::from(flags)];
            u64::from(kernel && taken && self.need[usize::from(kind)] & LEFT_OUT == 0)
        };
        batch.flags[rows.clone()].iter().zip(&batch.kind[rows]).map(counted).sum()
    }

    /// The number of writes among a few rows, without those left out.
    #[inline]
    pub(super) fn writes(&self, batch: &Batch, rows: Range<usize>) -> u64 {
        let kinds = &batch.kind[rows.clone()];
        if self.takes_all(batch, rows.clone()) {
            // Sums of bytes, which the host adds many at a time.
            let writes = |part: &[u8]| -> u8 {
                part.iter().map(|kind| u8::from(WRITES.contains(kind))).sum()
            };
            return kinds.chunks(usize::from(u8::MAX)).map(|part| u64::from(writes(part))).sum();
        }
        let taken = |flags: u8| self.nature[usize::from(flags)].taken;
        let columns = batch.flags[rows].iter().zip(kinds);
        columns.filter(|&(&flags, kind)| WRITES.contains(kind) && taken(flags)).count() as u64
    }
}
