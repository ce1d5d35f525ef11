//! Selects part of a trace.

mod functions;
mod open;
mod place;

use std::collections::BTreeSet;
use std::ops::Range;

use homenode_base::{Access, AccessKind};
use homenode_trace::{Event, EventKind, TraceReader};

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::{Dropped, TransformOutput};
use crate::param::TransformParam;
use crate::values::{RangeLimits, TransformValues};
use open::OpenSync;
use place::{Place, PlaceFinder, expected};

/// Keeps references by Time, thread, process, address, kernel or user mode, and between places of
/// the program: those that meet all conditions given.
///
/// Of the events before the interval of Time that is kept, those about memory and threads stay, at
/// the beginning, and those that began synchronisation still under way; within it, all events of
/// the threads that are kept, and those about memory of all threads; after it none.
pub const ENTRY: Entry = Entry {
    name: "select",
    summary: "keep an interval of Time, some threads, processes or addresses, or the kernel",
    source: "Time is the index of a data reference",
    params: &[
        TransformParam {
            name: "from",
            default: "",
            form: "PLACE",
            doc: "keep everything after the first of these: first-thread, first-barrier, time:P%, \
                  function:NAME, init-done, phase:ID or marker:TEXT",
        },
        TransformParam {
            name: "until",
            default: "",
            form: "PLACE",
            doc: "keep everything before the first of these after the beginning",
        },
        TransformParam {
            name: "time",
            default: "",
            form: "A-B",
            doc: "keep data references number A to B - 1, counted from 0",
        },
        TransformParam {
            name: "threads",
            default: "",
            form: "T,A-B",
            doc: "keep these threads (B is left out)",
        },
        TransformParam {
            name: "address",
            default: "",
            form: "A-B",
            doc: "keep references that touch bytes A to B - 1; several ranges with commas",
        },
        TransformParam {
            name: "pids",
            default: "",
            form: "P,A-B",
            doc: "keep references of these processes (B is left out)",
        },
        TransformParam {
            name: "kernel",
            default: "",
            form: "only|without",
            doc: "keep references flagged as made by the kernel, or the others",
        },
    ],
    pieces: false,
    several: false,
    build: |values, traces| {
        if values.words().is_empty() {
            return Err(values.error(
                "nothing says what to keep: give from, until, time, threads, address, pids or \
                 kernel"
                    .to_owned(),
            ));
        }
        let everything = || Range { start: 0, end: u64::MAX };
        let time = match values.ranges("time", RangeLimits::up_to(u64::MAX))?.as_deref() {
            None => everything(),
            Some([range]) => range.clone(),
            Some(_) => return Err(values.error("time: expected one range".to_owned())),
        };
        let from = finder(values, "from", &traces[0])?;
        Ok(Box::new(Select {
            time,
            stage: if from.is_some() { Stage::Before } else { Stage::Within },
            from,
            until: finder(values, "until", &traces[0])?,
            threads: values.ranges("threads", RangeLimits::up_to(THREAD_MAX).or_single())?,
            address: values.ranges("address", RangeLimits::up_to(u64::MAX))?,
            pids: values.ranges("pids", RangeLimits::up_to(u32::MAX.into()).or_single())?,
            kernel: kernel(values)?,
            next: 0,
            covered: 0,
            all: 0,
            kept: 0,
            marks: BTreeSet::new(),
            pending: Vec::new(),
            open: OpenSync::default(),
            entered: false,
            dropped: Dropped::default(),
        }))
    },
};

const THREAD_MAX: u64 = 65_534;

const MARKS_SHOWN: usize = 8;

fn finder(
    values: &TransformValues<'_>,
    name: &str,
    trace: &TraceReader,
) -> Result<Option<PlaceFinder>, TransformError> {
    let Some(text) = values.text(name) else { return Ok(None) };
    let fail = |problem: String| values.error(format!("{name}={text}: {problem}"));
    let place = Place::parse(text).ok_or_else(|| fail(expected(text)))?;
    PlaceFinder::new(place, trace).map(Some).map_err(fail)
}

