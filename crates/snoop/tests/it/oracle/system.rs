//! The actions of each process, from a trace: the kernel's areas of each processor, and the
//! modelled kernel. Written from the sentences of `docs/bus.md`.

use homenode_base::Rng;
use homenode_machine::KernelModel;
use homenode_trace::ProcessorAreas;

use super::Ref;

#[derive(Clone, Copy, Debug)]
pub struct Op {
    pub r: Ref,
    pub fetch: bool,
    pub atomic: bool,
    /// Instructions without a reference before it, if the process fetches none.
    pub gap: u32,
    /// Its place, if it is in a processor's area.
    pub area: Option<AreaPlace>,
}

/// A place in the area of a processor.
#[derive(Clone, Copy, Debug)]
pub struct AreaPlace {
    /// The number of processors from the processor's own area to this one.
    pub further: usize,
    /// The offset within the area.
    pub offset: u64,
}

/// A step of a process.
#[derive(Clone, Copy, Debug)]
pub enum Does {
    Refers(Op),
    /// It gives up its processor.
    Waits,
    /// It acquires a lock, and releases one.
    Takes(u64),
    GivesBack(u64),
}

/// A line of a trace.
#[derive(Clone, Copy, Debug)]
pub enum Line {
    Refers(usize, Op),
    Calls(usize, u32),
    Takes(usize, u64),
    GivesBack(usize, u64),
    /// The process was on this processor of the traced system from here on.
    Was(usize, usize),
}

/// The parameters other than the number of processors.
#[derive(Clone, Debug, Default)]
pub struct System {
    pub areas: Option<ProcessorAreas>,
    /// The generator that chooses buffers.
    pub kernel: Option<(KernelModel, u64)>,
}

/// System calls of Linux on x86-64 by their numbers: those that read data, those that write data,
/// and some that may wait.
const READ: [u32; 5] = [0, 17, 19, 45, 47];
const WRITE: [u32; 5] = [1, 18, 20, 44, 46];
const OTHER_WAITS: [u32; 5] = [7, 35, 61, 202, 232];

impl System {
    /// The actions of each of `count` processes.
    pub fn processes(&self, lines: &[Line], count: usize) -> Vec<Vec<Does>> {
        let mut all = vec![Vec::new(); count];
        let mut was: Vec<usize> = (0..count).collect();
        let mut references = vec![0; count];
        let mut chances: Vec<Rng> = (0..count).map(|process| self.chance(process)).collect();
        for &line in lines {
            match line {
                Line::Was(process, processor) => was[process] = processor,
                Line::Takes(process, lock) => all[process].push(Does::Takes(lock)),
                Line::GivesBack(process, lock) => all[process].push(Does::GivesBack(lock)),
                Line::Calls(process, number) => {
                    if let Some((model, _)) = &self.kernel {
                        let buffer =
                            transfers(number).then(|| chances[process].below(model.buffers));
                        all[process].extend(call(model, process, number, buffer));
                    }
                    if transfers(number) || OTHER_WAITS.contains(&number) {
                        all[process].push(Does::Waits);
                    }
                }
                Line::Refers(process, op) => {
                    if let Some((model, _)) = &self.kernel
                        && references[process] > 0
                        && u64::is_multiple_of(references[process], model.tick_references)
                    {
                        all[process].extend(tick(model, process));
                    }
                    references[process] += 1;
                    let area = self.area(was[process], op.r.addr);
                    all[process].push(Does::Refers(Op { area, ..op }));
                }
            }
        }
        all
    }

