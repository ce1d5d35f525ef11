//! Splits a trace: references and events, in trace order, become operations of each process.

use std::ops::Range;

use homenode_base::{Flags, ReferenceFilter, ReferenceRole};
use homenode_machine::KernelModel;
use homenode_trace::{Batch, Event, ProcessorAreas};

use super::conditions::Conditions;
use super::episodes::BarrierEpisodes;
use super::excluded::ExcludedInstructions;
use super::forecast::{ProcessForecast, StreamForecast};
use super::generations::ProcessGenerations;
use super::kernel_model::{KERNEL_MODEL_BASE, ModelledKernel};
use super::live::LiveProcesses;
use super::operation::{OpKind, Operation};
use super::pending::ThreadStreams;
use super::per_cpu_areas::{PROCESSOR_RELATIVE, RecordedAreas};
use super::portions::PortionPool;
use super::turn::{RoleTable, with_role};
use crate::pages::{PageNumbers, PageTable};

/// Rows of a batch that are split at once, at most.
const SLICE_ROWS: usize = 1 << 16;

/// Events of a batch, each with the row that it precedes.
type BatchEvents<'a> = std::iter::Peekable<std::slice::Iter<'a, (u32, Event)>>;

/// Splits a trace into the streams of its processes: thread i of the trace is process i.
pub struct StreamSplitter {
    filter: ReferenceFilter,
    pub(super) roles: RoleTable,
    private: Vec<Range<u64>>,
    pub(super) pages: Option<PageNumbers>,
    table: Option<PageTable>,
    areas: Option<RecordedAreas>,
    pub(super) kernel: Option<ModelledKernel>,
    /// Whether the trace has had kernel references so far.
    pub(super) captured: bool,
    /// The processor of the traced system that each process runs on.
    pub(super) recorded: Vec<usize>,
    pub(super) operations: Vec<Vec<Operation>>,
    portions: PortionPool,
    /// The address space of each process's last reference.
    pub(super) pids: Vec<Option<u32>>,
    /// Whether references of several address spaces came from one thread.
    mixed: bool,
    pub(super) begun: Vec<bool>,
    pub(super) generations: ProcessGenerations,
    /// Processes whose further references and events are ignored.
    pub(super) closed: Vec<bool>,
    /// Instructions of excluded references, by process.
    pub(super) excluded: Vec<ExcludedInstructions>,
    pub(super) episodes: BarrierEpisodes,
    pub(super) conditions: Conditions,
    /// Rows split so far.
    pub(super) split_rows: u64,
    /// The future waits of each process, if there is a forecast.
    pub(super) forecast: Vec<ProcessForecast>,
    pub(super) foresees: bool,
    /// Whether the program's marks become operations.
    pub(super) marks: bool,
    /// Instructions before each reference, if the trace does not count them.
    pub(super) gap: u32,
    /// By process: whether the operation of its next join was made in advance.
    pub(super) joins: Vec<bool>,
    /// By process: whether the wait for its next creation was made in advance.
    pub(super) begins: Vec<bool>,
    pub(super) live: LiveProcesses,
}

impl StreamSplitter {
    /// A splitter for a number of processes. With `pages`, addresses are those of
    /// [`PageNumbers::address`]; without, they are those of the trace. References to the `private`
    /// ranges count as private.
    #[must_use]
    pub fn new(
        processes: usize,
        filter: ReferenceFilter,
        private: &[Range<u64>],
        pages: Option<PageNumbers>,
    ) -> Self {
        Self {
            filter,
            roles: RoleTable::new(filter),
            private: private.to_vec(),
            pages,
            table: None,
            areas: None,
            kernel: None,
            captured: false,
            recorded: (0..processes).collect(),
            operations: vec![Vec::new(); processes],
            portions: PortionPool::default(),
            pids: vec![None; processes],
            mixed: false,
            begun: vec![false; processes],
            generations: ProcessGenerations::new(processes),
            closed: vec![false; processes],
            excluded: vec![ExcludedInstructions::default(); processes],
            episodes: BarrierEpisodes::default(),
            conditions: Conditions::new(processes),
            split_rows: 0,
            forecast: vec![ProcessForecast::default(); processes],
            foresees: false,
            marks: false,
            gap: 0,
            joins: vec![false; processes],
            begins: vec![false; processes],
            live: LiveProcesses::default(),
        }
    }

