//! Private areas of processes that are user pages. A trace does not distinguish them from the
//! kernel's private areas: it flags a kernel reference as private, and not the kind of its page.

use homenode_base::Flags;
use homenode_trace::{Batch, ChunkOutline, Columns, Metadata, TraceError};
use homenode_transform::realign::AddressMap;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use super::source::TraceSource;
use crate::error::SimError;

/// Bytes of a page, as a shift: whole-system recordings are of machines with 4 KiB pages.
const PAGE_SHIFT: u32 = 12;
const KERNEL_PRIVATE: u8 = Flags::PRIVATE.0 | Flags::KERNEL.0;

/// A trace in which kernel references to private areas are flagged [`Flags::USER_AREA`] if the
/// process also references the page in user mode, at any time, because privacy is a property of the
/// page. Without process numbers nothing is flagged, as there is no kernel that works for several
/// processes.
pub(crate) struct WithUserAreas<'a> {
    trace: &'a dyn TraceSource,
    /// Whether the addresses are virtual, so that each process has pages of its own.
    by_process: bool,
    /// Pages, each with its process, which is 0 for physical addresses.
    pages: FxHashSet<(u32, u64)>,
}

impl<'a> WithUserAreas<'a> {
    pub(crate) fn of(
        pool: &rayon::ThreadPool,
        trace: &'a dyn TraceSource,
        by_process: bool,
    ) -> Result<Self, SimError> {
        let Columns { pid, flags, .. } = trace.columns();
        let mut found = Self { trace, by_process, pages: FxHashSet::default() };
        if pid && flags {
            let piece = |index| found.pages_of(index);
            let all: Vec<Result<FxHashSet<_>, TraceError>> =
                pool.install(|| (0..trace.pieces()).into_par_iter().map(piece).collect());
            for pages in all {
                found.pages.extend(pages?);
            }
        }
        Ok(found)
    }

    /// Private pages that are referenced in user mode in a piece of the trace.
    fn pages_of(&self, index: usize) -> Result<FxHashSet<(u32, u64)>, TraceError> {
        let mut batch = Batch::default();
        self.fill(index, &mut batch)?;
        let mut pages = FxHashSet::default();
        let mut last = None;
        for (row, flags) in batch.flags.iter().enumerate() {
            if flags & KERNEL_PRIVATE == Flags::PRIVATE.0 {
                let page = self.page(&batch, row);
                if last.replace(page) != Some(page) {
                    pages.insert(page);
                }
            }
        }
        Ok(pages)
    }

    fn fill(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        if self.by_process {
            self.trace.read_all(index, batch)
        } else {
            self.trace.read(index, batch)
        }
    }

    fn page(&self, batch: &Batch, row: usize) -> (u32, u64) {
        let process = batch.pid.get(row).copied().filter(|_| self.by_process);
        (process.unwrap_or(0), batch.addr[row] >> PAGE_SHIFT)
    }

    fn flag(&self, batch: &mut Batch) {
        if self.pages.is_empty() {
            return;
        }
        for row in 0..batch.flags.len() {
            let flags = batch.flags[row];
            if flags & KERNEL_PRIVATE == KERNEL_PRIVATE
                && self.pages.contains(&self.page(batch, row))
            {
                batch.flags[row] = flags | Flags::USER_AREA.0;
            }
        }
    }
}

impl TraceSource for WithUserAreas<'_> {
    fn name(&self) -> String {
        self.trace.name()
    }

    fn checksum(&self) -> String {
        self.trace.checksum()
    }

    fn pieces(&self) -> usize {
        self.trace.pieces()
    }

    fn columns(&self) -> Columns {
        self.trace.columns()
    }

    fn read(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.trace.read(index, batch)?;
        self.flag(batch);
        Ok(())
    }

    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.trace.read_all(index, batch)?;
        self.flag(batch);
        Ok(())
    }

    fn outline(&self, index: usize) -> Result<ChunkOutline, TraceError> {
        self.trace.outline(index)
    }

    fn references(&self) -> u64 {
        self.trace.references()
    }

    fn threads(&self) -> u16 {
        self.trace.threads()
    }

    fn serial_start(&self) -> Option<u64> {
        self.trace.serial_start()
    }

    fn address_map(&self) -> AddressMap {
        self.trace.address_map()
    }

    fn metadata(&self) -> &Metadata {
        self.trace.metadata()
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use homenode_base::{Access, AccessKind};
    use homenode_trace::{TraceReader, TraceWriter, WriterOptions};

    use super::*;
    use crate::pass::thread_pool;

    /// A trace of references by processes, each with its address and flags, one per piece.
    fn trace(references: &[(u32, u64, Flags)], columns: Columns) -> TraceReader {
        let options = WriterOptions { columns, level: 1, chunk_rows: 1 };
        let mut bytes = Cursor::new(Vec::new());
        let mut writer = TraceWriter::new(&mut bytes, "t.hnt", options).unwrap();
        for &(pid, addr, flags) in references {
            let access = Access::new(0, AccessKind::Read, addr, 4);
            writer.push(&Access { pid, flags, ..access }).unwrap();
        }
        writer.finish(Metadata::default()).unwrap();
        TraceReader::from_bytes(bytes.into_inner(), "t.hnt").unwrap()
    }

    fn flagged(trace: &TraceReader, by_process: bool) -> Vec<bool> {
        let pool = thread_pool(Some(2)).unwrap();
        let flagged = WithUserAreas::of(&pool, trace, by_process).unwrap();
        let mut batch = Batch::default();
        let is_flagged = |index| {
            flagged.read_all(index, &mut batch).unwrap();
            batch.flags.iter().any(|&flags| Flags(flags).contains(Flags::USER_AREA))
        };
        (0..flagged.pieces()).map(is_flagged).collect()
    }

    #[test]
    fn kernel_references_to_user_pages_are_in_a_user_area() {
        let kernel = Flags(KERNEL_PRIVATE);
        let references = [
            (1, 0x8010, kernel), // before the process refers to its page itself
            (1, 0x8ffc, Flags::PRIVATE),
            (2, 0x8020, kernel), // the same page of memory, but not of the process's addresses
            (1, 0x9000, kernel), // a page that only the kernel references
            (1, 0xa000, Flags::default()),
            (1, 0xa000, kernel), // the page is shared
            (1, 0x8000, Flags::KERNEL),
        ];
        let columns = Columns { flags: true, pid: true, ..Columns::default() };
        let whole = trace(&references, columns);
        let expected = [true, false, true, false, false, false, false];
        assert_eq!(flagged(&whole, false), expected);
        let expected = [true, false, false, false, false, false, false];
        assert_eq!(flagged(&whole, true), expected);
        let of_one = trace(&references, Columns { pid: false, ..columns });
        assert_eq!(flagged(&of_one, false), [false; 7], "processes are unknown");
    }
}
