//! Turns the recording of a whole system into a mix: one thread for each process.

mod choice;
mod page;
mod survey;
mod switches;
mod tally;

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::{
    Event, EventKind, Metadata, MovedRange, ProcessorAreas, TraceProgress, TraceReader,
};
use rustc_hash::{FxHashMap, FxHashSet};

use self::choice::ProcessSelector;
use self::page::PAGE_BYTES;
use self::survey::RecordingSurvey;
use self::switches::{Departure, IDLE, Switching};
use self::tally::ProcessTally;
use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::TransformParam;
use crate::report::{
    AreaReferences, Mix, MixPages, OmittedFromMix, ReferenceTotals, Switches, TransformReport,
};
use crate::values::TransformValues;

/// Most renumbered pages that keep their names.
const MOVED_MAX: usize = 1 << 17;
/// The system call that marks where a process waited: `poll` of Linux on x86-64. Recordings of
/// whole systems have no other system call events.
const WAIT_CALL: u32 = 7;

/// In a recording of a whole system threads are processors. Here each process becomes a thread with
/// all its references in order, whatever processor it ran on, including those of the kernel and of
/// interrupts while it ran. The order of the remaining references is that of the recording.
/// References of idle processors are omitted.
///
/// A reference that straddles pages is cut at the end of the first: a recording has the physical
/// address of the first byte only, and the next virtual page is in another frame, whose address is
/// unknown.
///
/// Pages that only one process references in user mode are its private areas; so are, for
/// references by the kernel, pages that the kernel references for this process alone.
///
/// The trace is read twice, as the processes and the owners of pages must be known first. Memory is
/// proportional to pages and processes, not to references.
pub const ENTRY: Entry = Entry {
    name: "processes",
    summary: "make a recording of a whole system a mix: one thread for each process",
    source: "Foglia, Giorgi and Prete 2004, section 4: process traces, for other processors",
    params: &[
        TransformParam {
            name: "processes",
            default: "",
            form: "NAME=N,NAME,PID",
            doc: "keep the N most active processes of a name (N is 1 if left out) and those with a \
                  number, in this order; without it, all",
        },
        TransformParam {
            name: "references",
            default: "",
            form: "N",
            doc: "end after N references of the mix, fetches included",
        },
        TransformParam {
            name: "each",
            default: "",
            form: "N",
            doc: "keep the first N references of each process, fetches included",
        },
    ],
    pieces: false,
    several: false,
    build,
};

fn build<'a>(
    values: &TransformValues<'_>,
    traces: &'a [TraceReader],
) -> Result<Box<dyn Transform + 'a>, TransformError> {
    let trace = &traces[0];
    let columns = trace.columns();
    if !columns.pid || !columns.flags {
        let lacks = if columns.pid { "was made by the kernel" } else { "is of which process" };
        return Err(values.error(format!(
            "the trace does not say which reference {lacks}: it takes a recording of a whole \
             system, as homenode record --via qemu-system makes, or an import with the columns pid \
             and kernel"
        )));
    }
    let wanted = values.text("processes").map(choice::parse).transpose();
    Ok(Box::new(Processes {
        trace,
        wanted: wanted.map_err(|problem| values.error(problem))?,
        left: values.count("references", 1..=u64::MAX)?.unwrap_or(u64::MAX),
        each: values.count("each", 1..=u64::MAX)?.unwrap_or(u64::MAX),
        survey: RecordingSurvey::default(),
        thread_of: FxHashMap::default(),
        tallies: Vec::new(),
        switching: Switching::new(trace.metadata()),
        areas: trace.metadata().find_processor_areas(),
        out: OmittedFromMix::default(),
        code: FxHashSet::default(),
        covered: 0,
        cut: 0,
    }))
}

struct Processes<'a> {
    trace: &'a TraceReader,
    /// The selected processes; `None` for all.
    wanted: Option<Vec<ProcessSelector>>,
    /// References until the mix is full.
    left: u64,
    each: u64,
    survey: RecordingSurvey,
    thread_of: FxHashMap<u32, u16>,
    tallies: Vec<ProcessTally>,
    switching: Switching,
    areas: Option<ProcessorAreas>,
    out: OmittedFromMix,
    code: FxHashSet<u64>,
    /// Data references of the recording up to the end of the mix.
    covered: u64,
    /// References of the mix that were cut at the end of a page.
    cut: u64,
}

impl Processes<'_> {
    /// The reference with its actual process: a context switch references the next process's stack
    /// before the recorder learns of that process.
    fn with_actual_process(&self, access: &Access) -> Access {
        let kernel = access.flags.contains(Flags::KERNEL);
        let switches = kernel && self.switching.is_switching(access.thread);
        let owner = if switches { self.survey.kernel_owner(access.addr) } else { None };
        Access { pid: owner.unwrap_or(access.pid), ..*access }
    }

    /// A process left its processor. Only a wait is marked: a preempted process is ready, and when
    /// it continues is up to the simulated scheduler.
    fn process_left(&mut self, departure: &Departure, out: &mut TransformOutput) {
        let Some(&thread) = self.thread_of.get(&departure.pid) else { return };
        let tally = &mut self.tallies[usize::from(thread)];
        if departure.runs_elsewhere {
            tally.parallel = true;
        } else if departure.preempted {
            tally.switches.preemptions += 1;
        } else {
            tally.switches.waits += 1;
            if tally.references.all() < self.each {
                out.event(Event { thread, what: EventKind::SyscallEnter { number: WAIT_CALL } });
            }
        }
    }

    fn mix(&self) -> Mix {
        let (tallies, survey) = (&self.tallies[..], &self.survey);
        let sum = |of: fn(&ProcessTally) -> u64| tallies.iter().map(of).sum();
        let [all, shared] = survey.pages();
        let there = survey.processes.keys().filter(|&&pid| pid != IDLE).count();
        let areas = AreaReferences {
            own: sum(|tally| tally.areas.own),
            others: sum(|tally| tally.areas.others),
        };
        Mix {
            processes: (0..).zip(tallies).map(|(thread, tally)| tally.row(thread)).collect(),
            references: ReferenceTotals {
                user: sum(|tally| tally.references.user),
                kernel: sum(|tally| tally.references.kernel),
            },
            pages: MixPages { bytes: PAGE_BYTES, all, shared },
            frames_renamed: survey.renamed.len() as u64,
            cut_at_pages: self.cut,
            switches: Switches {
                waits: sum(|tally| tally.switches.waits),
                preemptions: sum(|tally| tally.switches.preemptions),
            },
            switches_told_apart: self.switching.knows_preemptions(),
            processor_areas: self.areas.is_some().then_some(areas),
            left_out: OmittedFromMix { processes: (there - tallies.len()) as u64, ..self.out },
        }
    }
}