    fn chance(&self, process: usize) -> Rng {
        let seed = self.kernel.map_or(0, |(_, seed)| seed);
        // As in the crate: one generator for each process.
        Rng::new(seed ^ (process as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The area of an address, counted from the processor that the process was on.
    fn area(&self, was: usize, addr: u64) -> Option<AreaPlace> {
        let areas = self.areas.as_ref()?;
        let count = areas.starts.len();
        let within = |&start: &u64| addr >= start && addr < start + areas.size;
        let area = areas.starts.iter().position(within)?;
        let further = (0..count).find(|further| (was + further) % count == area)?;
        Some(AreaPlace { further, offset: addr - areas.starts[area] })
    }

    /// The address of an area's place for a processor.
    pub fn address(&self, place: AreaPlace, at: usize, processors: usize) -> u64 {
        let starts = &self.areas.as_ref().unwrap().starts;
        let number = (at + place.further) % processors;
        let apart = starts[1].abs_diff(starts[0]);
        let start = starts.get(number).copied();
        start.unwrap_or((1 << 40) + number as u64 * apart) + place.offset
    }

    /// The first steps of a processor that takes a process.
    pub fn switch(&self, process: usize) -> Vec<Does> {
        let Some((model, _)) = &self.kernel else { return Vec::new() };
        let at = Places::of(model, process);
        [
            words(QUEUE, 1, "atomic"),
            words(QUEUE + 4, 1, "read"),
            words(QUEUE + 4, 1, "write"),
            words(at.entry, 1, "write"),
            words(at.tables, 1, "own read"),
            words(at.stack, model.switch_words, "own read"),
            words(QUEUE, 1, "write"),
        ]
        .concat()
    }
}

fn transfers(number: u32) -> bool {
    READ.contains(&number) || WRITE.contains(&number)
}

const QUEUE: u64 = 1 << 42;

/// The addresses of a process's kernel data.
struct Places {
    headers: u64,
    buffers: u64,
    entry: u64,
    stack: u64,
    structure: u64,
    tables: u64,
}

impl Places {
    fn of(model: &KernelModel, process: usize) -> Self {
        let process = process as u64;
        let headers = QUEUE + 4096;
        let buffers = headers + 64 * model.buffers;
        let table = buffers + model.buffers * model.buffer_bytes;
        let own = table + 65_600 * model.entry_bytes;
        let stack = own + process * (model.stack_bytes + model.structure_bytes + 4096);
        let structure = stack + model.stack_bytes;
        Self {
            headers,
            buffers,
            entry: table + process * model.entry_bytes,
            stack,
            structure,
            tables: structure + model.structure_bytes,
        }
    }
}

/// References of the kernel to words of four bytes; `own`: to data of this process only.
fn words(first: u64, count: u64, how: &str) -> Vec<Does> {
    let one = |word| {
        let r = Ref {
            thread: 0,
            write: how.ends_with("write") || how == "atomic",
            addr: first + 4 * word,
            size: 4,
            private: how.starts_with("own"),
            kernel: true,
            user_page: false,
            of_processor: false,
            fetch: false,
        };
        Does::Refers(Op { r, fetch: false, atomic: how == "atomic", gap: 0, area: None })
    };
    (0..count).map(one).collect()
}

fn call(model: &KernelModel, process: usize, number: u32, buffer: Option<u64>) -> Vec<Does> {
    let at = Places::of(model, process);
    let mut all = [
        words(at.stack, model.call_words, "own write"),
        words(at.structure, model.call_words, "own read"),
        words(at.entry, 1, "read"),
    ]
    .concat();
    if let Some(buffer) = buffer {
        let header = at.headers + 64 * buffer;
        let data = at.buffers + model.buffer_bytes * buffer;
        all.extend(words(header, 1, "atomic"));
        all.extend(words(header + 4, 1, "read"));
        all.extend(words(at.tables, 1, "own read"));
        let how = if READ.contains(&number) { "read" } else { "write" };
        all.extend(words(data, model.transfer_words, how));
    }
    all.extend(words(at.stack, model.call_words, "own read"));
    all
}

fn tick(model: &KernelModel, process: usize) -> Vec<Does> {
    let at = Places::of(model, process);
    [
        words(at.stack, model.tick_words, "own write"),
        words(at.entry, 1, "write"),
        words(QUEUE + 64, 1, "write"),
        words(at.stack, model.tick_words, "own read"),
    ]
    .concat()
}