/// Whether only references of the kernel are kept, or only all others.
fn kernel(values: &TransformValues<'_>) -> Result<Option<bool>, TransformError> {
    match values.text("kernel") {
        None => Ok(None),
        Some("only") => Ok(Some(true)),
        Some("without") => Ok(Some(false)),
        Some(text) => Err(values.error(format!("kernel={text}: expected only or without"))),
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    After,
}

struct Select {
    time: Range<u64>,
    from: Option<PlaceFinder>,
    until: Option<PlaceFinder>,
    threads: Option<Vec<Range<u64>>>,
    address: Option<Vec<Range<u64>>>,
    pids: Option<Vec<Range<u64>>>,
    kernel: Option<bool>,
    stage: Stage,
    next: u64,
    /// Data references within the interval of Time that is kept.
    covered: u64,
    all: u64,
    kept: u64,
    /// Events of the trace at which a selection could begin or end: some, for an error.
    marks: BTreeSet<Place>,
    pending: Vec<Event>,
    /// Synchronisation under way, and whether it has been emitted: at the beginning.
    open: OpenSync,
    entered: bool,
    dropped: Dropped,
}

impl Select {
    /// Whether the present Time is before, within or after the interval that is kept.
    fn stage(&self) -> Stage {
        if self.stage == Stage::After || self.next >= self.time.end {
            Stage::After
        } else if self.stage == Stage::Within && self.next >= self.time.start {
            Stage::Within
        } else {
            Stage::Before
        }
    }

    fn keeps_thread(&self, thread: u16) -> bool {
        holds(self.threads.as_ref(), u64::from(thread))
    }

    fn keeps(&self, access: &Access) -> bool {
        let last = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
        let touches = |range: &Range<u64>| access.addr < range.end && last >= range.start;
        self.address.as_ref().is_none_or(|all| all.iter().any(touches))
            && holds(self.pids.as_ref(), u64::from(access.pid))
            && self.kernel.is_none_or(|wanted| access.flags.by_kernel() == wanted)
    }

    fn pass(&mut self, begins: bool, ends: bool) {
        if self.stage == Stage::Before && begins {
            self.stage = Stage::Within;
        } else if self.stage() == Stage::Within && ends {
            self.stage = Stage::After;
        }
    }

    fn emit_pending(&mut self, out: &mut TransformOutput) {
        for event in std::mem::take(&mut self.pending) {
            self.emit(event, out);
        }
    }

    fn emit(&mut self, event: Event, out: &mut TransformOutput) {
        let keep = match self.stage() {
            Stage::Before => {
                self.open.event(&event);
                is_about_memory(&event.what)
                    || (event.what.is_about_threads() && self.keeps_thread(event.thread))
            }
            Stage::Within => {
                self.enter(out);
                is_about_memory(&event.what) || self.keeps_thread(event.thread)
            }
            Stage::After => false,
        };
        if keep {
            out.event(event);
        }
    }

    /// Emits the events that the selection needs at its beginning.
    fn enter(&mut self, out: &mut TransformOutput) {
        if self.entered {
            return;
        }
        self.entered = true;
        for event in self.open.take() {
            if self.keeps_thread(event.thread) {
                out.event(event);
            }
        }
    }
}

fn holds(ranges: Option<&Vec<Range<u64>>>, number: u64) -> bool {
    ranges.is_none_or(|all| all.iter().any(|range| range.contains(&number)))
}

fn is_about_memory(what: &EventKind) -> bool {
    matches!(
        what,
        EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::Unmap { .. }
    )
}

impl Transform for Select {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let begins = self.from.as_mut().is_some_and(|from| from.access(access, self.next));
        let ends = self.until.as_mut().is_some_and(|until| until.access(access, self.next));
        self.pass(begins, ends);
        self.emit_pending(out);
        let stage = self.stage();
        let data = u64::from(access.kind != AccessKind::Fetch);
        self.next += data;
        self.all += 1;
        if stage != Stage::Within {
            return;
        }
        self.enter(out);
        self.covered += data;
        if !self.keeps_thread(access.thread) {
            return;
        }
        if self.keeps(access) {
            self.kept += 1;
            out.access(&self.dropped.keep(access));
        } else if access.kind != AccessKind::Fetch {
            self.dropped.drop(access);
        }
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.marks.len() < MARKS_SHOWN {
            self.marks.extend(Place::of(&event.what));
        }
        let begins = self.from.as_mut().is_some_and(|from| from.event(event));
        let ends = self.until.as_mut().is_some_and(|until| until.event(event));
        if begins || ends {
            self.emit_pending(out);
            self.pass(begins, ends);
        }
        // An event belongs to the reference after it, at which the selection may begin or end.
        self.pending.push(event.clone());
    }

    fn finish(&mut self, out: &mut TransformOutput) {
        self.emit_pending(out);
    }

    fn check(&self) -> Result<(), TransformError> {
        let fail = |problem| Err(TransformError::Parameter { transform: ENTRY.name, problem });
        let marks: Vec<String> = self.marks.iter().map(Place::to_string).collect();
        if let (Some(from), Stage::Before) = (&self.from, self.stage) {
            return fail(format!("from={}: {}", from.place, from.missing(&marks)));
        }
        if let (Some(until), Stage::Before | Stage::Within) = (&self.until, self.stage())
            && self.all > 0
        {
            let missing = until.missing(&marks);
            return fail(format!("until={}: after the beginning, {missing}", until.place));
        }
        if self.kept == 0 && self.all > 0 {
            return fail(format!(
                "nothing is left: of {} references none meets every condition; `homenode info` \
                 shows what the trace has",
                self.all
            ));
        }
        Ok(())
    }

    fn covered(&self) -> Option<u64> {
        Some(self.covered)
    }
}
