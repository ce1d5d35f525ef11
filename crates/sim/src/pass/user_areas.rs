//! Traces in which the user pages among the private areas of processes are flagged.

use homenode_trace::{Batch, ChunkOutline, Columns, Metadata, TraceError, UserPages};
use homenode_transform::realign::AddressMap;
use rayon::prelude::*;

use super::source::TraceSource;
use crate::error::SimResult;

/// A trace in which kernel references to private areas are flagged
/// [`homenode_base::Flags::USER_AREA`] if the process also references the page in user mode, at any
/// time, because privacy is a property of the page. Without process numbers nothing is flagged, as
/// there is no kernel that works for several processes.
pub(crate) struct WithUserAreas<'a> {
    trace: &'a dyn TraceSource,
    pages: UserPages,
}

impl<'a> WithUserAreas<'a> {
    /// `by_process` if the addresses are virtual.
    pub(crate) fn of(
        pool: &rayon::ThreadPool,
        trace: &'a dyn TraceSource,
        by_process: bool,
    ) -> SimResult<Self> {
        let Columns { pid, flags, .. } = trace.columns();
        let mut pages = UserPages::new(by_process);
        if pid && flags {
            let pages_of = |index| -> Result<UserPages, TraceError> {
                let (mut batch, mut pages) = (Batch::default(), UserPages::new(by_process));
                if by_process {
                    trace.read_all(index, &mut batch)?;
                } else {
                    trace.read(index, &mut batch)?;
                }
                pages.add(&batch);
                Ok(pages)
            };
            let all: Vec<Result<UserPages, TraceError>> =
                pool.install(|| (0..trace.pieces()).into_par_iter().map(pages_of).collect());
            for found in all {
                pages.extend(found?);
            }
        }
        Ok(Self { trace, pages })
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
        self.pages.flag(batch);
        Ok(())
    }

    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.trace.read_all(index, batch)?;
        self.pages.flag(batch);
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
