//! The files that the program mapped: symbols of static data, and source lines of code.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use homenode_symbol::Symbolizer;
use homenode_trace::{AddressRange, RangeKind, SourceLine};

const PAGE: u64 = 4096;

/// A mapped part of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
struct MappedSegment {
    start: u64,
    end: u64,
    path: PathBuf,
}

/// The mappings seen so far, from `/proc/PID/maps`.
#[derive(Debug, Default)]
pub struct Objects {
    segments: Vec<MappedSegment>,
    /// Lowest address of each file, where its first segment lies.
    bases: BTreeMap<PathBuf, u64>,
}

/// Names of program counters and static data from the mapped files.
#[derive(Debug, Default)]
pub struct Resolved {
    /// Source lines, ordered by program counter.
    pub lines: Vec<SourceLine>,
    /// Static data.
    pub ranges: Vec<AddressRange>,
    /// The address range of each file.
    pub images: Vec<AddressRange>,
    /// Debug files that were found and rejected, with reasons.
    pub refused: Vec<String>,
}

impl Objects {
    /// Adds the mappings of a copy of `/proc/PID/maps`. Earlier mappings stay known.
    pub fn add_maps(&mut self, text: &str) {
        for line in text.lines() {
            let Some(segment) = parse(line) else { continue };
            let base = self.bases.entry(segment.path.clone()).or_insert(segment.start);
            *base = (*base).min(segment.start);
            if !self.segments.contains(&segment) {
                self.segments.push(segment);
            }
        }
    }

    /// Whether the address is in a file known so far.
    #[must_use]
    pub fn contains(&self, addr: u64) -> bool {
        self.segment(addr).is_some()
    }

    fn segment(&self, addr: u64) -> Option<&MappedSegment> {
        self.segments.iter().find(|s| s.start <= addr && addr < s.end)
    }

    /// Source lines of program counters, and the static data of the files they lie in.
    ///
    /// Where a file has no symbol, or cannot be read or understood, the file's own name in brackets
    /// stands for the function, with the function's address in the file if that is known, as it is
    /// for a stripped library.
    #[must_use]
    pub fn resolve(&self, pcs: &[u64]) -> Resolved {
        let mut by_file: BTreeMap<&PathBuf, Vec<u64>> = BTreeMap::new();
        for &pc in pcs {
            if let Some(segment) = self.segment(pc) {
                by_file.entry(&segment.path).or_default().push(pc);
            }
        }
        let mut resolved = Resolved::default();
        for (path, pcs) in by_file {
            let opened = Symbolizer::open(path);
            let moved = opened.as_ref().map_or(0, |symbolizer| self.displacement(path, symbolizer));
            for pc in pcs {
                let at = pc.wrapping_sub(moved);
                let known = opened.as_ref().ok().and_then(|s| s.line(at));
                let start = || opened.as_ref().ok().and_then(|s| s.function_start(at));
                resolved.lines.push(known.map_or_else(
                    || in_file(pc, path, start()),
                    |line| SourceLine {
                        pc,
                        function: line.function,
                        file: line.file,
                        line: line.line,
                    },
                ));
            }
            let Ok(symbolizer) = opened else { continue };
            resolved.images.push(image(path, &symbolizer, moved));
            resolved.refused.extend(symbolizer.refused().iter().map(ToString::to_string));
            resolved.ranges.extend(symbolizer.data_symbols().into_iter().map(|symbol| {
                AddressRange {
                    start: symbol.addr.wrapping_add(moved),
                    size: symbol.size,
                    kind: RangeKind::Static,
                    name: symbol.name,
                    site: 0,
                    thread: 0,
                }
            }));
        }
        resolved.lines.sort_by_key(|line| line.pc);
        resolved
    }

    /// Address in memory less address in the file.
    fn displacement(&self, path: &PathBuf, symbolizer: &Symbolizer) -> u64 {
        if !symbolizer.is_pie() {
            return 0;
        }
        let base = self.bases.get(path).copied().unwrap_or(0);
        base.wrapping_sub(symbolizer.first_load_address() / PAGE * PAGE)
    }
}

/// The address range of a loaded file, in whole pages.
fn image(path: &Path, symbolizer: &Symbolizer, moved: u64) -> AddressRange {
    let start = symbolizer.first_load_address() / PAGE * PAGE;
    let end = symbolizer.load_end().div_ceil(PAGE).saturating_mul(PAGE);
    AddressRange {
        start: start.wrapping_add(moved),
        size: end.saturating_sub(start),
        kind: RangeKind::Mapping,
        name: path.to_string_lossy().into_owned(),
        site: 0,
        thread: 0,
    }
}

/// The location of a program counter without a symbol: the file, and the function's address in it.
fn in_file(pc: u64, path: &Path, start: Option<u64>) -> SourceLine {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let function = start.map_or_else(|| format!("[{name}]"), |at| format!("[{name}+{at:#x}]"));
    SourceLine { pc, function, file: String::new(), line: 0 }
}

/// One line of `/proc/PID/maps`, if it maps a file.
fn parse(line: &str) -> Option<MappedSegment> {
    let (addresses, rest) = line.split_once(' ')?;
    let (start, end) = addresses.split_once('-')?;
    let path = rest.find('/').map(|at| &rest[at..])?;
    if path.starts_with("/memfd:") {
        return None;
    }
    Some(MappedSegment {
        start: u64::from_str_radix(start, 16).ok()?,
        end: u64::from_str_radix(end, 16).ok()?,
        path: PathBuf::from(path.strip_suffix(" (deleted)").unwrap_or(path)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: &str = "\
555555554000-555555555000 r--p 00000000 fe:00 123   /tmp/a program
555555555000-555555556000 r-xp 00001000 fe:00 123   /tmp/a program
7ffff7d00000-7ffff7d28000 rw-p 00000000 00:00 0
7ffff7d90000-7ffff7db8000 rw-s 00000000 00:01 5     /memfd:homenode (deleted)
7ffffffde000-7ffffffff000 rw-p 00000000 00:00 0     [stack]
";

    #[test]
    fn files_are_found_in_the_mappings() {
        let mut objects = Objects::default();
        objects.add_maps(MAPS);
        objects.add_maps(MAPS);
        assert_eq!(objects.segments.len(), 2);
        assert_eq!(objects.bases[&PathBuf::from("/tmp/a program")], 0x5555_5555_4000);
        assert!(objects.contains(0x5555_5555_5fff));
        assert!(!objects.contains(0x7fff_f7d0_0000));
    }

    #[test]
    fn code_without_symbols_is_named_after_its_file() {
        let mut objects = Objects::default();
        objects.add_maps("1000-3000 r-xp 0 0:0 1   /no/such/libfast.so.1\n");
        let Resolved { lines, ranges, refused, .. } = objects.resolve(&[0x1234, 0x5000]);
        assert_eq!((lines.len(), ranges.len(), refused.len()), (1, 0, 0));
        assert_eq!((lines[0].pc, lines[0].function.as_str()), (0x1234, "[libfast.so.1]"));
    }

    #[test]
    fn nonsense_is_passed_over() {
        let mut objects = Objects::default();
        objects.add_maps("zz-1 r--p /x\n\n-\n1-2\n");
        assert!(objects.segments.is_empty());
    }
}
