//! The mark program's report on its system; `qemu/report.c` has the format.

use std::collections::BTreeMap;
use std::str::SplitWhitespace;

use homenode_symbol::demangle;
use homenode_trace::ProcessorAreas;

/// Bytes of a page.
pub const PAGE_BYTES: u64 = 4096;
/// Linux for x86-64, addresses without randomisation: the map of all memory (Linux,
/// Documentation/x86/x86_64/mm.rst).
pub const ALL_MEMORY: u64 = 0xffff_8880_0000_0000;
/// Physical address 0 in the kernel's image.
pub const KERNEL_IMAGE: u64 = 0xffff_ffff_8000_0000;
const MODULES: u64 = 0xffff_ffff_c000_0000;
const PAGE_DESCRIPTORS: std::ops::Range<u64> = 0xffff_ea00_0000_0000..0xffff_eb00_0000_0000;
const MAPPED_MEMORY: std::ops::Range<u64> = 0xffff_c900_0000_0000..0xffff_e900_0000_0000;
const USER_END: u64 = 1 << 47;
/// Largest extent of a kernel symbol: symbols have no sizes, and a larger distance to the next one
/// means that something without a symbol is between.
const SYMBOL_BYTES_MAX: u64 = 4 << 20;
/// Largest extent of a kernel constant: constants are followed by strings and tables without
/// symbols.
const CONSTANT_BYTES_MAX: u64 = 4096;
/// The kernel's name of anonymous memory that processes share.
const SHARED_MEMORY: &str = "/dev/zero (deleted)";

/// A symbol. One of the kernel extends to the next one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReportedSymbol<'a> {
    /// First byte: a virtual address for the kernel, the file's own address for a file, an offset
    /// for a processor's data.
    pub addr: u64,
    /// Bytes.
    pub size: u64,
    /// Type: for the kernel as in `nm`, else `f` (function) or `o` (object).
    pub kind: u8,
    /// Name.
    pub name: &'a str,
    /// The kernel module it is in, in brackets, or empty.
    pub module: &'a str,
}

/// A part of a page that has a name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NamedPart {
    /// Where in the page it begins.
    pub offset: u64,
    /// Bytes.
    pub size: u64,
    /// Whether it is an object of a program or the kernel, and not a mapping.
    pub is_object: bool,
    /// Its name.
    pub name: String,
}

#[derive(Clone, Copy, Debug)]
struct ReportedMapping<'a> {
    start: u64,
    end: u64,
    offset: u64,
    name: &'a str,
}

/// A loaded part of a file.
#[derive(Clone, Copy, Debug)]
struct LoadedPart {
    offset: u64,
    addr: u64,
    size: u64,
}

#[derive(Debug, Default)]
struct ReportedFile<'a> {
    loads: Vec<LoadedPart>,
    symbols: Vec<ReportedSymbol<'a>>,
}

/// A process, by its number and its name at the time.
#[derive(Clone, Copy, Debug)]
pub struct ProcessRef<'a> {
    /// Its number.
    pub pid: u32,
    /// Its name.
    pub name: &'a str,
}

/// The parsed report.
#[derive(Debug, Default)]
pub struct SystemReport<'a> {
    /// Address of each processor's per-CPU data.
    pub own_data: BTreeMap<u32, u64>,
    /// Ordered by address, one at each address.
    kernel: Vec<ReportedSymbol<'a>>,
    /// Addresses of symbols that mark boundaries; other symbols may have the same addresses.
    boundaries: BTreeMap<&'a str, u64>,
    mappings: BTreeMap<u32, Vec<ReportedMapping<'a>>>,
    /// Numbers of the processes of each name.
    called: BTreeMap<&'a str, Vec<u32>>,
    files: BTreeMap<&'a str, ReportedFile<'a>>,
}

impl<'a> SystemReport<'a> {
    /// Parses the text. Lines that cannot be parsed are skipped.
    #[must_use]
    pub fn parse(text: &'a str) -> Self {
        let mut report = Self::default();
        let (mut process, mut file) = (0, "");
        for line in text.lines() {
            let (what, rest) = line.split_once(' ').unwrap_or((line, ""));
            match what {
                "P" => {
                    let (number, name) = rest.split_once(' ').unwrap_or((rest, ""));
                    process = number.parse().unwrap_or(0);
                    report.called.entry(name).or_default().push(process);
                }
                "F" => file = rest,
                _ => {
                    // Skips a line that is cut off, or from another release.
                    let _ = report.add(what, rest, process, file);
                }
            }
        }
        report.order();
        report
    }

