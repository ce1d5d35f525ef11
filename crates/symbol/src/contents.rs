//! The contents of one section of a file, decompressed only as far as they are read.

use std::ops::Range;
use std::sync::Arc;

use flate2::{Decompress, FlushDecompress, Status};
use object::read::CompressionFormat;
use object::{Object, ObjectSection};

use crate::{SymbolError, elf};

/// Fewest bytes that are decompressed at once, except at the end.
const STEP: usize = 1 << 16;

/// Contents of a section; the file's bytes are passed to every call.
pub(crate) struct Contents {
    name: &'static str,
    /// Where the section begins in the file.
    offset: u64,
    stored: Stored,
}

/// How a file stores a section.
enum Stored {
    Plain(Range<usize>),
    Zlib(Inflated),
    /// A format without a decoder that could stop on the way.
    Decoded(Arc<[u8]>),
}

/// What has been decompressed of a section.
struct Inflated {
    /// Where the compressed bytes are in the file.
    packed: Range<usize>,
    inflater: Decompress,
    bytes: Vec<u8>,
    /// Bytes of the whole section.
    size: usize,
}

impl Contents {
    /// Finds a section; one that is absent is empty.
    ///
    /// # Errors
    /// When the section is not within the file, or claims an implausible size.
    pub(crate) fn of(file: &object::File<'_>, name: &'static str) -> Result<Self, SymbolError> {
        let Some(section) = file.section_by_name(name) else {
            return Ok(Self { name, offset: 0, stored: Stored::Plain(0..0) });
        };
        let offset = section.file_range().map_or(0, |(offset, _)| offset);
        let packed = elf::packed(&section, name)?;
        let place = section
            .compressed_file_range()
            .map_err(|error| damaged(name, offset, error.to_string()))?;
        let bounds = usize::try_from(place.offset).ok().and_then(|start| {
            let length = usize::try_from(place.compressed_size).ok()?;
            Some(start..start.checked_add(length)?)
        });
        let range = bounds.ok_or_else(|| damaged(name, offset, "is not in the file".to_owned()))?;
        let stored = match packed.format {
            CompressionFormat::None => Stored::Plain(range),
            CompressionFormat::Zlib => Stored::Zlib(Inflated {
                packed: range,
                inflater: Decompress::new(true),
                bytes: Vec::new(),
                size: usize::try_from(packed.uncompressed_size).unwrap_or(0),
            }),
            CompressionFormat::Unknown | CompressionFormat::Zstandard | _ => {
                Stored::Decoded(elf::section(file, name)?)
            }
        };
        Ok(Self { name, offset, stored })
    }

    /// Where the section begins in the file.
    pub(crate) fn offset(&self) -> u64 {
        self.offset
    }

    /// Bytes of the section.
    pub(crate) fn len(&self) -> usize {
        match &self.stored {
            Stored::Plain(range) => range.len(),
            Stored::Zlib(inflated) => inflated.size,
            Stored::Decoded(bytes) => bytes.len(),
        }
    }

    /// A part of the section.
    ///
    /// Cost: decompresses what is before the part's end and was not yet.
    ///
    /// # Errors
    /// When the section is shorter or damaged before that end.
    pub(crate) fn read<'a>(
        &'a mut self,
        file: &'a [u8],
        part: Range<usize>,
    ) -> Result<&'a [u8], SymbolError> {
        let (name, offset, size) = (self.name, self.offset, self.len());
        let bytes = match &mut self.stored {
            Stored::Plain(range) => file.get(range.clone()).unwrap_or_default(),
            Stored::Zlib(inflated) => {
                let fill = inflated.fill(file, part.end.min(size));
                fill.map_err(|reason| damaged(name, offset, reason))?;
                &inflated.bytes
            }
            Stored::Decoded(bytes) => bytes,
        };
        let needed = part.end.max(part.start);
        bytes
            .get(part)
            .ok_or_else(|| damaged(name, offset, format!("has {size} bytes, {needed} are needed")))
    }
}

/// The beginning of a section, as far as it was read, for users that share it.
pub(crate) struct SharedStart {
    pub contents: Contents,
    known: Arc<[u8]>,
}

impl SharedStart {
    pub(crate) fn of(contents: Contents) -> Self {
        Self { contents, known: Arc::new([]) }
    }

    /// The section up to `end`, or further.
    ///
    /// # Errors
    /// When the section is shorter or damaged before that end.
    pub(crate) fn up_to(&mut self, file: &[u8], end: usize) -> Result<Arc<[u8]>, SymbolError> {
        if self.known.len() < end {
            // Each growth copies: at least twofold, all of them together copy little.
            let goal = self.known.len().saturating_mul(2).min(self.contents.len()).max(end);
            let ahead = self.contents.read(file, 0..goal).map(Arc::from);
            self.known = ahead.or_else(|_| self.contents.read(file, 0..end).map(Arc::from))?;
        }
        Ok(Arc::clone(&self.known))
    }
}

