//! The container of a chunk's streams.
//!
//! ```text
//! streams  u8 count, then for each: u8 id, u8 method (0 stored, 1 zstd), u32 bytes here, u32
//!          bytes decoded; then their bytes, in the same order
//! ```

use super::packing::Packing;
use crate::bytes::{Cursor, DecodeFault};

/// Uncompressed.
const STORED: u8 = 0;
/// One zstd frame, which a skippable frame may follow.
const ZSTD: u8 = 1;
/// Magic number and length of a skippable frame.
const SKIPPABLE: u32 = 0x184d_2a50;
const SKIPPABLE_HEADER_BYTES: usize = 8;
/// Largest expansion of a stream whose length is not bounded by the number of rows.
const MAX_RATIO: usize = 256;
const ENTRY_BYTES: usize = 10;

/// Streams shorter than this are not compressed.
const LEAST_BYTES: usize = 24;

pub(crate) struct StreamPacker {
    packing: Packing,
    packed: Vec<u8>,
    /// Buffers of successive writers.
    directory: Vec<u8>,
    payload: Vec<u8>,
}

impl StreamPacker {
    pub(crate) fn new(level: i32) -> Self {
        Self {
            packing: Packing::new(level),
            packed: Vec::new(),
            directory: Vec::new(),
            payload: Vec::new(),
        }
    }

    /// Compresses a stream to `packed`, which stays empty if that is not possible.
    fn pack(&mut self, id: u8, raw: &[u8]) {
        self.packed.clear();
        if raw.len() >= LEAST_BYTES {
            self.packing.pack(id, raw, &mut self.packed);
        }
    }
}

/// Lengthens a compressed stream to at least `least` bytes, with zeros that a decoder skips.
fn pad(packed: &mut Vec<u8>, least: usize) {
    if packed.len() >= least {
        return;
    }
    let zeros = least.saturating_sub(packed.len() + SKIPPABLE_HEADER_BYTES);
    let length = u32::try_from(zeros).expect("MAX_ROWS keeps streams below 4 GiB");
    packed.extend(SKIPPABLE.to_le_bytes());
    packed.extend(length.to_le_bytes());
    packed.resize(packed.len() + zeros, 0);
}

pub(crate) struct StreamWriter<'a> {
    packer: &'a mut StreamPacker,
    count: u8,
}

impl<'a> StreamWriter<'a> {
    pub(crate) fn new(packer: &'a mut StreamPacker) -> Self {
        packer.directory.clear();
        packer.payload.clear();
        Self { packer, count: 0 }
    }

    /// Adds a stream unless it is empty: an absent stream is read as an empty one.
    pub(crate) fn put(&mut self, id: u8, raw: &[u8]) {
        self.put_within(id, raw, usize::MAX);
    }

    /// Adds a stream whose length is not bounded by the number of rows; see [`Streams::get_dense`].
    pub(crate) fn put_dense(&mut self, id: u8, raw: &[u8]) {
        self.put_within(id, raw, MAX_RATIO);
    }

    /// Adds a stream that a reader expands at most by the factor `most`.
    fn put_within(&mut self, id: u8, raw: &[u8], most: usize) {
        if raw.is_empty() {
            return;
        }
        self.packer.pack(id, raw);
        let StreamPacker { packed, directory, payload, .. } = &mut *self.packer;
        if !packed.is_empty() {
            pad(packed, raw.len().div_ceil(most));
        }
        let shrank = !packed.is_empty() && packed.len() < raw.len();
        let (method, bytes) = if shrank { (ZSTD, packed.as_slice()) } else { (STORED, raw) };
        directory.extend([id, method]);
        for length in [bytes.len(), raw.len()] {
            let length = u32::try_from(length).expect("MAX_ROWS keeps streams below 4 GiB");
            directory.extend(length.to_le_bytes());
        }
        payload.extend_from_slice(bytes);
        self.count += 1;
    }

    pub(crate) fn finish(self, out: &mut Vec<u8>) {
        out.push(self.count);
        out.extend_from_slice(&self.packer.directory);
        out.extend_from_slice(&self.packer.payload);
    }
}

struct StreamEntry {
    id: u8,
    method: u8,
    start: usize,
    bytes: usize,
    raw: usize,
}

pub(crate) struct Streams<'a> {
    section: &'a [u8],
    entries: Vec<StreamEntry>,
}

