//! Names in a whole system, from the report of the mark program.
//!
//! Program counters of the kernel are looked up in the kernel's own list of symbols, those of
//! programs in the files that their process has mapped. Data have physical addresses: those of the
//! kernel's image and of per-CPU data are known, and for other pages the plugin records the virtual
//! address at which they were used.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use homenode_trace::{AddressRange, Process, ProcessorAreas, RangeKind, SourceLine};

use crate::item::SystemFact;
use crate::report::{ALL_MEMORY, KERNEL_IMAGE, NamedPart, PAGE_BYTES, ProcessRef, SystemReport};

/// Granularity at which references are noted: memory that was never referenced needs no name.
const BLOCK_BYTES: u64 = 64;

/// The uses of a physical page.
#[derive(Debug, Default)]
struct PhysicalFrame {
    uses: Vec<FrameUse>,
    /// Index of the present use.
    now: usize,
}

/// A physical page as a virtual page of a process.
#[derive(Debug)]
struct FrameUse {
    page: u64,
    process: NamedProcess,
    references: u64,
}

/// A process, and the index of the name that it had at the time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct NamedProcess {
    pid: u32,
    name: usize,
}

/// Facts about a whole system, collected during the recording.
#[derive(Debug, Default)]
pub struct Guest {
    report: Vec<u8>,
    /// All names of each process, and the index of the present one.
    names: BTreeMap<u32, (Vec<String>, usize)>,
    /// The process that first ran each program counter.
    code: FxHashMap<u64, NamedProcess>,
    frames: FxHashMap<u64, PhysicalFrame>,
    /// References to each physical page since its present use began.
    references: Vec<u32>,
    /// A bit for each block that was referenced.
    touched: Vec<u64>,
}

impl Guest {
    /// Takes a fact; returns the text of a marker, if the trace gets one for it.
    pub fn take(&mut self, fact: SystemFact) -> Option<String> {
        match fact {
            SystemFact::Process { pid, name } => {
                let text = format!("process {pid} {name}");
                let (names, now) = self.names.entry(pid).or_default();
                *now = names.iter().position(|known| *known == name).unwrap_or(names.len());
                if *now == names.len() {
                    names.push(name);
                }
                return Some(text);
            }
            SystemFact::Report(piece) => self.report.extend(piece),
            SystemFact::Code { pid, pc } => {
                let process = self.process(pid);
                self.code.entry(pc).or_insert(process);
            }
            SystemFact::Page { pid, frame, page } => {
                let process = self.process(pid);
                let references = self.references_to(frame);
                self.frames.entry(frame).or_default().reused_as(page, process, references);
            }
        }
        None
    }

    fn process(&self, pid: u32) -> NamedProcess {
        NamedProcess { pid, name: self.names.get(&pid).map_or(0, |(_, now)| *now) }
    }

    /// Notes a reference to a physical address.
    #[inline]
    pub fn touch(&mut self, addr: u64) {
        let block = addr / BLOCK_BYTES;
        let Ok(at) = usize::try_from(block / 64) else { return };
        // 64 blocks are a page, so `at` also indexes the pages.
        if at >= self.touched.len() {
            self.touched.resize(at + 1, 0);
            self.references.resize(at + 1, 0);
        }
        self.touched[at] |= 1 << (block % 64);
        self.references[at] = self.references[at].saturating_add(1);
    }

    /// The references to a page since the last call.
    fn references_to(&mut self, frame: u64) -> u64 {
        let at = usize::try_from(frame).ok();
        at.and_then(|at| self.references.get_mut(at)).map_or(0, |n| std::mem::take(n).into())
    }

    fn is_touched(&self, start: u64, size: u64) -> bool {
        let blocks = start / BLOCK_BYTES..=(start + size.max(1) - 1) / BLOCK_BYTES;
        blocks.into_iter().any(|block| {
            let word = usize::try_from(block / 64).ok().and_then(|at| self.touched.get(at));
            word.is_some_and(|word| word >> (block % 64) & 1 != 0)
        })
    }

    /// The processes, ordered by number.
    #[must_use]
    pub fn processes(&self) -> Vec<Process> {
        let entries = self.names.iter();
        entries.map(|(&pid, (names, _))| Process { pid, names: names.clone() }).collect()
    }

