//! The codec: encodes the rows of a chunk as bytes.
//!
//! As in other predictive trace compressors, encoder and decoder run the same predictors, and the
//! file contains only which prediction was right. A *site* represents an instruction: program
//! counter, kind, size and flags. Each thread numbers its sites in order of first use. A site keeps
//! its last address, its last two strides, and its offset from the thread's previous reference. A
//! row is a site number and a code: the prediction that gives the address, or an explicit
//! difference. Both are bytes that repeat whenever the program loops. They are stored thread by
//! thread, so zstd finds the repetition and the decoder knows the site of a row without decoding
//! the previous row. The ACE trace saver (Bolosky, appendix A) codes the next sequential word in
//! one bit for the same reason; here it costs a fraction of a bit.
//!
//! In a trace without program counters the encoder chooses the sites (see `made_up` and `counted`).
//! The decoder does not distinguish them from instructions.
//!
//! Streams of a chunk (see `stream` for their container):
//!
//! ```text
//!  0 turns     for each turn of a thread: its place in the thread table as varint, counted
//!              upwards (and around) from the turn before; the first from 0
//!  1 lengths   rows of each turn as varint
//!  2 sites     site number of each row: all rows of the first thread of the table, then of the
//!              second, ...; one byte a row
//!  3 sites     the same in two bytes a row, when a thread has more than 255 sites; not both
//!  4 codes     in the same order, one byte a row: 0 last address + stride, 1 last address + second
//!              stride, 2 thread's previous address + offset, 3 to 8 last address + a difference of
//!              1, 2, 3, 4, 6, 8 bytes from stream 5, 9 to 14 the same from the previous address;
//!              16 more when the site is new to the thread: its number is the next free one, or 0
//!              for a site that will not be remembered
//!  5 differences   zigzag, little-endian, in trace order
//!  6 first uses    for each code of 16 and more, in trace order: varint 0 and a new line of stream
//!              7, or 1 + the number of such a line
//!  7 definitions   program counter as signed difference to the line before, kind, size, flags
//!  8 gaps      in the order of stream 2, one byte a row; 255: four bytes from stream 9
//!  9 long gaps     u32, in the order of stream 2
//! 10 pids      in the order of stream 2: runs of (zigzag varint difference, varint length)
//! 11 events    see `event`
//! ```
//!
//! A site that another thread has used starts with that thread's predictor at that time.

mod coder;
mod counted;
mod decode;
mod encode;
mod event;
mod index;
mod made_up;
mod packing;
mod rows;
mod site;
mod stream;
mod summary;
mod thread;
mod turns;
mod wide;
mod written;

pub(crate) use decode::{ChunkLayout, decode, outline};
pub(crate) use encode::ChunkEncoder;
pub(crate) use packing::DEFAULT_LEVEL;
pub(crate) use rows::{RowBlock, RowColumns, is_storable};
pub(crate) use stream::StreamPacker;
pub(crate) use summary::ChunkSummary;

mod id {
    pub(super) const TURNS: u8 = 0;
    pub(super) const LENGTHS: u8 = 1;
    pub(super) const SITES: u8 = 2;
    pub(super) const WIDE_SITES: u8 = 3;
    pub(super) const CODES: u8 = 4;
    pub(super) const DIFFERENCES: u8 = 5;
    pub(super) const FIRST_USES: u8 = 6;
    pub(super) const DEFINITIONS: u8 = 7;
    pub(super) const GAPS: u8 = 8;
    pub(super) const LONG_GAPS: u8 = 9;
    pub(super) const PIDS: u8 = 10;
    pub(super) const EVENTS: u8 = 11;
}

/// Most sites of all threads together in a chunk: bounds the decoder's memory.
const MAX_SITES: usize = 1 << 18;