    /// Emits waits and ends of processes as early as possible, from the forecast. The result of the
    /// simulation is the same, but less of the trace has to be kept.
    #[must_use]
    pub fn with_forecast(mut self, forecast: StreamForecast) -> Self {
        (self.forecast, self.foresees) = (forecast.processes, true);
        let created = |(process, forecast): (usize, &ProcessForecast)| {
            forecast.created_first.then_some(process)
        };
        for process in self.forecast.iter().enumerate().filter_map(created) {
            let begin = Operation { count: 1, ..Operation::new(OpKind::Begin, 0) };
            self.operations[process].push(begin);
            self.begins[process] = true;
        }
        self
    }

    /// Makes operations of the program's marks: the end of initialisation, and phases. Otherwise
    /// they are ignored.
    #[must_use]
    pub fn with_marks(mut self) -> Self {
        self.marks = true;
        self
    }

    /// Assumes this many instructions before each reference of a trace that does not count them.
    #[must_use]
    pub fn with_gap(mut self, instructions: u32) -> Self {
        self.gap = instructions;
        self
    }

    /// Translates page numbers to physical addresses, the same in all simulations.
    #[must_use]
    pub fn with_page_table(mut self, table: PageTable) -> Self {
        self.table = Some(table);
        self
    }

    /// Makes references to the kernel's per-processor areas follow the simulated processors. A
    /// reference to the area of the processor on which it was recorded (processor i for process i,
    /// or that of the process's last marker `processor N`) becomes one to the area of the simulated
    /// processor. One to the area of another processor becomes one to the area of the processor at
    /// the same distance. Has no effect if addresses are translated.
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.areas = Some(RecordedAreas::new(areas)).filter(|_| self.pages.is_none());
        self
    }

    /// Adds the references of a modelled kernel at system calls and timer ticks; the seed chooses
    /// its buffers.
    #[must_use]
    pub fn with_kernel(mut self, model: &KernelModel, seed: u64) -> Self {
        self.kernel = Some(ModelledKernel::new(*model, self.filter, seed));
        self
    }

    /// Whether the trace has had kernel references.
    #[must_use]
    pub fn has_kernel(&self) -> bool {
        self.captured
    }

    /// Whether one thread made references in several address spaces, as processors of a whole
    /// system do.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// Splits the next batch of the trace.
    pub fn split(&mut self, batch: &Batch) -> ThreadStreams {
        self.rows(batch, 0..batch.len(), &mut batch.events.iter().peekable());
        self.known()
    }

    /// Splits the next batch of the trace in slices, each small enough that its memory is soon
    /// recycled.
    pub fn split_in_slices(&mut self, batch: &Batch) -> Vec<ThreadStreams> {
        let mut events = batch.events.iter().peekable();
        let slices = batch.len().div_ceil(SLICE_ROWS).max(1);
        let rows = |slice: usize| slice * SLICE_ROWS..batch.len().min((slice + 1) * SLICE_ROWS);
        (0..slices)
            .map(|slice| {
                self.rows(batch, rows(slice), &mut events);
                self.known()
            })
            .collect()
    }

    /// Splits rows of a batch, each after the events that precede it; after the batch's last row,
    /// also the remaining events.
    fn rows(&mut self, batch: &Batch, rows: Range<usize>, events: &mut BatchEvents<'_>) {
        let mut row = rows.start;
        let before = |at: u32, end| usize::try_from(at).is_ok_and(|at| at < end);
        let last = rows.end == batch.len();
        while let Some((at, event)) = events.next_if(|&&(at, _)| last || before(at, rows.end)) {
            let until = usize::try_from(*at).map_or(rows.end, |at| at.min(rows.end));
            self.references(batch, row..until);
            row = row.max(until);
            self.event(event);
        }
        self.references(batch, row..rows.end);
        self.split_rows += u64::try_from(rows.len()).unwrap_or(0);
    }

    pub(super) fn known(&mut self) -> ThreadStreams {
        let closed = self.look_ahead();
        self.portions.reclaim();
        let Self { operations, portions, table, .. } = self;
        let filled = operations.iter_mut().enumerate().filter(|(_, new)| !new.is_empty());
        let operations = filled
            .map(|(process, new)| {
                table.iter().for_each(|table| translate(new, table));
                let new = std::mem::replace(new, portions.buffer());
                (process, portions.share(new))
            })
            .collect();
        ThreadStreams { operations, closed, ..ThreadStreams::default() }
    }

    /// Whether operations have the addresses of the trace, and no references are added.
    pub(super) fn addresses_are_kept(&self) -> bool {
        let modelled = self.kernel.is_some() || self.areas.is_some() || self.pages.is_some();
        self.private.is_empty() && !modelled
    }

    pub(super) fn reference(&mut self, process: usize, batch: &Batch, row: usize) {
        let mut flags = Flags(batch.flags.get(row).copied().unwrap_or(0));
        let (role, kind) = self.roles.of(batch.kind[row], flags.0);
        let addr = batch.addr[row];
        let gap = batch.gap.get(row).copied();
        if role == ReferenceRole::Excluded {
            gap.into_iter().for_each(|gap| self.excluded[process].add(gap, kind));
            return;
        }
        let count = gap.map_or(self.gap, |gap| self.excluded[process].before(gap, kind));
        self.captured |= flags.contains(Flags::KERNEL);
        if let Some(made) = self.kernel.as_mut().and_then(|kernel| kernel.tick(process)) {
            made.into_iter().for_each(|operation| self.push(process, operation));
        }
        let private = self.private.iter().any(|range| range.contains(&addr));
        let role = if private { ReferenceRole::Private } else { role };
        flags = Flags(with_role(flags.0, role));
        // A range declared private is private for the kernel, too.
        if private && flags.contains(Flags::KERNEL) {
            flags = flags.union(Flags::USER_AREA);
        }
        let pid = batch.pid.get(row).copied().unwrap_or(0);
        self.enter_address_space(process, pid);
        let size = batch.size[row].max(1);
        let mut operation = Operation { size, flags: flags.0, count, ..Operation::new(kind, addr) };
        if let Some(areas) = &self.areas
            && let Some(relative) = areas.relative(self.recorded[process], addr)
        {
            (operation.addr, operation.flags) = (relative, operation.flags | PROCESSOR_RELATIVE);
        }
        if let Some(pages) = &mut self.pages {
            let kernel = flags.contains(Flags::KERNEL);
            let room = u8::try_from(pages.bytes_to_page_end(addr)).unwrap_or(u8::MAX);
            operation.addr = pages.address(pid, kernel, addr);
            if room < size {
                // The next page has its own frame, so the reference becomes two operations.
                let first = Operation { size: room, ..operation };
                self.push(process, first);
                let rest = addr.saturating_add(u64::from(room));
                if let Some(pages) = &mut self.pages {
                    operation.addr = pages.address(pid, kernel, rest);
                }
                operation.size = size - room;
                (operation.continues, operation.count) = (true, 0);
            }
        }
        self.push(process, operation);
    }

    /// The next references of a process are in this address space.
    #[inline]
    pub(super) fn enter_address_space(&mut self, process: usize, pid: u32) {
        if self.pids[process] == Some(pid) {
            return;
        }
        if self.pids[process].replace(pid).is_some() {
            self.mixed = true;
        } else if let Some(pages) = &mut self.pages {
            pages.claim(process, pid);
        }
    }

    pub(super) fn push(&mut self, process: usize, operation: Operation) {
        if self.closed[process] {
            return;
        }
        self.begun[process] = true;
        self.operations[process].extend(self.conditions.before(process, &operation));
        self.operations[process].push(operation);
    }

    pub(super) fn operation(&mut self, process: usize, kind: OpKind, addr: u64) {
        self.push(process, Operation::new(kind, addr));
    }
}