impl Inflated {
    /// Decompresses up to `end`, which is within the section.
    fn fill(&mut self, file: &[u8], end: usize) -> Result<(), String> {
        let input = file.get(self.packed.clone()).unwrap_or_default();
        let goal = end.next_multiple_of(STEP).min(self.size);
        while self.bytes.len() < end {
            let (taken, known) = (self.inflater.total_in(), self.bytes.len());
            let rest = usize::try_from(taken).ok().and_then(|taken| input.get(taken..));
            self.bytes.resize(goal, 0);
            let output = &mut self.bytes[known..];
            let made = self.inflater.total_out();
            let status =
                self.inflater.decompress(rest.unwrap_or_default(), output, FlushDecompress::None);
            let added = usize::try_from(self.inflater.total_out() - made).unwrap_or(0);
            self.bytes.truncate(known + added);
            let ended = status.map_err(|error| error.to_string())? == Status::StreamEnd;
            let stuck = added == 0 && self.inflater.total_in() == taken;
            if self.bytes.len() < end && (stuck || ended) {
                return Err(format!("the compressed data ends after {} bytes", self.bytes.len()));
            }
        }
        Ok(())
    }
}

fn damaged(name: &str, offset: u64, reason: String) -> SymbolError {
    SymbolError::Malformed { offset, part: format!("section {name}"), reason }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    /// 300,000 bytes that compress to about a third, behind 5 other bytes, and both.
    fn compressed() -> (Vec<u8>, Vec<u8>) {
        let mut state = 1_u32;
        let next = |_| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8 & 0x1f
        };
        let plain: Vec<u8> = (0..300_000).map(next).collect();
        let mut writer =
            flate2::write::ZlibEncoder::new(vec![9; 5], flate2::Compression::default());
        writer.write_all(&plain).unwrap();
        (plain, writer.finish().unwrap())
    }

    fn contents(file: &[u8], size: usize) -> Contents {
        let inflater = Decompress::new(true);
        let packed = 5..file.len();
        let stored = Stored::Zlib(Inflated { packed, inflater, bytes: Vec::new(), size });
        Contents { name: ".debug_info", offset: 5, stored }
    }

    #[test]
    fn parts_are_read_in_any_order_and_no_further() {
        let (plain, file) = compressed();
        let mut parts = contents(&file, plain.len());
        for part in [0..1, 70_000..70_001, 10..65_536, 3..3, 299_999..300_000, 0..300_000] {
            assert_eq!(parts.read(&file, part.clone()).unwrap(), &plain[part]);
        }
        let error = parts.read(&file, 299_999..300_001).unwrap_err().to_string();
        assert!(error.contains("has 300000 bytes, 300001 are needed"), "{error}");
        assert!(parts.read(&file, usize::MAX..usize::MAX).is_err());
    }

    #[test]
    fn a_shared_start_grows_as_far_as_it_can() {
        let (plain, file) = compressed();
        let mut start = SharedStart::of(contents(&file, plain.len()));
        for (end, known) in [(0, 0), (100, 100), (50, 100), (150, 200), (160_000, 160_000)] {
            assert_eq!(*start.up_to(&file, end).unwrap(), plain[..known], "up to {end}");
        }
        assert_eq!(*start.up_to(&file, 160_001).unwrap(), plain[..]);
        assert!(start.up_to(&file, 300_001).is_err());

        let mut longer = SharedStart::of(contents(&file, 2 * plain.len()));
        assert_eq!(*longer.up_to(&file, 200_000).unwrap(), plain[..200_000]);
        assert_eq!(*longer.up_to(&file, 250_000).unwrap(), plain[..250_000], "damaged behind");
        assert!(longer.up_to(&file, 300_001).is_err());
    }

    #[test]
    fn damage_counts_once_it_is_reached() {
        let (plain, file) = compressed();
        let cut = &file[..file.len() / 2];
        let mut parts = contents(cut, plain.len());
        assert_eq!(parts.read(cut, 100..200).unwrap(), &plain[100..200]);
        let error = parts.read(cut, 299_000..299_001).unwrap_err().to_string();
        assert!(error.contains("at offset 5: section .debug_info: the compressed data"), "{error}");
        assert_eq!(parts.read(cut, 100..200).unwrap(), &plain[100..200]);

        let mut longer = contents(&file, plain.len() + 1);
        assert_eq!(longer.read(&file, 299_999..300_000).unwrap(), &plain[299_999..]);
        let error = longer.read(&file, 300_000..300_001).unwrap_err().to_string();
        assert!(error.contains("ends after 300000 bytes"), "{error}");

        let mut changed = file.clone();
        changed[5] ^= 0xff;
        assert!(contents(&changed, plain.len()).read(&changed, 0..1).is_err(), "no zlib header");
    }
}