    /// The kernel's per-processor areas.
    #[must_use]
    pub fn processor_areas(&self) -> Option<ProcessorAreas> {
        SystemReport::parse(&String::from_utf8_lossy(&self.report)).processor_areas()
    }

    /// Functions of program counters, and names of physical addresses.
    #[must_use]
    pub fn resolve(mut self) -> (Vec<SourceLine>, Vec<AddressRange>) {
        let report = std::mem::take(&mut self.report);
        let text = String::from_utf8_lossy(&report);
        let report = SystemReport::parse(&text);
        let mut lines: Vec<SourceLine> = self
            .code
            .iter()
            .map(|(&pc, &process)| SourceLine {
                pc,
                function: report.function(pc, self.named(process)),
                file: String::new(),
                line: 0,
            })
            .collect();
        lines.sort_unstable_by_key(|line| line.pc);
        let mut ranges = self.kernel_data(&report);
        ranges.extend(self.used_pages(&report));
        if report.knows_kernel() {
            ranges.extend(self.other_pages(&ranges));
        }
        ranges.sort_by_key(|range| range.start);
        (lines, ranges)
    }

    fn named(&self, process: NamedProcess) -> ProcessRef<'_> {
        let name = self.names.get(&process.pid).and_then(|(names, _)| names.get(process.name));
        ProcessRef { pid: process.pid, name: name.map_or("", String::as_str) }
    }

    /// The referenced data of the kernel.
    fn kernel_data(&self, report: &SystemReport<'_>) -> Vec<AddressRange> {
        let image = report
            .image_data()
            .map(|symbol| (symbol.addr - KERNEL_IMAGE, symbol.size, symbol.name.to_owned()));
        let own = report.own_data.iter().flat_map(|(&processor, &base)| {
            let start = base.wrapping_sub(ALL_MEMORY);
            report.processor_data().map(move |symbol| {
                let name = format!("{} (processor {processor})", symbol.name);
                (start.wrapping_add(symbol.addr), symbol.size, name)
            })
        });
        image
            .chain(own)
            .filter(|&(start, size, _)| self.is_touched(start, size))
            .map(|(start, size, name)| range(start, size, RangeKind::Static, name))
            .collect()
    }

    /// Referenced pages without another name: the kernel referenced them through its map of all
    /// memory, and no process mapped them.
    fn other_pages(&self, ranges: &[AddressRange]) -> Vec<AddressRange> {
        let frames = |range: &AddressRange| {
            range.start / PAGE_BYTES..=(range.start + range.size - 1) / PAGE_BYTES
        };
        let known: FxHashSet<u64> = ranges.iter().flat_map(frames).collect();
        let mut others: Vec<AddressRange> = Vec::new();
        for (frame, _) in (0..).zip(&self.touched).filter(|(_, blocks)| **blocks != 0) {
            let start = frame * PAGE_BYTES;
            match others.last_mut() {
                _ if known.contains(&frame) => {}
                Some(last) if last.start + last.size == start => last.size += PAGE_BYTES,
                _ => {
                    let name = "memory of the kernel".to_owned();
                    others.push(range(start, PAGE_BYTES, RangeKind::Mapping, name));
                }
            }
        }
        others
    }

    /// Names of pages by their use: of several uses, the one with the most references.
    fn used_pages(&mut self, report: &SystemReport<'_>) -> Vec<AddressRange> {
        let mut ranges: Vec<AddressRange> = Vec::new();
        for (frame, mut used) in std::mem::take(&mut self.frames) {
            used.count(self.references_to(frame));
            let mut things: BTreeMap<Vec<NamedPart>, u64> = BTreeMap::new();
            for &FrameUse { page, process, references } in &used.uses {
                let known = report.page(page.wrapping_mul(PAGE_BYTES), self.named(process));
                *things.entry(known).or_default() += references;
            }
            let most = things.into_iter().max_by_key(|(_, references)| *references);
            for NamedPart { offset, size, is_object, name } in
                most.map(|(known, _)| known).unwrap_or_default()
            {
                let start = frame * PAGE_BYTES + offset;
                let kind = if is_object { RangeKind::Static } else { RangeKind::Mapping };
                if self.is_touched(start, size) {
                    ranges.push(range(start, size, kind, name));
                }
            }
        }
        ranges
    }
}

