//! Chooses the compression of each stream.
//!
//! Searching for repetition in a stream without any takes longer than all other work on its rows.
//! The search itself shows whether there is any: by its savings over byte-wise entropy coding. The
//! nature of a stream rarely changes within a trace, so a finding is reused for some chunks as long
//! as samples agree. Levels above the default always search.

use zstd::bulk::Compressor;
use zstd::zstd_safe::{CParameter, ParamSwitch, Strategy, compress_bound};

pub(crate) const DEFAULT_LEVEL: i32 = 3;
/// Streams of a chunk have numbers below this.
const STREAMS: usize = 12;
/// Shorter streams are always searched.
const LONG_BYTES: usize = 1 << 16;
/// Chunks for which a finding is reused.
const CHUNKS: u8 = 7;
/// Samples, evenly spread, and the bytes of each.
const SAMPLES: usize = 4;
const SAMPLE_BYTES: usize = 1 << 12;
/// Target length that disables the search of zstd: the largest block of its format.
const NO_SEARCH: u32 = 1 << 17;

/// The nature of a stream.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Nature {
    Unknown,
    Repetitive,
    /// Not repetitive, but some bytes are more frequent than others.
    Uneven,
    Random,
}

/// Compressors, and the finding on each stream.
pub(super) struct Packing {
    search: Option<Compressor<'static>>,
    /// Entropy coding only, without a search.
    bytewise: Option<Compressor<'static>>,
    found: [(Nature, u8); STREAMS],
    scratch: Vec<u8>,
}

impl Packing {
    pub(super) fn new(level: i32) -> Self {
        // Creating a compressor fails only for lack of memory; streams are then stored
        // uncompressed.
        let bytewise = if level <= DEFAULT_LEVEL { bytewise().ok() } else { None };
        Self {
            search: Compressor::new(level).ok(),
            bytewise,
            found: [(Nature::Unknown, 0); STREAMS],
            scratch: Vec::new(),
        }
    }

    pub(super) fn pack(&mut self, id: u8, raw: &[u8], packed: &mut Vec<u8>) {
        let place = usize::from(id) % STREAMS;
        if raw.len() < LONG_BYTES || self.bytewise.is_none() {
            return compress(&mut self.search, raw, packed);
        }
        let (nature, chunks) = self.found[place];
        let holds = chunks > 0 && (nature == Nature::Repetitive || !self.samples_repeat(raw));
        if !holds {
            self.found[place] = (self.examine(raw, packed), CHUNKS);
            return;
        }
        self.found[place].1 -= 1;
        match nature {
            Nature::Random => {}
            Nature::Uneven => compress(&mut self.bytewise, raw, packed),
            Nature::Repetitive | Nature::Unknown => compress(&mut self.search, raw, packed),
        }
    }

    fn examine(&mut self, raw: &[u8], packed: &mut Vec<u8>) -> Nature {
        compress(&mut self.search, raw, packed);
        if packed.len() < raw.len() / 8 {
            // Byte-wise coding takes at least one bit per byte.
            return Nature::Repetitive;
        }
        self.scratch.clear();
        compress(&mut self.bytewise, raw, &mut self.scratch);
        let bytewise = self.scratch.len();
        if packed.len() < bytewise - bytewise / 32 {
            return Nature::Repetitive;
        }
        if bytewise < packed.len() {
            std::mem::swap(packed, &mut self.scratch);
        }
        if packed.len() < raw.len() - raw.len() / 8 { Nature::Uneven } else { Nature::Random }
    }

    /// Whether a search finds repetition in a part of a stream.
    fn samples_repeat(&mut self, raw: &[u8]) -> bool {
        (0..SAMPLES).any(|sample| {
            let start = (2 * sample + 1) * raw.len() / (2 * SAMPLES) - SAMPLE_BYTES / 2;
            let part = &raw[start..start + SAMPLE_BYTES];
            let [searched, bytewise] = [&mut self.search, &mut self.bytewise].map(|by| {
                self.scratch.clear();
                compress(by, part, &mut self.scratch);
                self.scratch.len()
            });
            searched < bytewise - bytewise / 8
        })
    }
}

fn bytewise() -> std::io::Result<Compressor<'static>> {
    let mut zstd = Compressor::new(1)?;
    zstd.set_parameter(CParameter::Strategy(Strategy::ZSTD_fast))?;
    zstd.set_parameter(CParameter::TargetLength(NO_SEARCH))?;
    zstd.set_parameter(CParameter::LiteralCompressionMode(ParamSwitch::Enable))?;
    Ok(zstd)
}

/// Appends the compressed stream to `packed`, or nothing if that is not possible.
fn compress(zstd: &mut Option<Compressor<'static>>, raw: &[u8], packed: &mut Vec<u8>) {
    if let Some(zstd) = zstd {
        packed.reserve(compress_bound(raw.len()));
        if zstd.compress_to_buffer(raw, packed).is_err() {
            packed.clear();
        }
    }
}

#[cfg(test)]
mod tests {
    use homenode_base::Rng;

    use super::*;

    fn noise(below: u64) -> Vec<u8> {
        let mut rng = Rng::new(below);
        (0..2 * LONG_BYTES).map(|_| rng.below(below).to_le_bytes()[0]).collect()
    }

    fn cycle(below: u64) -> Vec<u8> {
        noise(below)[..1000].iter().copied().cycle().take(2 * LONG_BYTES).collect()
    }

    fn packed_bytes(packing: &mut Packing, raw: &[u8]) -> usize {
        let mut packed = Vec::new();
        packing.pack(3, raw, &mut packed);
        let back = if packed.is_empty() {
            raw.to_vec()
        } else {
            zstd::bulk::decompress(&packed, raw.len()).unwrap()
        };
        assert_eq!(back, raw);
        if packed.is_empty() { raw.len() } else { packed.len() }
    }

    #[test]
    fn streams_without_repetition_are_searched_only_now_and_then() {
        for (below, nature) in [(4, Nature::Uneven), (256, Nature::Random)] {
            let (mut packing, raw) = (Packing::new(DEFAULT_LEVEL), noise(below));
            for chunk in 0..20 {
                packed_bytes(&mut packing, &raw);
                let expected = (nature, CHUNKS - chunk % (CHUNKS + 1));
                assert!(packing.found[3] == expected, "chunk {chunk} of {below}");
            }
        }
    }

    #[test]
    fn a_stream_that_becomes_repetitive_is_searched_at_once() {
        for below in [4, 256] {
            let mut packing = Packing::new(DEFAULT_LEVEL);
            let before = packed_bytes(&mut packing, &noise(below));
            assert!(before >= LONG_BYTES / 2);
            assert!(packed_bytes(&mut packing, &cycle(below)) < 2000);
            assert!(packing.found[3].0 == Nature::Repetitive);
        }
    }

    #[test]
    fn more_effort_always_searches() {
        let mut packing = Packing::new(DEFAULT_LEVEL + 1);
        packed_bytes(&mut packing, &noise(4));
        assert!(packing.found[3].0 == Nature::Unknown);
    }
}