impl<'a> Streams<'a> {
    /// Reads the directory and checks that the streams fill the section.
    pub(crate) fn parse(section: &'a [u8]) -> Result<Self, DecodeFault> {
        let mut cursor = Cursor::new(section);
        let count = cursor.u8()?;
        let mut start = 1 + usize::from(count) * ENTRY_BYTES;
        let mut entries = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            let id = cursor.u8()?;
            let method = cursor.u8()?;
            if method > ZSTD {
                return Err(DecodeFault::new(cursor.offset(), "stored (0) or zstd (1)", method));
            }
            let bytes = cursor.u32()? as usize;
            let raw = cursor.u32()? as usize;
            entries.push(StreamEntry { id, method, start, bytes, raw });
            start = start.saturating_add(bytes);
        }
        if start == section.len() {
            Ok(Self { section, entries })
        } else {
            Err(DecodeFault::new(0, format!("streams of {} bytes", section.len()), start))
        }
    }

    fn find(&self, id: u8) -> Option<&StreamEntry> {
        self.entries.iter().find(|entry| entry.id == id)
    }

    /// Decodes stream `id`, which may be at most 256 times as long as in the file.
    pub(crate) fn get_dense(&self, id: u8, out: &mut Vec<u8>) -> Result<(), DecodeFault> {
        let most = self.find(id).map_or(0, |entry| entry.bytes.saturating_mul(MAX_RATIO));
        self.get(id, most, out)
    }

    /// Decodes stream `id`, which may be at most `most` bytes long, into `out`.
    pub(crate) fn get(&self, id: u8, most: usize, out: &mut Vec<u8>) -> Result<(), DecodeFault> {
        out.clear();
        let Some(entry) = self.find(id) else { return Ok(()) };
        if entry.raw > most {
            let expected = format!("stream {id} of at most {most} bytes");
            return Err(DecodeFault::new(entry.start, expected, entry.raw));
        }
        let bytes = &self.section[entry.start..entry.start + entry.bytes];
        if entry.method == STORED {
            out.extend_from_slice(bytes);
        } else {
            out.reserve(entry.raw);
            zstd::bulk::Decompressor::new()
                .and_then(|mut zstd| zstd.decompress_to_buffer(bytes, out))
                .map_err(|e| DecodeFault::new(entry.start, "a zstd frame", e))?;
        }
        if out.len() == entry.raw {
            Ok(())
        } else {
            let expected = format!("stream {id} of {} bytes", entry.raw);
            Err(DecodeFault::new(entry.start, expected, out.len()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn section() -> Vec<u8> {
        let mut packer = StreamPacker::new(3);
        let mut writer = StreamWriter::new(&mut packer);
        writer.put(1, &[7; 1000]);
        writer.put(2, &[]);
        writer.put(3, b"abc");
        writer.put_dense(4, &[0; 1 << 20]);
        let mut section = Vec::new();
        writer.finish(&mut section);
        section
    }

    #[test]
    fn streams_round_trip_and_absent_ones_are_empty() {
        let section = section();
        let streams = Streams::parse(&section).unwrap();
        let mut out = vec![9];
        for (id, expected) in [(1, vec![7; 1000]), (2, vec![]), (3, b"abc".to_vec())] {
            streams.get(id, 1000, &mut out).unwrap();
            assert_eq!(out, expected);
        }
        streams.get_dense(4, &mut out).unwrap();
        assert_eq!(out.len(), 1 << 20);
    }

    #[test]
    fn a_stream_longer_than_its_rows_allow_is_a_fault() {
        let section = section();
        let streams = Streams::parse(&section).unwrap();
        assert!(streams.get(1, 999, &mut Vec::new()).is_err());
    }

    #[test]
    fn a_stream_that_claims_more_than_it_holds_is_a_fault() {
        let mut section = section();
        // The first entry: id, method, four bytes of length here, four bytes of length decoded.
        section[7..11].copy_from_slice(&2000u32.to_le_bytes());
        let streams = Streams::parse(&section).unwrap();
        assert!(streams.get(1, 4000, &mut Vec::new()).is_err());
        section.pop();
        assert!(Streams::parse(&section).is_err());
    }

    /// A megabyte of zeros compresses to some dozen bytes, which are padded to the reader's bound.
    #[test]
    fn dense_streams_stay_within_the_bound_of_their_reader() {
        let bytes = section().len();
        assert!((4096..4200).contains(&bytes), "{bytes}");
    }

    #[test]
    fn padding_shorter_than_its_header_is_longer_than_asked() {
        let mut packed = vec![1; 10];
        pad(&mut packed, 10);
        assert_eq!(packed.len(), 10);
        pad(&mut packed, 13);
        assert_eq!(packed.len(), 18);
    }
}