    fn add(&mut self, what: &str, rest: &'a str, process: u32, file: &'a str) -> Option<()> {
        let mut words = rest.split_whitespace();
        match what {
            "K" => {
                let addr = hex(&mut words)?;
                let kind = *words.next()?.as_bytes().first()?;
                let name = words.next()?;
                let module = words.next().unwrap_or_default();
                if is_boundary(name) {
                    self.boundaries.insert(name, addr);
                }
                self.kernel.push(ReportedSymbol { addr, size: 0, kind, name, module });
            }
            "C" => {
                let processor = words.next()?.parse().ok()?;
                self.own_data.insert(processor, hex(&mut words)?);
            }
            "M" => {
                let (start, end, offset) = (hex(&mut words)?, hex(&mut words)?, hex(&mut words)?);
                let name = rest.splitn(4, ' ').nth(3).unwrap_or_default();
                let mapping = ReportedMapping { start, end, offset, name };
                self.mappings.entry(process).or_default().push(mapping);
            }
            "L" => {
                let (offset, addr) = (hex(&mut words)?, hex(&mut words)?);
                let load = LoadedPart { offset, addr, size: hex(&mut words)? };
                self.files.entry(file).or_default().loads.push(load);
            }
            "S" => {
                let (addr, size) = (hex(&mut words)?, hex(&mut words)?);
                let kind = *words.next()?.as_bytes().first()?;
                let symbol = ReportedSymbol { addr, size, kind, name: words.next()?, module: "" };
                self.files.entry(file).or_default().symbols.push(symbol);
            }
            _ => {}
        }
        Some(())
    }

    /// Sorts, and gives the kernel's symbols their sizes.
    fn order(&mut self) {
        self.kernel.sort_by_key(|symbol| (symbol.addr, is_boundary(symbol.name)));
        self.kernel.dedup_by_key(|symbol| symbol.addr);
        for i in 1..self.kernel.len() {
            let symbol = &self.kernel[i - 1];
            let most = if b"rR".contains(&symbol.kind) { CONSTANT_BYTES_MAX } else { u64::MAX };
            self.kernel[i - 1].size = (self.kernel[i].addr - symbol.addr).min(most);
        }
        for file in self.files.values_mut() {
            file.symbols.sort_by_key(|symbol| symbol.addr);
            file.symbols.dedup();
        }
    }

    /// Whether the kernel's symbols are in the report.
    #[must_use]
    pub fn knows_kernel(&self) -> bool {
        !self.kernel.is_empty()
    }

