//! The sink of a recording: adds flags and names, and passes items to the trace writer.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use rustc_hash::FxHashSet;

use homenode_base::{Access, Flags};
use homenode_trace::{
    AddressRange, Event, EventKind, Metadata, RangeKind, SourceLine, Summary, TraceError,
    TraceWriter,
};

use crate::area::SharedArea;
use crate::child;
use crate::decode::access;
use crate::encoding::{EncodingThread, PORTION};
use crate::guest::Guest;
use crate::heap::Heap;
use crate::item::{DecodedItem, FlaggedRecord, ItemSink};
use crate::locals::name_locals;
use crate::objects::Objects;
use crate::private::PrivateRanges;
use crate::races::RaceDetector;
use crate::sites::{Layouts, RawStack, Sites};

const PC_CACHE_ENTRIES: usize = 1 << 12;
/// Limit of the lines with races that the metadata name.
const RACES_NAMED: usize = 3;

/// A complete trace.
pub struct FinishedTrace {
    /// The writer's summary.
    pub summary: Summary,
    /// What determined the order, as in the metadata.
    pub order: String,
    /// Source lines with data races, as `sor.c:88`.
    pub races: Vec<String>,
    /// What accesses memory and has no hook.
    pub not_hooked: Vec<String>,
}

/// The program counters of the recording, and the files that contain them.
struct SeenCode {
    objects: Objects,
    /// Process whose mappings resolve program counters; 0 before it is known.
    pid: u32,
    pcs: FxHashSet<u64>,
    /// A direct-mapped cache of program counters, which saves most look-ups in `pcs`.
    recent: Box<[u64; PC_CACHE_ENTRIES]>,
}

impl SeenCode {
    #[inline(always)]
    fn note(&mut self, pc: u64) {
        let slot = cache_slot(pc);
        if self.recent[slot] != pc {
            self.recent[slot] = pc;
            self.note_new(pc);
        }
    }

    #[cold]
    #[inline(never)]
    fn note_new(&mut self, pc: u64) {
        if self.pcs.insert(pc) && pc != 0 && !self.objects.contains(pc) {
            // The file has been loaded since the mappings were last read.
            self.objects.add_maps(&child::maps(self.pid));
        }
    }
}

/// Takes items in order, and collects what the metadata needs.
pub struct RecordingSink {
    /// `None` once the writer has failed, or if no trace is written.
    writer: Option<EncodingThread>,
    error: Option<TraceError>,
    private: PrivateRanges,
    heap: Heap,
    code: SeenCode,
    /// Names of a whole system; `None` if program counters are those of one program.
    guest: Option<Guest>,
    ranges: Vec<AddressRange>,
    threads: u16,
    references: u64,
    forks: u32,
    /// Program counters of accesses that raced with others.
    races: Vec<u64>,
}

impl RecordingSink {
    /// A sink in front of a writer.
    #[must_use]
    pub fn new(mut writer: TraceWriter) -> Self {
        writer.keep_partial();
        Self { writer: Some(EncodingThread::new(writer)), ..Self::unwritten() }
    }

    /// A sink for a whole system, which reports its own names.
    #[must_use]
    pub fn for_system(writer: TraceWriter) -> Self {
        Self { guest: Some(Guest::default()), ..Self::new(writer) }
    }

    /// Whether a whole system is recorded.
    #[must_use]
    pub const fn is_of_system(&self) -> bool {
        self.guest.is_some()
    }

    /// Sets the process, and reads its mappings.
    pub fn meet(&mut self, pid: u32) {
        self.code.pid = pid;
        self.code.objects.add_maps(&child::maps(pid));
    }

    /// References taken so far.
    #[must_use]
    pub const fn references(&self) -> u64 {
        self.references
    }

    /// Children that the program has made.
    #[must_use]
    pub const fn forks(&self) -> u32 {
        self.forks
    }

    /// Largest number of threads at one time.
    #[must_use]
    pub const fn threads(&self) -> u16 {
        self.threads
    }

    /// Notes the races among the items taken; `None` if they were not looked for.
    pub fn note_races(&mut self, found: Option<&RaceDetector>) {
        self.races =
            found.map(|found| found.places().keys().copied().collect()).unwrap_or_default();
    }