/// Translates page numbers to physical addresses.
fn translate(operations: &mut [Operation], table: &PageTable) {
    for operation in operations {
        // Addresses of the modelled kernel are not translated.
        if operation.kind.is_reference() && operation.addr < KERNEL_MODEL_BASE {
            operation.addr = table.address(operation.addr);
        }
    }
}

#[cfg(test)]
mod tests {
    use homenode_trace::EventKind;

    use super::*;

    fn event(thread: u16, what: EventKind) -> (u32, Event) {
        (0, Event { thread, what })
    }

    fn split(splitter: &mut StreamSplitter, batch: &Batch) -> Vec<Vec<(OpKind, u64, u32)>> {
        let streams = splitter.split(batch);
        let mut all = vec![Vec::new(); splitter.operations.len()];
        for (process, operations) in streams.operations {
            all[process] = operations
                .iter()
                .map(|operation| (operation.kind, operation.addr, operation.count))
                .collect();
        }
        all
    }

    #[test]
    fn successive_episodes_of_a_barrier_are_distinct() {
        let mut splitter = StreamSplitter::new(3, ReferenceFilter::ALL, &[], None);
        let enter = |thread| event(thread, EventKind::BarrierEnter { addr: 64 });
        let leave = |thread| event(thread, EventKind::BarrierLeave { addr: 64 });
        // Process 0 is at the barrier again before process 1 has left it, and once alone.
        let events =
            vec![leave(2), enter(0), enter(1), leave(0), enter(0), leave(1), enter(1), leave(0)];
        let all = split(&mut splitter, &Batch { events, ..Batch::default() });
        let (arrive, depart) = (OpKind::Arrive, OpKind::Depart);
        let first = [(arrive, 0, 0), (depart, 0, 2), (arrive, 1, 0)];
        assert_eq!(all[0], [&first[..], &[(depart, 1, 2)]].concat());
        assert_eq!(all[1], first);
        assert_eq!(all[2], []);
    }