    fn kernel_symbol(&self, addr: u64) -> Option<&ReportedSymbol<'a>> {
        let after = self.kernel.partition_point(|symbol| symbol.addr <= addr);
        let symbol = self.kernel[..after].last()?;
        (addr - symbol.addr < symbol.size.min(SYMBOL_BYTES_MAX)).then_some(symbol)
    }

    /// The kernel's static data.
    pub fn image_data(&self) -> impl Iterator<Item = &ReportedSymbol<'a>> {
        let boundary = |name| self.boundaries.get(name).copied().unwrap_or(u64::MAX);
        let given_back = boundary("__init_begin")..boundary("__init_end");
        let image = KERNEL_IMAGE..boundary("_end").min(MODULES);
        self.kernel.iter().filter(move |symbol| {
            image.contains(&symbol.addr) && !given_back.contains(&symbol.addr) && is_data(symbol)
        })
    }

    /// Data of which each processor has a copy. The symbols' addresses are offsets in the copy.
    pub fn processor_data(&self) -> impl Iterator<Item = &ReportedSymbol<'a>> {
        let end = self.boundaries.get("__per_cpu_end").copied().unwrap_or(0);
        self.kernel
            .iter()
            .take_while(move |symbol| symbol.addr < end)
            .filter(|symbol| !is_boundary(symbol.name))
    }

    /// Physical addresses of each processor's copy.
    #[must_use]
    pub fn processor_areas(&self) -> Option<ProcessorAreas> {
        let whole = self.own_data.keys().copied().eq((0..).take(self.own_data.len()));
        let starts = self.own_data.values().map(|base| base.wrapping_sub(ALL_MEMORY)).collect();
        let end = self.boundaries.get("__per_cpu_end").copied().unwrap_or(0);
        ProcessorAreas::of_linux(starts, end).filter(|_| whole)
    }

    /// The function of a program counter. Without a symbol it is the file in brackets, or the
    /// process.
    #[must_use]
    pub fn function(&self, pc: u64, process: ProcessRef<'_>) -> String {
        if pc >= USER_END {
            let found = self
                .kernel_symbol(pc)
                .filter(|symbol| b"tTwW".contains(&symbol.kind) && !is_boundary(symbol.name));
            return found.map_or_else(|| "[kernel]".to_owned(), |symbol| in_module(symbol));
        }
        let Some((mapping, _)) = self.mapping(pc, process) else {
            return format!("[{}]", process.name);
        };
        let place = in_brackets(mapping.name);
        let symbol = self.files.get(mapping.name).and_then(|file| {
            let addr = pc.wrapping_sub(mapping.displacement(file)?);
            let after = file.symbols.partition_point(|symbol| symbol.addr <= addr);
            let before = file.symbols[..after].iter().rev().filter(|symbol| symbol.kind == b'f');
            before.into_iter().next().filter(|symbol| addr - symbol.addr < symbol.size.max(1))
        });
        symbol.map_or(place.clone(), |symbol| format!("{} {place}", demangle(symbol.name)))
    }

    /// The named parts of a virtual page of a process.
    #[must_use]
    pub fn page(&self, page: u64, process: ProcessRef<'_>) -> Vec<NamedPart> {
        let name = process.name;
        let whole =
            |name: String| vec![NamedPart { offset: 0, size: PAGE_BYTES, is_object: false, name }];
        if PAGE_DESCRIPTORS.contains(&page) {
            return whole("page descriptors".to_owned());
        }
        if MAPPED_MEMORY.contains(&page) {
            return whole("vmalloc memory".to_owned());
        }
        if page >= MODULES {
            let data = self.kernel.iter().filter(|symbol| is_data(symbol));
            return parts(data, page, in_module);
        }
        if page >= USER_END {
            return Vec::new();
        }
        let Some((mapping, file)) = self.mapping(page, process) else {
            return whole(format!("memory of {name}"));
        };
        let mut known = whole(match mapping.name {
            "" => format!("memory of {name}"),
            SHARED_MEMORY => format!("shared memory of {name}"),
            of_kernel if of_kernel.starts_with('[') => format!("{of_kernel} of {name}"),
            file => file.to_owned(),
        });
        let loaded = self.files.get(file.name);
        if let Some((file_symbols, moved)) =
            loaded.and_then(|found| Some((&found.symbols, file.displacement(found)?)))
        {
            let data = file_symbols.iter().filter(|symbol| symbol.kind == b'o');
            let place = in_brackets(file.name);
            let label = |symbol: &ReportedSymbol<'_>| format!("{} {place}", demangle(symbol.name));
            let objects = parts(data, page.wrapping_sub(moved), label);
            // Ranges must not begin together: the longest would name the address.
            let first = objects.iter().filter(|part| part.offset == 0).map(|part| part.size).max();
            known[0].offset = first.unwrap_or(0);
            known[0].size = PAGE_BYTES - known[0].offset;
            known.retain(|part| part.size > 0);
            known.extend(objects);
        }
        known
    }

    /// The mapping at an address, and the file mapping that it belongs to: for `.bss`, which is not
    /// mapped from the file, the mapping before. A process that is not in the report is looked up
    /// by its name: most often `fork` made it from a process of the same name, with its mappings.
    fn mapping(
        &self,
        addr: u64,
        process: ProcessRef<'_>,
    ) -> Option<(&ReportedMapping<'a>, &ReportedMapping<'a>)> {
        let namesakes = self.called.get(process.name).into_iter().flatten();
        std::iter::once(&process.pid).chain(namesakes).find_map(|process| {
            let mappings = self.mappings.get(process)?;
            let found = mappings.iter().find(|m| (m.start..m.end).contains(&addr))?;
            let before = mappings.iter().find(|m| m.end == found.start && !m.name.is_empty());
            let file = if found.name.is_empty() { before.unwrap_or(found) } else { found };
            Some((found, file))
        })
    }
}

