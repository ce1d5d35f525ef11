//! The files that the program has mapped: symbols of static data, and source lines of code.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use homenode_symbol::{
    AllocatedType, AllocationFrame, InlineFrame, LocalVariable, StackFrame, Symbolizer,
};
use homenode_trace::{AddressRange, RangeKind, SourceLine};

use crate::sites::Layouts;
use crate::source_owner::{SourceOwner, source_owner};
use crate::unhooked;

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
    /// Lowest address of each file, that of its first segment.
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
    /// Instructions that access memory and have no hook, as `12 in macros of the assembler (a.c)`.
    pub unhooked: Vec<String>,
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

    /// An address in the file that is mapped lowest, which is the program if it was started without
    /// an emulator.
    #[must_use]
    pub fn lowest(&self) -> Option<u64> {
        self.segments.iter().map(|segment| segment.start).min()
    }

    /// Opens the files that contain these program counters, or `callers`: those on the stacks of
    /// allocations and of threads that start others.
    ///
    /// A library of the system that is only on stacks is opened without its separate debug
    /// information, which may be large: names of functions are enough.
    #[must_use]
    pub fn open(&self, pcs: &[u64], callers: impl Iterator<Item = u64>) -> OpenedFiles<'_> {
        let mut files: BTreeMap<&Path, OpenedFile> = BTreeMap::new();
        let all = pcs.iter().map(|&pc| (pc, true)).chain(callers.map(|pc| (pc, false)));
        for (pc, accesses) in all {
            let Some(path) = self.segment(pc).map(|segment| segment.path.as_path()) else {
                continue;
            };
            let whole = accesses || !is_library(path);
            files.entry(path).or_insert_with(|| {
                let opened =
                    if whole { Symbolizer::open(path) } else { Symbolizer::open_alone(path) };
                let symbolizer = opened.ok();
                let moved = symbolizer.as_ref().map_or(0, |s| self.displacement(path, s));
                OpenedFile { symbolizer, moved, whole }
            });
        }
        OpenedFiles { objects: self, files }
    }

    /// Address in memory less address in the file.
    fn displacement(&self, path: &Path, symbolizer: &Symbolizer) -> u64 {
        if !symbolizer.is_pie() {
            return 0;
        }
        let base = self.bases.get(path).copied().unwrap_or(0);
        base.wrapping_sub(symbolizer.first_load_address() / PAGE * PAGE)
    }
}

struct OpenedFile {
    symbolizer: Option<Symbolizer>,
    moved: u64,
    /// Whether its data and variables are named, too.
    whole: bool,
}

/// Mapped files, opened to look up addresses.
pub struct OpenedFiles<'a> {
    objects: &'a Objects,
    files: BTreeMap<&'a Path, OpenedFile>,
}

impl OpenedFiles<'_> {
    /// Source lines of program counters, and the static data of all files, with its types.
    ///
    /// Where a file has no symbol, or cannot be read, the function is the file's name in brackets,
    /// with the function's address in the file if that is known, as for a stripped library.
    #[must_use]
    pub fn resolve(&self, pcs: &[u64], layouts: &mut Layouts) -> Resolved {
        let mut resolved = Resolved::default();
        for &pc in pcs {
            let Some((path, file, at)) = self.file_of(pc) else { continue };
            let known = file.symbolizer.as_ref().and_then(|s| own_line(s.frames(at)));
            resolved.lines.push(known.map_or_else(
                || SourceLine {
                    pc,
                    function: in_file(path, file, at),
                    file: String::new(),
                    line: 0,
                },
                |line| SourceLine { pc, function: line.function, file: line.file, line: line.line },
            ));
        }
        let symbolizers = self.files.values().filter_map(|file| file.symbolizer.as_ref());
        resolved.unhooked = unhooked::described(symbolizers.flat_map(Symbolizer::unhooked));
        for (path, file) in &self.files {
            let Some(symbolizer) = &file.symbolizer else { continue };
            resolved.images.push(image(path, symbolizer, file.moved));
            if !file.whole {
                continue;
            }
            // Types are for layout advice, and the system's libraries are not changed.
            let types = if is_library(path) { Vec::new() } else { symbolizer.static_types() };
            resolved.ranges.extend(symbolizer.data_symbols().into_iter().map(|symbol| {
                let first = types.partition_point(|(addr, _)| *addr < symbol.addr);
                let of_it = types[first..].iter().take_while(|(addr, _)| *addr == symbol.addr);
                // Several names of one object may have different types.
                let mut fitting = of_it.filter(|(_, data)| symbol.size % data.size == 0);
                let data = fitting.next().filter(|_| fitting.next().is_none());
                AddressRange {
                    start: symbol.addr.wrapping_add(file.moved),
                    size: symbol.size,
                    kind: RangeKind::Static,
                    // The symbol of a Fortran common block `shared` is `shared_`.
                    name: data
                        .filter(|(_, data)| symbol.name.strip_suffix('_') == Some(&data.name))
                        .map_or(symbol.name, |(_, data)| data.name.clone()),
                    layout: data.map_or(0, |(_, data)| layouts.number(data)),
                    ..AddressRange::default()
                }
            }));
        }
        resolved.lines.sort_by_key(|line| line.pc);
        resolved.ranges = without_copies(resolved.ranges, &resolved.images);
        resolved
    }

    /// Why debug files, or parts of them, were not used so far.
    #[must_use]
    pub fn refused(&self) -> Vec<String> {
        let symbolizers = self.files.values().filter_map(|file| file.symbolizer.as_ref());
        symbolizers.flat_map(Symbolizer::refused).map(ToString::to_string).collect()
    }

    /// The functions of a program counter, innermost first, and whether the file is a library of
    /// the system.
    #[must_use]
    pub fn frames(&self, pc: u64) -> (Vec<AllocationFrame>, bool) {
        let Some((path, file, at)) = self.file_of(pc) else { return (Vec::new(), false) };
        let known = file.symbolizer.as_ref().map(|s| s.allocation_frames(at));
        let frames = known.filter(|frames| !frames.is_empty()).unwrap_or_else(|| {
            let function = in_file(path, file, at);
            let place = InlineFrame { function, file: String::new(), line: 0 };
            vec![AllocationFrame { place, passes_on: false, element: None }]
        });
        (frames, is_library(path))
    }

    /// The types that a function allocates at `pc`; `number` is its index in [`Self::frames`].
    #[must_use]
    pub fn allocated_type(&self, pc: u64, number: usize, text: &str) -> Vec<AllocatedType> {
        let types = |(_, file, at): (&Path, &OpenedFile, u64)| {
            Some(file.symbolizer.as_ref()?.allocated_type(at, number, text))
        };
        self.file_of(pc).and_then(types).unwrap_or_default()
    }

    /// The variables in the frame of the function of a program counter.
    #[must_use]
    pub fn locals(&self, pc: u64, frame: StackFrame) -> Vec<LocalVariable> {
        let own = self.file_of(pc).filter(|(_, file, _)| file.whole);
        let known = own.and_then(|(_, file, at)| Some(file.symbolizer.as_ref()?.locals(at, frame)));
        known.unwrap_or_default()
    }

    /// The file of an address, and the address in it.
    fn file_of(&self, pc: u64) -> Option<(&Path, &OpenedFile, u64)> {
        let path = self.objects.segment(pc)?.path.as_path();
        let file = self.files.get(path)?;
        Some((path, file, pc.wrapping_sub(file.moved)))
    }
}