    #[test]
    fn children_wait_for_their_creation_and_parents_for_their_exit() {
        let mut splitter = StreamSplitter::new(3, ReferenceFilter::ALL, &[], None);
        let create = |child| event(0, EventKind::ThreadCreate { child });
        let events = vec![create(1), event(2, EventKind::LockAcquire { addr: 8 }), create(2)];
        let all = split(&mut splitter, &Batch { events, ..Batch::default() });
        assert_eq!(all[1], [(OpKind::Begin, 0, 1)]);
        assert_eq!(all[2], [(OpKind::Acquire, 8, 0)], "it ran before its creation in the trace");
        let join = event(0, EventKind::ThreadJoin { child: 1 });
        let events = vec![event(2, EventKind::ThreadExit), join.clone(), join];
        let all = split(&mut splitter, &Batch { events, ..Batch::default() });
        assert_eq!(all[1], [(OpKind::Exit, 0, 0)]);
        assert_eq!(all[2], [(OpKind::Exit, 0, 0)]);
        assert_eq!(all[0], [(OpKind::Join, 1, 1); 2]);
        // Its number is reused: a join now waits for the end of the new generation.
        let exit = event(1, EventKind::ThreadExit);
        let join = event(0, EventKind::ThreadJoin { child: 1 });
        let events = vec![create(1), exit, join];
        let all = split(&mut splitter, &Batch { events, ..Batch::default() });
        assert_eq!(all[1], [(OpKind::Begin, 0, 2), (OpKind::Exit, 0, 0)]);
        assert_eq!(all[0], [(OpKind::Create, 1, 2), (OpKind::Join, 1, 2)]);
    }

    #[test]
    fn a_reference_that_straddles_pages_becomes_two_operations() {
        let mut splitter =
            StreamSplitter::new(1, ReferenceFilter::ALL, &[], Some(PageNumbers::new(12)));
        let batch = Batch {
            turns: [0; 2].into_iter().collect(),
            kind: vec![1; 2],
            size: vec![16; 2],
            addr: vec![0x5ff8, 0x5ff0],
            ..Batch::default()
        };
        let operations = splitter.split(&batch).operations.remove(0).1;
        let parts: Vec<(u64, u8, bool)> =
            operations.iter().map(|part| (part.addr, part.size, part.continues)).collect();
        assert_eq!(parts, [(0xff8, 8, false), (0x1000, 8, true), (0xff0, 16, false)]);
    }