/// The process of a recorder's marker that names one: `process 124 postgres`.
fn named(what: &EventKind) -> Option<u32> {
    let EventKind::Marker { text } = what else { return None };
    text.strip_prefix("process ")?.split(' ').next()?.parse().ok()
}

fn is_of_all(what: &EventKind) -> bool {
    matches!(what, EventKind::InitDone | EventKind::Phase { .. } | EventKind::Marker { .. })
}

impl Transform for Processes<'_> {
    fn prepare(&mut self, progress: &mut TraceProgress<'_>) -> Result<u64, TransformError> {
        let fail = |problem| TransformError::Parameter { transform: ENTRY.name, problem };
        self.survey =
            RecordingSurvey::of(self.trace, &self.switching, self.areas.as_ref(), progress)?;
        let known = &self.trace.metadata().processes;
        if known.is_empty() && !self.survey.is_whole_system() {
            return Err(fail(
                "the trace is not of a whole system: in one, threads are processors and run \
                 several processes, and some references are the kernel's"
                    .to_owned(),
            ));
        }
        let chosen = choice::choose(self.wanted.as_deref(), &self.survey, known).map_err(fail)?;
        for (thread, process) in (0..).zip(chosen) {
            self.thread_of.insert(process.pid, thread);
            let private_pages = self.survey.private_pages(process.pid);
            self.tallies.push(ProcessTally::new(process, private_pages));
        }
        Ok(self.trace.rows())
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        if self.left == 0 {
            self.out.after_the_end += 1;
            return;
        }
        if let Some(departure) = self.switching.reference(access) {
            self.process_left(&departure, out);
        }
        self.covered += u64::from(access.kind != AccessKind::Fetch);
        let access = &self.with_actual_process(access);
        let (addr, private) = self.survey.refer(access);
        let Some(&thread) = self.thread_of.get(&access.pid) else {
            self.out.count(access);
            return;
        };
        let tally = &mut self.tallies[usize::from(thread)];
        if tally.references.all() == self.each {
            self.out.after_the_end += 1;
            return;
        }
        self.left -= 1;
        self.code.insert(access.pc);
        if self.areas.is_some() && tally.processor.replace(access.thread) != Some(access.thread) {
            let text = format!("processor {}", access.thread);
            out.event(Event { thread, what: EventKind::Marker { text } });
        }
        let area = self.areas.as_ref().and_then(|areas| areas.find(access.addr));
        tally.areas.count(area.map(|(area, _)| area == usize::from(access.thread)));
        let kernel = access.flags.contains(Flags::KERNEL);
        if kernel {
            tally.references.kernel += 1;
        } else {
            tally.references.user += 1;
            tally.private_references += u64::from(private);
        }
        let room = u8::try_from(PAGE_BYTES - addr % PAGE_BYTES).unwrap_or(u8::MAX);
        self.cut += u64::from(access.size > room);
        let flag = if private { Flags::PRIVATE } else { Flags(0) };
        let (size, flags) = (access.size.min(room), access.flags.union(flag));
        out.access(&Access { thread, addr, size, flags, ..*access });
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.left == 0 || event.what.is_about_threads() {
            return;
        }
        let of_process = |pid: u32| self.thread_of.get(&pid).copied();
        let runs = self.switching.runs(event.thread).and_then(of_process);
        let thread = match named(&event.what) {
            Some(pid) => of_process(pid),
            None if is_of_all(&event.what) => Some(runs.unwrap_or(0)),
            None => runs,
        };
        if let Some(thread) = thread {
            out.event(Event { thread, what: event.what.clone() });
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        metadata.processes = self.tallies.iter().map(|tally| tally.process.clone()).collect();
        metadata.processes.sort_by_key(|process| process.pid);
        metadata.processor_areas.clone_from(&self.areas);
        let moved = |&(page, from): &(u64, u64)| MovedRange {
            start: page.wrapping_mul(PAGE_BYTES),
            size: PAGE_BYTES,
            from: from * PAGE_BYTES,
        };
        metadata.moved.extend(self.survey.renamed.iter().take(MOVED_MAX).map(moved));
        metadata.moved.sort_by_key(|range| range.start);
        // Without this a short mix of a long recording would be mostly names.
        metadata.lines.retain(|line| self.code.contains(&line.pc));
    }

    fn report(&self, _metadata: &Metadata) -> Option<TransformReport> {
        Some(TransformReport::Mixed(Box::new(self.mix())))
    }

    fn covered(&self) -> Option<u64> {
        (self.left == 0).then_some(self.covered)
    }
}