impl ReportedMapping<'_> {
    /// Address in memory less address in the file.
    fn displacement(&self, file: &ReportedFile<'_>) -> Option<u64> {
        let load = file.loads.iter().find(|load| {
            let first = load.offset / PAGE_BYTES * PAGE_BYTES;
            (first..load.offset.saturating_add(load.size)).contains(&self.offset)
        })?;
        let addr = load.addr.wrapping_sub(load.offset).wrapping_add(self.offset);
        Some(self.start.wrapping_sub(addr))
    }
}

fn hex(words: &mut SplitWhitespace<'_>) -> Option<u64> {
    u64::from_str_radix(words.next()?, 16).ok()
}

fn parts<'s, 'a: 's>(
    symbols: impl Iterator<Item = &'s ReportedSymbol<'a>>,
    page: u64,
    label: impl Fn(&ReportedSymbol<'_>) -> String,
) -> Vec<NamedPart> {
    let end = page.saturating_add(PAGE_BYTES);
    symbols
        .filter(|symbol| symbol.addr < end && symbol.addr.saturating_add(symbol.size) > page)
        .map(|symbol| {
            let start = symbol.addr.max(page);
            let size = symbol.addr.saturating_add(symbol.size).min(end) - start;
            NamedPart { offset: start - page, size, is_object: true, name: label(symbol) }
        })
        .filter(|known| known.size > 0)
        .collect()
}

fn in_module(symbol: &ReportedSymbol<'_>) -> String {
    let gap = if symbol.module.is_empty() { "" } else { " " };
    format!("{}{gap}{}", symbol.name, symbol.module)
}

fn in_brackets(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or(path);
    if name.starts_with('[') { name.to_owned() } else { format!("[{name}]") }
}

fn is_data(symbol: &ReportedSymbol<'_>) -> bool {
    b"dDbBrRvV".contains(&symbol.kind)
        && symbol.size <= SYMBOL_BYTES_MAX
        && !is_boundary(symbol.name)
}