    #[test]
    fn instructions_of_excluded_references_precede_the_next_counted_one() {
        let private = Flags::PRIVATE.0;
        let batch = Batch {
            turns: [0, 0, 1, 0, 0, 0, 0, 0, 0].into_iter().collect(),
            kind: vec![0, 0, 0, 0, 3, 3, 3, 1, 0],
            size: vec![4; 9],
            addr: vec![0; 9],
            flags: vec![0, private, 0, 0, 0, 0, 0, 0, 0],
            gap: vec![5, 7, 1, 2, 0, 0, 0, 0, 3],
            ..Batch::default()
        };
        let counts = |filter, batch: &Batch| {
            let streams =
                StreamSplitter::new(2, filter, &[], None).split(batch).operations.remove(0).1;
            streams.iter().map(|operation| operation.count).collect::<Vec<_>>()
        };
        // A private reference is one instruction, with seven before it; the last of the three
        // fetches is that of the store.
        let private = ReferenceRole::Excluded;
        let some = ReferenceFilter { fetches: false, private, ..ReferenceFilter::ALL };
        assert_eq!(counts(some, &batch), [5, 10, 2, 3]);
        // If fetches are not excluded, they are counted as instructions from the first one on.
        assert_eq!(counts(ReferenceFilter::ALL, &batch), [5, 7, 2, 0, 0, 0, 0, 0]);
        // A trace that does not count instructions has references only.
        assert_eq!(counts(some, &Batch { gap: Vec::new(), ..batch }), [0; 4]);
    }

    #[test]
    fn a_mapping_before_the_first_reference_belongs_to_its_process() {
        let mut splitter =
            StreamSplitter::new(3, ReferenceFilter::ALL, &[], Some(PageNumbers::new(12)));
        let map = |thread, addr| {
            let object = "shm".to_owned();
            event(thread, EventKind::Map { addr, size: 4096, shared: true, object })
        };
        let lock = EventKind::LockAcquire { addr: 8 };
        let unmap = EventKind::Unmap { addr: 0x3000, size: 4096 };
        let events = vec![map(0, 0x1000), map(1, 0x2000), event(1, lock), map(2, 0x3000)];
        let batch = Batch {
            turns: [0, 1, 2].into_iter().collect(),
            kind: vec![0; 3],
            size: vec![4; 3],
            addr: vec![0x1010, 0x2010, 0x3010],
            pid: vec![7, 8, 9],
            events: [events, vec![event(2, unmap)]].concat(),
            ..Batch::default()
        };
        let operations = splitter.split(&batch).operations;
        let addrs: Vec<u64> = operations
            .iter()
            .map(|(_, operations)| operations[operations.len() - 1].addr)
            .collect();
        assert_eq!(addrs[0], addrs[1]);
        assert_ne!(addrs[1], addrs[2], "it was unmapped");
        assert!(!splitter.is_mixed());
    }

    #[test]
    fn excluded_references_have_no_operation() {
        let private = ReferenceRole::Shared;
        let filter = ReferenceFilter { fetches: false, private, ..ReferenceFilter::ALL };
        let ranges = Range { start: 64, end: 128 };
        let mut splitter = StreamSplitter::new(1, filter, &[ranges], None);
        let batch = Batch {
            turns: [0; 4].into_iter().collect(),
            kind: vec![3, 0, 0, 0],
            size: vec![4; 4],
            addr: vec![0, 32, 64, 68],
            flags: vec![0, Flags::PRIVATE.0 | Flags::KERNEL.0, 0, Flags::KERNEL.0],
            ..Batch::default()
        };
        let operations = splitter.split(&batch).operations.remove(0).1;
        let flags: Vec<u8> = operations.iter().map(|operation| operation.flags).collect();
        let of_kernel = Flags::PRIVATE.union(Flags::KERNEL).union(Flags::USER_AREA).0;
        assert_eq!(flags, [Flags::KERNEL.0, Flags::PRIVATE.0, of_kernel]);
    }

    #[test]
    fn only_references_to_numbered_pages_are_translated() {
        let table = PageTable::shuffled(12, 1);
        let kernel = KERNEL_MODEL_BASE + 8;
        let mut operations = [
            Operation::new(OpKind::Write, 0x1008),
            Operation::new(OpKind::Acquire, 0x1008),
            Operation::new(OpKind::Read, kernel),
        ];
        translate(&mut operations, &table);
        assert_eq!(operations.map(|o| o.addr), [table.address(0x1008), 0x1008, kernel]);
    }
}
