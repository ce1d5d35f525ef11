//! The trace store: file format, reader, writer, repair, importers and exporters.

mod model;

pub use model::{AddressRange, Batch, Event, EventKind, Metadata, RangeKind, SourceLine};
