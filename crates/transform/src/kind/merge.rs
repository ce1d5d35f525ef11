//! Merges the traces of several processes into one.

mod input;
mod metadata;
mod relocation;
mod survey;

use std::ops::Range;

use homenode_base::{Access, Flags};
use homenode_trace::{
    Batch, Columns, Event, EventKind, Metadata, TraceError, TraceProgress, TraceReader,
};
use rustc_hash::FxHashMap;

use self::input::MergeInput;
use self::relocation::{PAGE_BYTES, Relocation};
use self::survey::{MergeSurvey, NAME, fail};
use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::TransformParam;
use crate::queue::Record;
use crate::report::{MergeReport, MergedProcess, TransformReport};
use crate::values::{RangeLimits, TransformValues};

const ITEMS_MAX: u32 = 1 << 16;

/// Each trace is one process, with an address space of its own. Its threads are numbered after
/// those of the traces before it, and its addresses are relocated by a multiple of a power of two
/// above all addresses. So blocks, pages, locks and program counters of two processes are distinct,
/// while within a process all address arithmetic, such as cache sets, is unchanged. Memory that is
/// declared shared is not relocated.
///
/// Processes take turns of a quantum of references until they end. The order within a process is
/// unchanged.
///
/// Events are read ahead once, for their threads and addresses. Memory grows with the number of
/// traces, of which one chunk each is held, not with their length.
pub const ENTRY: Entry = Entry {
    name: NAME,
    summary: "put traces of several processes together, each with addresses of its own",
    source: "Foglia, Giorgi and Prete 2004, section 4: a workload of process traces",
    params: &[
        TransformParam {
            name: "quantum",
            default: "100",
            form: "N",
            doc: "references, fetches included, that a process makes before the turn of the next \
                  one",
        },
        TransformParam {
            name: "shared",
            default: "",
            form: "LO-HI",
            doc: "addresses at which all processes have the same memory, LO to HI - 1, whole pages \
                  of 4096 bytes; several ranges with commas",
        },
        TransformParam {
            name: "private",
            default: "auto",
            form: "auto|keep",
            doc: "auto: references of a process with one thread are private, except to shared \
                  memory; keep: only those that its recording marks as private",
        },
    ],
    pieces: false,
    several: true,
    build: |values, traces| {
        let quantum = values.count("quantum", 1..=1 << 40)?.unwrap_or(1);
        let marks_private = values.choice("private", &["auto", "keep"])? == 0;
        let shared = shared(values)?;
        Ok(Box::new(Merge {
            traces,
            quantum,
            marks_private,
            shared,
            inputs: Vec::new(),
            relocations: Vec::new(),
            turn: 0,
            left: quantum,
            pids: FxHashMap::default(),
        }))
    },
};

/// Ranges of shared memory, in order, adjacent ones joined.
fn shared(values: &TransformValues<'_>) -> Result<Vec<Range<u64>>, TransformError> {
    let mut ranges = values.ranges("shared", RangeLimits::up_to(u64::MAX))?.unwrap_or_default();
    ranges.sort_by_key(|range| range.start);
    let mut found: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        if range.start % PAGE_BYTES != 0 || range.end % PAGE_BYTES != 0 {
            return Err(values.error(format!(
                "shared={:#x}-{:#x}: expected the first byte of a page and, after it, that of \
                 another one: multiples of {PAGE_BYTES}",
                range.start, range.end
            )));
        }
        match found.last_mut() {
            Some(last) if last.end >= range.start => last.end = last.end.max(range.end),
            Some(_) | None => found.push(range),
        }
    }
    Ok(found)
}

struct Merge<'a> {
    traces: &'a [TraceReader],
    quantum: u64,
    marks_private: bool,
    shared: Vec<Range<u64>>,
    inputs: Vec<MergeInput>,
    relocations: Vec<Relocation>,
    turn: usize,
    /// References left of it.
    left: u64,
    /// Processes of the new trace by trace and process there.
    pids: FxHashMap<(usize, u32), u32>,
}