    /// A sink that writes no trace.
    #[must_use]
    pub fn unwritten() -> Self {
        Self {
            writer: None,
            error: None,
            private: PrivateRanges::default(),
            heap: Heap::default(),
            code: SeenCode {
                objects: Objects::default(),
                pid: 0,
                pcs: FxHashSet::default(),
                recent: Box::new([0; PC_CACHE_ENTRIES]),
            },
            guest: None,
            ranges: Vec::new(),
            threads: 0,
            references: 0,
            forks: 0,
            races: Vec::new(),
        }
    }

    /// The reference with all its flags; `None` if a trace cannot hold it.
    #[inline(always)]
    pub fn flagged(&mut self, mut access: Access) -> Option<Access> {
        if !is_sound(&access) {
            return None;
        }
        if let Some(guest) = &mut self.guest {
            guest.touch(access.addr);
        } else {
            if self.private.classify(access.thread, access.addr, access.size) {
                access.flags = access.flags.union(Flags::PRIVATE);
            }
            self.code.note(access.pc);
        }
        Some(access)
    }

    /// Writes a reference that has all its flags.
    #[inline(always)]
    pub fn write(&mut self, access: Access) {
        if let Some(writer) = &mut self.writer {
            self.references += 1;
            if !writer.push(access) {
                self.fail();
            }
        }
    }

    fn event(&mut self, thread: u16, what: EventKind) {
        if let EventKind::Alloc { site, .. } = what {
            self.code.note(site);
        }
        self.forks += u32::from(matches!(what, EventKind::Fork { .. }));
        if let Some(writer) = &mut self.writer
            && !writer.event(Event { thread, what })
        {
            self.fail();
        }
    }

    fn map(&mut self, thread: u16, what: EventKind, stack: u32) {
        if let EventKind::Map { addr, size, object, .. } = &what {
            self.name(*addr, addr.saturating_add(*size), RangeKind::Mapping, thread);
            if let Some(last) = self.ranges.last_mut() {
                last.name.clone_from(object);
                // The stack's position, which becomes its number when all stacks are named.
                last.stack = stack;
            }
        }
        self.event(thread, what);
    }

    fn start(&mut self, thread: u16, stack: Range<u64>, tls: Range<u64>) {
        self.threads = self.threads.max(thread.saturating_add(1));
        self.name(stack.start, stack.end, RangeKind::Stack, thread);
        self.name(tls.start, tls.end, RangeKind::ThreadLocal, thread);
        self.private.claim(stack.start, stack.end, thread);
        self.private.claim(tls.start, tls.end, thread);
        let (stack_low, stack_high) = (stack.start, stack.end);
        self.event(thread, EventKind::ThreadStart { stack_low, stack_high });
    }

    /// Notes a range; one that is known already, as of a thread with reused memory, only once.
    fn name(&mut self, low: u64, high: u64, kind: RangeKind, thread: u16) {
        let size = high.saturating_sub(low);
        let same = |r: &AddressRange| {
            r.start == low && r.size == size && r.kind == kind && r.thread == thread
        };
        if size == 0 {
            return;
        }
        if let Some(at) = self.ranges.iter().position(same) {
            let known = self.ranges.remove(at);
            self.ranges.push(known);
            return;
        }
        self.ranges.push(AddressRange {
            start: low,
            size,
            kind,
            name: String::new(),
            thread,
            ..AddressRange::default()
        });
    }

    /// The writer has failed.
    #[cold]
    fn fail(&mut self) {
        let ended = self.writer.take().map(EncodingThread::finish);
        self.error = ended.and_then(Result::err);
    }