impl PhysicalFrame {
    fn count(&mut self, references: u64) {
        if let Some(present) = self.uses.get_mut(self.now) {
            present.references += references;
        }
    }

    /// Begins another use, after `references` of the present one.
    fn reused_as(&mut self, page: u64, process: NamedProcess, references: u64) {
        self.count(references);
        let same = |known: &FrameUse| (known.page, known.process) == (page, process);
        self.now = self.uses.iter().position(same).unwrap_or(self.uses.len());
        if self.now == self.uses.len() {
            self.uses.push(FrameUse { page, process, references: 0 });
        }
    }
}

fn range(start: u64, size: u64, kind: RangeKind, name: String) -> AddressRange {
    AddressRange { start, size, kind, name, ..AddressRange::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fact(report: &str) -> Guest {
        let mut guest = Guest::default();
        let (first, second) = report.as_bytes().split_at(report.len() / 2);
        assert_eq!(guest.take(SystemFact::Report(first.to_vec())), None);
        assert_eq!(guest.take(SystemFact::Report(second.to_vec())), None);
        guest
    }

    #[test]
    fn processes_keep_all_their_names_and_code_the_one_of_its_time() {
        let mut guest = fact("P 1 init\nP 2 server\n");
        let named = |name: &str| SystemFact::Process { pid: 2, name: name.to_owned() };
        assert_eq!(guest.take(named("init")), Some("process 2 init".to_owned()));
        guest.take(SystemFact::Code { pid: 2, pc: 0x1000 });
        guest.take(named("server"));
        guest.take(SystemFact::Code { pid: 2, pc: 0x2000 });
        guest.take(named("init"));
        guest.take(SystemFact::Code { pid: 2, pc: 0x3000 });
        guest.take(SystemFact::Code { pid: 2, pc: 0x2000 });
        let names = vec!["init".to_owned(), "server".to_owned()];
        assert_eq!(guest.processes(), [Process { pid: 2, names }]);
        let (lines, ranges) = guest.resolve();
        let functions: Vec<&str> = lines.iter().map(|line| line.function.as_str()).collect();
        assert_eq!(functions, ["[init]", "[server]", "[init]"]);
        assert!(ranges.is_empty());
    }

    #[test]
    fn each_processor_has_an_area_with_room_behind_its_static_data() {
        let text = "K 0 A a\nK 1c40 A __per_cpu_end\nC 0 ffff888000200000\nC 1 ffff888000240000\n";
        let areas = fact(text).processor_areas().unwrap();
        assert_eq!((areas.starts, areas.size), (vec![0x20_0000, 0x24_0000], 0xb000));
    }

    #[test]
    fn touched_data_has_names_and_pages_that_of_their_main_use() {
        let mut guest = fact(
            "K 0 A a\nK 40 A b\nK 80 A __per_cpu_end\nK ffffffff80001000 D c\n\
             K ffffffff80001040 D d\nK ffffffff80001080 D _edata\nC 3 ffff888000002000\n",
        );
        for addr in [0x1008, 0x2044, 0x7000, 0x8000] {
            guest.touch(addr);
        }
        guest.take(SystemFact::Process { pid: 4, name: "x".to_owned() });
        guest.take(SystemFact::Process { pid: 5, name: "y".to_owned() });
        let mut used = |pid, frame, page| {
            guest.take(SystemFact::Page { pid, frame, page });
            guest.touch(frame * PAGE_BYTES);
        };
        used(4, 3, 0x100);
        used(4, 4, 0x100);
        used(5, 4, 0x200);
        used(5, 4, 0x300);
        used(4, 5, 0x100);
        guest.take(SystemFact::Page { pid: 4, frame: 6, page: 0x100 });
        assert_eq!(guest.processor_areas(), None);
        let (_, ranges) = guest.resolve();
        let found: Vec<_> = ranges.iter().map(|r| (r.start, r.size, r.name.as_str())).collect();
        let expected = [
            (0x1000, 0x40, "c"),
            (0x2040, 0x40, "b (processor 3)"),
            (0x3000, 0x1000, "memory of x"),
            (0x4000, 0x1000, "memory of y"),
            (0x5000, 0x1000, "memory of x"),
            (0x7000, 0x2000, "memory of the kernel"),
        ];
        assert_eq!(found, expected);
    }
}