impl Merge<'_> {
    /// Emits what can be emitted before another chunk must be read, up to a bound. Returns whether
    /// it emitted anything.
    fn advance(&mut self, out: &mut TransformOutput) -> bool {
        let mut items = 0;
        loop {
            while self.left > 0 && items < ITEMS_MAX {
                match self.inputs[self.turn].next() {
                    Some(Record::Access(access)) => {
                        self.left -= 1;
                        self.access(&access, out);
                    }
                    Some(Record::Event(event)) => self.event(&event, out),
                    None => break,
                }
                items += 1;
            }
            if items == ITEMS_MAX {
                return true;
            }
            let reads = self.left > 0 && !self.inputs[self.turn].is_finished();
            if reads || !self.next_turn() {
                return items > 0;
            }
        }
    }

    fn next_turn(&mut self) -> bool {
        let count = self.inputs.len();
        let next = (1..=count).map(|step| (self.turn + step) % count);
        let Some(next) = next.into_iter().find(|&next| !self.inputs[next].is_finished()) else {
            return false;
        };
        (self.turn, self.left) = (next, self.quantum);
        true
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let number = self.turn;
        let pid = self.pid(access.pid);
        let (own, relocation) = (&mut self.inputs[number], &self.relocations[number]);
        let thread = own.thread(access.thread);
        if own.is_first_reference() {
            for range in &self.shared {
                let (addr, size) = (range.start, range.end - range.start);
                let what = EventKind::Map { addr, size, shared: true, object: String::new() };
                out.event(Event { thread, what });
            }
        }
        let private =
            own.marks_private && !relocation.stays(access.addr) && !own.is_shared(access.addr);
        let flags = if private { access.flags.union(Flags::PRIVATE) } else { access.flags };
        own.private_references += u64::from(flags.contains(Flags::PRIVATE));
        let (addr, pc) = (relocation.address(access.addr), relocation.code(access.pc));
        out.access(&Access { thread, addr, pc, pid, flags, ..*access });
    }

    fn pid(&mut self, pid: u32) -> u32 {
        let number = self.turn;
        if let Some((_, known)) = self.inputs[number].last_pid.filter(|&(old, _)| old == pid) {
            return known;
        }
        let known = self.pids.get(&(number, pid)).copied().unwrap_or_else(|| {
            let first = u32::try_from(number + 1).unwrap_or(u32::MAX);
            let further = self.inputs.iter().map(|own| own.further_pids.len()).sum::<usize>();
            let new = if self.inputs[number].last_pid.is_none() {
                first
            } else {
                let new = u32::try_from(self.inputs.len() + further + 1).unwrap_or(u32::MAX);
                self.inputs[number].further_pids.push(new);
                new
            };
            self.pids.insert((number, pid), new);
            new
        });
        self.inputs[number].last_pid = Some((pid, known));
        known
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        let (own, relocation) = (&mut self.inputs[self.turn], &self.relocations[self.turn]);
        let thread = own.thread(event.thread);
        own.update_mappings(&event.what);
        let mut emit = |what| out.event(Event { thread, what });
        // Shared memory is mapped once, for all processes.
        if let EventKind::Map { addr, size, shared, object } = &event.what {
            for part in relocation.parts(*addr, *size).filter(|part| !part.stays) {
                let (addr, size, object) = (part.start, part.size, object.clone());
                emit(EventKind::Map { addr, size, shared: *shared, object });
            }
        } else if let EventKind::Unmap { addr, size } = event.what {
            for part in relocation.parts(addr, size).filter(|part| !part.stays) {
                emit(EventKind::Unmap { addr: part.start, size: part.size });
            }
        } else {
            let mut what = relocation.event(&event.what);
            if let EventKind::ThreadCreate { child } | EventKind::ThreadJoin { child } = &mut what {
                *child = own.thread(*child);
            }
            emit(what);
        }
    }
}

impl Merge<'_> {
    fn merge_report(&self) -> MergeReport {
        let traces = self.traces.iter().zip(&self.inputs).zip(&self.relocations);
        let process = |(number, ((trace, own), relocation)): (u32, _)| {
            let (trace, own): (&TraceReader, &MergeInput) = (trace, own);
            let relocation: &Relocation = relocation;
            let mut pids = vec![number];
            pids.extend(&own.further_pids);
            MergedProcess {
                trace: trace.path().display().to_string(),
                checksum: trace.checksum(),
                program: trace.metadata().program.clone(),
                pids,
                first_thread: own.first,
                threads: own.threads,
                offset: relocation.offset,
                references: trace.references(),
                private_references: own.private_references,
            }
        };
        MergeReport {
            processes: (1..).zip(traces).map(process).collect(),
            shared: self.shared.iter().map(|range| (range.start, range.end)).collect(),
        }
    }
}

impl Transform for Merge<'_> {
    fn prepare(&mut self, progress: &mut TraceProgress<'_>) -> Result<u64, TransformError> {
        let survey = MergeSurvey::of(self.traces, &self.shared, progress)?;
        let stride = survey.stride().map_err(fail)?;
        let mut first = 0;
        for (trace, process) in self.traces.iter().zip(&survey.processes) {
            let number = self.inputs.len() as u64;
            let mut own = MergeInput::new(trace, first, process.threads);
            own.marks_private = self.marks_private && process.single_threaded;
            self.inputs.push(own);
            self.relocations.push(Relocation::new(number * stride, stride, &self.shared));
            first += process.threads;
        }
        if self.inputs[self.turn].is_finished() {
            self.next_turn();
        }
        Ok(survey.rows)
    }

    fn wants(&self) -> usize {
        self.turn
    }

    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        self.inputs[self.turn].fill(input);
        self.advance(out);
        Ok(())
    }

    fn more(&mut self, out: &mut TransformOutput) -> bool {
        self.advance(out)
    }

    fn columns(&self, given: Columns) -> Columns {
        let has = |column: fn(Columns) -> bool| self.traces.iter().any(|t| column(t.columns()));
        Columns {
            pc: has(|columns| columns.pc),
            gap: has(|columns| columns.gap),
            pid: true,
            flags: given.flags
                || has(|columns| columns.flags)
                || self.inputs.iter().any(|own| own.marks_private),
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        *metadata = metadata::merged(self.traces, &self.inputs, &self.relocations, self.quantum);
    }

    fn report(&self, _metadata: &Metadata) -> Option<TransformReport> {
        Some(TransformReport::Merged(Box::new(self.merge_report())))
    }
}
