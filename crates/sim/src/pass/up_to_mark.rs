//! The part of a trace before a mark of the program.

use homenode_trace::{Batch, ChunkOutline, Columns, EventKind, Metadata, TraceError};
use homenode_transform::realign::AddressMap;

use super::source::TraceSource;
use crate::error::{SimResult, config_error};

/// Marks that a message names.
const NAMED_MAX: usize = 8;

/// A trace up to the first mark with a text: what was recorded later is not there. Each process
/// ends with the last reference that it made before the mark, so every simulated machine does the
/// same work.
pub(crate) struct UpToMark<'a> {
    trace: &'a dyn TraceSource,
    /// The last piece, with its rows and events before the mark.
    last: usize,
    rows: usize,
    events: usize,
    /// References and instruction fetches before the mark.
    all_rows: u64,
}

impl<'a> UpToMark<'a> {
    /// Finds the mark.
    ///
    /// # Errors
    /// When the trace has no such mark, with those it has.
    pub(crate) fn find(trace: &'a dyn TraceSource, mark: &str) -> SimResult<Self> {
        let (mut all_rows, mut others) = (0, Vec::new());
        for last in 0..trace.pieces() {
            let outline = trace.outline(last)?;
            for (events, (rows, event)) in outline.events.iter().enumerate() {
                let EventKind::Marker { text } = &event.what else { continue };
                if text == mark {
                    let all_rows = all_rows + u64::from(*rows);
                    let rows = usize::try_from(*rows).unwrap_or(usize::MAX);
                    return Ok(Self { trace, last, rows, events, all_rows });
                }
                if !others.contains(text) {
                    others.push(text.clone());
                }
            }
            all_rows += u64::try_from(outline.turns.rows()).unwrap_or(0);
        }
        others.truncate(NAMED_MAX);
        let there = if others.is_empty() { "none".to_owned() } else { others.join(", ") };
        Err(config_error(format!(
            "--measure-until: the trace has no mark {mark:?}; it has {there}. Programs make marks \
             with homenode_marker()"
        )))
    }
}

impl TraceSource for UpToMark<'_> {
    fn name(&self) -> String {
        self.trace.name()
    }

    fn checksum(&self) -> String {
        self.trace.checksum()
    }

    fn pieces(&self) -> usize {
        self.last + 1
    }

    fn columns(&self) -> Columns {
        self.trace.columns()
    }

    fn read(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.trace.read(index, batch)?;
        if index == self.last {
            batch.truncate(self.rows);
        }
        Ok(())
    }

    fn read_all(&self, index: usize, batch: &mut Batch) -> Result<(), TraceError> {
        self.trace.read_all(index, batch)?;
        if index == self.last {
            batch.truncate(self.rows);
            batch.events.truncate(self.events);
        }
        Ok(())
    }

    fn outline(&self, index: usize) -> Result<ChunkOutline, TraceError> {
        let mut outline = self.trace.outline(index)?;
        if index == self.last {
            outline.turns.truncate(self.rows);
            outline.events.truncate(self.events);
        }
        Ok(outline)
    }

    /// Of a trace with instruction fetches, these too: the pieces do not tell them apart.
    fn references(&self) -> u64 {
        self.trace.references().min(self.all_rows)
    }

    fn threads(&self) -> u16 {
        self.trace.threads()
    }

    fn serial_start(&self) -> Option<u64> {
        self.trace.serial_start().filter(|&serial| serial < self.references())
    }

    fn address_map(&self) -> AddressMap {
        self.trace.address_map()
    }

    fn metadata(&self) -> &Metadata {
        self.trace.metadata()
    }
}