    /// Completes the trace.
    ///
    /// # Errors
    /// The error of the writer, now or before.
    pub fn finish(
        mut self,
        mut metadata: Metadata,
        area: &SharedArea,
    ) -> Result<FinishedTrace, TraceError> {
        let writer = match (self.writer.take(), self.error.take()) {
            (Some(writer), None) => writer.finish()?,
            (_, Some(error)) => return Err(error),
            (None, None) => unreachable!("without an error there is a writer"),
        };
        let mut pcs: Vec<u64> = self.code.pcs.into_iter().filter(|pc| *pc != 0).collect();
        pcs.sort_unstable();
        self.heap.close();
        let mut sizes = self.heap.stacks();
        for range in self.ranges.iter().filter(|range| range.stack != 0) {
            sizes.entry(range.stack).or_default().push(range.size);
        }
        let stacks: BTreeMap<u32, RawStack> = sizes
            .into_iter()
            .map(|(at, sizes)| (at, RawStack { pcs: area.stack(at), sizes }))
            .collect();
        let frames = area.frames();
        let starters = frames.iter().flatten().map(|&[pc, ..]| pc);
        let callers = stacks.values().flat_map(|stack| &stack.pcs).copied().chain(starters);
        // Only libraries may access the program's data.
        let program = self.code.objects.lowest().filter(|_| metadata.method == "cc");
        let opened: Vec<u64> = pcs.iter().copied().chain(program).collect();
        let files = self.code.objects.open(&opened, callers);
        let mut layouts = Layouts::default();
        let sites = Sites::new(&stacks, &files, &mut layouts);
        let resolved = files.resolve(&pcs, &mut layouts);
        metadata.lines = resolved.lines;
        metadata.ranges = self.ranges;
        for range in &mut metadata.ranges {
            range.stack = sites.number(range.stack);
        }
        metadata.ranges.extend(self.heap.arenas());
        name_images(&mut metadata.ranges, resolved.images);
        metadata.ranges.extend(resolved.ranges);
        metadata.ranges.extend(self.heap.into_ranges(&sites));
        metadata.locals = name_locals(&frames, &files, &self.private, &mut layouts);
        let notes = files.refused().into_iter().map(|why| format!("not used: {why}"));
        metadata.provenance.extend(notes);
        let not_hooked = if metadata.method == "cc" { resolved.unhooked } else { Vec::new() };
        metadata.provenance.extend(not_hooked.iter().map(|what| format!("not hooked: {what}")));
        metadata.layouts = layouts.into_list();
        (metadata.stacks, metadata.frames) = sites.into_lists();
        if let Some(guest) = self.guest {
            metadata.processes = guest.processes();
            metadata.processor_areas = guest.processor_areas();
            let (lines, ranges) = guest.resolve();
            metadata.lines = lines;
            metadata.ranges.extend(ranges);
        }
        metadata.ranges.sort_by_key(|r| (r.start, r.size, r.kind as u8, r.thread));
        let races = places(&self.races, &metadata.lines);
        if !races.is_empty() {
            metadata.order = racing(&metadata.order, &races);
        }
        let order = metadata.order.clone();
        Ok(FinishedTrace { summary: writer.finish(metadata)?, order, races, not_hooked })
    }
}

/// After the writer has failed, items are dropped, and the program continues.
impl ItemSink for RecordingSink {
    #[inline(always)]
    fn access(&mut self, access: Access) {
        if let Some(access) = self.flagged(access) {
            self.write(access);
        }
    }

    #[inline(never)]
    fn accesses(&mut self, records: &[[u64; 2]]) {
        let Self { writer: Some(writer), guest: None, private, code, .. } = self else {
            return records.iter().for_each(|&words| self.access(access(words)));
        };
        // The runtime writes no unsound records, but the program may corrupt its ring.
        if !records.iter().all(|&words| is_sound(&access(words))) {
            let sound = records.iter().map(|&words| access(words)).filter(is_sound);
            return sound.for_each(|access| self.access(access));
        }
        for portion in records.chunks(PORTION) {
            let goes_on = writer.push_all(portion.iter().map(|&words| {
                let Access { thread, addr, size, pc, .. } = access(words);
                code.note(pc);
                FlaggedRecord::new(words, private.classify(thread, addr, size))
            }));
            self.references += portion.len() as u64;
            if !goes_on {
                return self.fail();
            }
        }
    }

    #[inline(never)]
    fn other(&mut self, item: DecodedItem) {
        match item {
            DecodedItem::Event(thread, what) => self.event(thread, what),
            DecodedItem::Alloc(made) => {
                self.heap.allocate(made);
                let (addr, size, site) = (made.addr, made.size, made.site);
                self.event(made.thread, EventKind::Alloc { addr, size, site });
            }
            DecodedItem::Map { thread, what, stack } => self.map(thread, what, stack),
            DecodedItem::Start { thread, stack, tls } => self.start(thread, stack, tls),
            DecodedItem::Private { thread, region } => {
                self.private.claim(region.start, region.end, thread);
            }
            DecodedItem::System(thread, fact) => {
                if let Some(text) = self.guest.as_mut().and_then(|guest| guest.take(fact)) {
                    self.event(thread, EventKind::Marker { text });
                }
            }
            DecodedItem::Access(_)
            | DecodedItem::Stamp(_)
            | DecodedItem::Fact(..)
            | DecodedItem::Clock { .. }
            | DecodedItem::Sync(..) => {}
        }
    }
}

