//! The trace store: file format, reader, writer, repair.
//!
//! A trace is a totally ordered list of references and events plus metadata ([`Batch`], [`Event`],
//! [`Metadata`]). [`TraceWriter`] stores it as an `.hnt` file, [`TraceReader`] reads it in
//! parallel, [`compact`] recompresses it, [`repair`] recovers the intact chunks of a trace whose
//! writer was killed or whose bytes are damaged.
//!
//! ```
//! use homenode_base::{Access, AccessKind};
//! use homenode_trace::{Batch, Metadata, TraceReader, TraceWriter, Want, WriterOptions};
//! let mut file = Vec::new();
//! let mut writer = TraceWriter::new(&mut file, "memory", WriterOptions::default())?;
//! writer.push(&Access::new(0, AccessKind::Write, 0x1000, 4))?;
//! writer.push(&Access::new(1, AccessKind::Read, 0x1000, 4))?;
//! writer.finish(Metadata::default())?;
//! let trace = TraceReader::from_bytes(file, "memory")?;
//! let mut batch = Batch::default();
//! trace.read_chunk(0, Want::ALL, &mut batch)?;
//! assert_eq!((trace.references(), batch.addr[1]), (2, 0x1000));
//! # Ok::<(), homenode_trace::TraceError>(())
//! ```
//!
//! Invariant: for any input bytes, reading returns a value or a [`TraceError`] with a location, and
//! allocates no more than the size of the file or the row limit of a chunk justifies.
#![forbid(unsafe_code)]

mod areas;
mod bytes;
mod checksum;
mod chunk;
mod codec;
mod compact;
mod dense_index;
mod error;
pub mod events;
mod format;
mod info;
mod live;
mod memory;
mod model;
mod names;
mod owned;
mod partial;
mod progress;
mod reader;
mod repair;
mod serial;
mod source;
mod turns;
mod user_pages;
mod words;
mod writer;

pub use areas::ProcessorAreas;
pub use chunk::ChunkInfo;
pub use compact::{COMPACT_LEVEL, CompactReport, compact};
pub use dense_index::DenseIndex;
pub use error::TraceError;
pub use info::{Info, info};
pub use live::{LiveBatch, LiveFact, LiveMark, LiveProgram, LiveTurn, NO_LIMIT_NS};
pub use memory::available_bytes;
pub use model::{Batch, ChunkOutline, Columns, Event, EventKind, Metadata, Process, Want};
pub use names::{
    AddressRange, AllocationStack, CallFrame, LocalRange, MovedRange, RangeKind, SourceLine,
    TypeField, TypeLayout,
};
pub use owned::{OwnedInterval, owned_intervals};
pub use partial::partial_path;
pub use progress::TraceProgress;
pub use reader::TraceReader;
pub use repair::{LostRange, RepairReport, repair, repair_bytes};
pub use turns::{BatchPart, ThreadTurn, Turns, TurnsWithin};
pub use user_pages::UserPages;
pub use words::WordSize;
pub use writer::{Summary, TraceWriter, WriterOptions};