/// Whether a symbol only marks a boundary between objects.
fn is_boundary(name: &str) -> bool {
    const PREFIXES: &[&str] = &["__start_", "__stop_", "__end_", "__init_", "__per_cpu_", "__bss_"];
    const NAMES: &[&str] =
        &["_text", "_stext", "_etext", "_sdata", "_edata", "_end", "__brk_base", "__brk_limit"];
    NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

#[cfg(test)]
mod tests {
    use super::*;

    const SERVER: ProcessRef<'_> = ProcessRef { pid: 7, name: "server" };

    /// As the mark program and the plugin write it, shortened; one line is cut off.
    const REPORT: &str = "\
K 0000000000000000 A __per_cpu_start
K 0000000000001000 A runqueues
K 0000000000001c00 A other
K 0000000000002000 A __per_cpu_end
K ffffffff81000000 T _stext
K ffffffff81000000 T startup
K ffffffff81000100 t worker
K ffffffff81000200 T _etext
K ffffffff82000000 R constant
K ffffffff82100000 D jiffies
K ffffffff82100040 d lock
K ffffffff82100080 D _edata
K ffffffff82200000 D __init_begin
K ffffffff82200010 d forgotten
K ffffffff82201000 D __init_end
K ffffffff82201000 b clock
K ffffffff82201040 b _end
K ffffffff82202000 d scratch
K ffffffff82203000 d scratch_end
K ffffffffc0000000 t send\t[net]
K ffffffffc0001000 d queue\t[net]
K ffffffffc0001040 b rest\t[net]
K ffff
C 1 ffff888000100000
P 7 server
M 400000 401000 0 /bin/server
M 401000 402000 1000 /bin/server
M 402000 404000 0
M 7f0000000000 7f0000002000 0 /dev/zero (deleted)
M 7ffc00000000 7ffc00002000 0 [stack]
F /bin/server
L 0 400000 800
L 1e00 401e00 100
S 400100 20 f serve
S 400100 20 f serve
S 4020c0 1000 o table
";

    fn report() -> SystemReport<'static> {
        SystemReport::parse(REPORT)
    }

    fn names(known: &[NamedPart]) -> Vec<(u64, u64, &str)> {
        known.iter().map(|k| (k.offset, k.size, k.name.as_str())).collect()
    }

    #[test]
    fn functions_of_kernel_modules_and_programs_have_names() {
        let report = report();
        let function = |pc| report.function(pc, SERVER);
        assert_eq!(function(0xffff_ffff_8100_00ff), "startup");
        assert_eq!(function(0xffff_ffff_8100_0100), "worker");
        assert_eq!(function(0xffff_ffff_8100_0200), "[kernel]");
        assert_eq!(function(0xffff_ffff_c000_0010), "send [net]");
        assert_eq!(function(0x40_0110), "serve [server]");
        assert_eq!(function(0x40_0120), "[server]");
        assert_eq!(function(0x10), "[server]");
    }

    #[test]
    fn a_fork_has_the_mappings_of_its_namesake() {
        let report = report();
        assert_eq!(
            report.function(0x40_0110, ProcessRef { pid: 99, name: "server" }),
            "serve [server]"
        );
        assert_eq!(report.function(0x40_0110, ProcessRef { pid: 99, name: "client" }), "[client]");
    }

    #[test]
    fn lasting_data_of_the_kernel_has_names() {
        let report = report();
        let data: Vec<_> =
            report.image_data().map(|s| (s.addr & 0xffffff, s.size, s.name)).collect();
        let expected = [
            (0, 4096, "constant"),
            (0x10_0000, 64, "jiffies"),
            (0x10_0040, 64, "lock"),
            (0x20_1000, 64, "clock"),
        ];
        assert_eq!(data, expected);
        let own: Vec<_> = report.processor_data().map(|s| (s.addr, s.size, s.name)).collect();
        assert_eq!(own, [(0x1000, 0xc00, "runqueues"), (0x1c00, 0x400, "other")]);
        assert_eq!(report.own_data[&1], ALL_MEMORY + 0x10_0000);
        assert_eq!(report.processor_areas(), None, "nothing is said of processor 0");
    }

    #[test]
    fn pages_are_named_by_the_mappings_of_their_process() {
        let report = report();
        let page = |page| report.page(page, SERVER);
        assert_eq!(names(&page(0x7f00_0000_1000)), [(0, 4096, "shared memory of server")]);
        assert_eq!(names(&page(0x7ffc_0000_0000)), [(0, 4096, "[stack] of server")]);
        assert_eq!(names(&page(0x40_0000)), [(0, 4096, "/bin/server")]);
        let zeroed = [(0, 4096, "memory of server"), (0xc0, 0xf40, "table [server]")];
        assert_eq!(names(&page(0x40_2000)), zeroed);
        let rest = [(0xc0, 0xf40, "memory of server"), (0, 0xc0, "table [server]")];
        assert_eq!(names(&page(0x40_3000)), rest);
        assert_eq!(names(&page(0x55_0000)), [(0, 4096, "memory of server")]);
        assert_eq!(names(&page(0xffff_ea00_0000_0000)), [(0, 4096, "page descriptors")]);
        assert_eq!(names(&page(0xffff_ffff_c000_1000)), [(0, 64, "queue [net]")]);
    }

    #[test]
    fn arbitrary_bytes_are_parsed() {
        let asked = |pc: u64, page: u64, text: &[u8]| {
            let chosen = [&[7][..], &pc.to_be_bytes(), &page.to_be_bytes()].concat();
            crate::fuzz_report(&[&chosen[..], text].concat())
        };
        let whole = asked(0xffff_ffff_8100_0110, 0x40_2000, REPORT.as_bytes());
        let empty = asked(0xffff_ffff_8100_0110, 0x40_2000, b"");
        assert!(whole > empty + 4, "{whole} {empty}");
        for cut in 0..REPORT.len() {
            asked(0x40_0105, u64::MAX, &REPORT.as_bytes()[cut..]);
        }
        let crashes = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/crashes/guest_report");
        for file in std::fs::read_dir(crashes).into_iter().flatten() {
            let _ = crate::fuzz_report(&std::fs::read(file.unwrap().path()).unwrap());
        }
    }
}