/// Whether a trace can hold the reference.
#[inline(always)]
const fn is_sound(access: &Access) -> bool {
    access.size.wrapping_sub(1) < 64
}

/// Source lines of program counters as text, each once, sorted.
fn places(pcs: &[u64], lines: &[SourceLine]) -> Vec<String> {
    let place = |pc: &u64| {
        let known = lines.binary_search_by_key(pc, |line| line.pc).ok().map(|at| &lines[at]);
        match known {
            Some(line) if line.line != 0 => {
                let file = line.file.rsplit('/').next().unwrap_or_default();
                format!("{file}:{}", line.line)
            }
            Some(line) if !line.function.is_empty() => line.function.clone(),
            _ => format!("{pc:#x}"),
        }
    };
    pcs.iter().map(place).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The description of the order of a program with races, which is one of several.
fn racing(order: &str, races: &[String]) -> String {
    let kind: Vec<&str> = order.split(' ').take(2).collect();
    let named = races[..races.len().min(RACES_NAMED)].join(", ");
    let more = match races.len().saturating_sub(RACES_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more lines"),
    };
    format!("{}, one of several: races at {named}{more}", kind.join(" "))
}

/// Names the memory of files that no mapping event names: the anonymous pages of a library's
/// `.bss`, and files that were mapped before the first event.
fn name_images(ranges: &mut Vec<AddressRange>, images: Vec<AddressRange>) {
    for image in images {
        let inside = |range: &AddressRange| {
            range.kind == RangeKind::Mapping
                && range.start >= image.start
                && range.start.saturating_add(range.size) <= image.start.saturating_add(image.size)
        };
        let mut mapped = false;
        for range in ranges.iter_mut().filter(|range| inside(range)) {
            mapped = true;
            if range.name.is_empty() {
                range.name.clone_from(&image.name);
            }
        }
        if !mapped && image.size > 0 {
            ranges.push(image);
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the low bits are what is wanted")]
const fn cache_slot(pc: u64) -> usize {
    pc as usize % PC_CACHE_ENTRIES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_order_with_races_names_their_lines() {
        let line = |pc, line, file: &str| SourceLine {
            pc,
            function: "sweep".to_owned(),
            file: file.to_owned(),
            line,
        };
        let lines = [line(16, 88, "/src/sor.c"), line(32, 90, "sor.c"), line(48, 0, "")];
        let found = places(&[16, 32, 33, 48], &lines);
        assert_eq!(found, ["0x21", "sor.c:88", "sor.c:90", "sweep"]);
        let order = racing("logical quantum=7 repeatable", &found);
        assert_eq!(
            order,
            "logical quantum=7, one of several: races at 0x21, sor.c:88, sor.c:90 and 1 more lines"
        );
        assert!(racing("logical quantum=7 repeatable", &found[1..2]).ends_with("at sor.c:88"));
    }

    #[test]
    fn memory_of_files_is_named() {
        let range = |start, size, name: &str| AddressRange {
            start,
            size,
            kind: RangeKind::Mapping,
            name: name.to_owned(),
            thread: 1,
            ..AddressRange::default()
        };
        let mut ranges = vec![range(0x1000, 0x1000, "lib"), range(0x2000, 0x1000, "")];
        ranges.push(range(0x9000, 0x1000, ""));
        let images = vec![range(0x1000, 0x2000, "lib"), range(0x4000, 0x1000, "program")];
        name_images(&mut ranges, [images, vec![range(0x8000, 0, "nothing")]].concat());
        let names: Vec<_> = ranges.iter().map(|r| (r.start, r.name.as_str())).collect();
        let expected = [(0x1000, "lib"), (0x2000, "lib"), (0x9000, ""), (0x4000, "program")];
        assert_eq!(names, expected);
    }
}