/// Leaves out objects of libraries that the program has under the same name: those are copy
/// relocations, and only the program's copy is used.
fn without_copies(ranges: Vec<AddressRange>, images: &[AddressRange]) -> Vec<AddressRange> {
    let of_library = |range: &AddressRange| {
        let holds =
            |i: &&AddressRange| (i.start..i.start.saturating_add(i.size)).contains(&range.start);
        images.iter().find(holds).is_some_and(|image| is_library(Path::new(&image.name)))
    };
    let (libraries, own): (Vec<_>, Vec<_>) = ranges.into_iter().partition(of_library);
    let names: BTreeSet<String> = own.iter().map(|range| range.name.clone()).collect();
    let others = libraries.into_iter().filter(|range| !names.contains(&range.name));
    own.into_iter().chain(others).collect()
}

/// The line of an access: of inlined functions the innermost of the program's own, else of its
/// packages, so that the accesses of a container are at the line that uses it.
fn own_line(frames: Vec<InlineFrame>) -> Option<InlineFrame> {
    let sourced = frames.iter().filter(|frame| !frame.file.is_empty());
    let nearest =
        sourced.map(|frame| source_owner(&frame.file)).min().filter(|o| *o < SourceOwner::System);
    let own =
        frames.iter().position(|f| !f.file.is_empty() && Some(source_owner(&f.file)) == nearest);
    frames.into_iter().nth(own.unwrap_or(0))
}

/// Whether a file is in a library folder of the system.
fn is_library(path: &Path) -> bool {
    const FOLDERS: &[&str] = &["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"];
    FOLDERS.iter().any(|folder| path.starts_with(folder))
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
        ..AddressRange::default()
    }
}

/// A name for a function without symbol: the file, and the function's address in it.
fn in_file(path: &Path, file: &OpenedFile, at: u64) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let start = file.symbolizer.as_ref().and_then(|symbolizer| symbolizer.function_start(at));
    start.map_or_else(|| format!("[{name}]"), |start| format!("[{name}+{start:#x}]"))
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
        let files = objects.open(&[0x1234, 0x5000], std::iter::empty());
        let Resolved { lines, ranges, .. } =
            files.resolve(&[0x1234, 0x5000], &mut Layouts::default());
        assert_eq!((lines.len(), ranges.len(), files.refused().len()), (1, 0, 0));
        assert_eq!((lines[0].pc, lines[0].function.as_str()), (0x1234, "[libfast.so.1]"));
    }

    #[test]
    fn the_programs_copy_of_a_librarys_object_is_kept() {
        let range = |start, size, name: &str| AddressRange {
            start,
            size,
            name: name.to_owned(),
            ..AddressRange::default()
        };
        let images =
            [range(0x1000, 0x1000, "/tmp/program"), range(0x8000, 0x1000, "/usr/lib/libc.so")];
        let ranges =
            vec![range(0x8100, 8, "stdout"), range(0x8200, 8, "stdin"), range(0x1100, 8, "stdout")];
        let left: Vec<u64> = without_copies(ranges, &images).iter().map(|r| r.start).collect();
        assert_eq!(left, [0x1100, 0x8200]);
    }

    #[test]
    fn malformed_lines_are_skipped() {
        let mut objects = Objects::default();
        objects.add_maps("zz-1 r--p /x\n\n-\n1-2\n");
        assert!(objects.segments.is_empty());
    }
}
