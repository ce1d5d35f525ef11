//! Selects part of a trace.

use std::collections::BTreeSet;
use std::fmt;
use std::ops::Range;

use homenode_base::{Access, AccessKind, Flags};

use super::output::{Dropped, TransformOutput, walk};
use super::values::TransformValues;
use super::{Entry, Transform, TransformError, TransformParam};
use crate::error::TraceError;
use crate::model::{Batch, Event, EventKind};

/// Keeps references by Time, thread, process, address, kernel or user mode, and between markers:
/// those that meet all conditions given.
///
/// Of the events before the interval of Time that is kept, those about memory and threads stay, at
/// the beginning; within it, all events of the threads that are kept, and those about memory of all
/// threads; after it none.
pub const ENTRY: Entry = Entry {
    name: "select",
    summary: "keep a stretch of Time, some threads, processes or addresses, or the kernel",
    source: "Time is the index of a data reference",
    params: &[
        TransformParam {
            name: "time",
            default: "",
            form: "A-B",
            doc: "keep data references number A to B - 1, counted from 0",
        },
        TransformParam {
            name: "begin",
            default: "",
            form: "EVENT",
            doc: "keep what follows the first of these: init-done, phase:ID or marker:TEXT",
        },
        TransformParam {
            name: "end",
            default: "",
            form: "EVENT",
            doc: "keep what comes before the first of these after the beginning",
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
    build: |values, _| {
        if values.words().is_empty() {
            return Err(values.error(
                "nothing says what to keep: give time, begin, end, threads, address, pids or kernel"
                    .to_owned(),
            ));
        }
        let everything = || Range { start: 0, end: u64::MAX };
        let time = match values.ranges("time", (false, u64::MAX))?.as_deref() {
            None => everything(),
            Some([range]) => range.clone(),
            Some(_) => return Err(values.error("time: expected one range".to_owned())),
        };
        let begin = mark(values, "begin")?;
        Ok(Box::new(Select {
            time,
            stage: if begin.is_some() { Stage::Before } else { Stage::Within },
            begin,
            end: mark(values, "end")?,
            threads: values.ranges("threads", (true, THREAD_MAX))?,
            address: values.ranges("address", (false, u64::MAX))?,
            pids: values.ranges("pids", (true, u32::MAX.into()))?,
            kernel: kernel(values)?,
            next: 0,
            covered: 0,
            all: 0,
            kept: 0,
            marks: BTreeSet::new(),
            dropped: Dropped::default(),
        }))
    },
};

/// Highest number of a thread.
const THREAD_MAX: u64 = 65_534;

/// Most events that an error lists.
const MARKS_SHOWN: usize = 8;

/// An event that begins or ends what is kept.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Mark {
    InitDone,
    Phase(u32),
    Marker(String),
}

impl Mark {
    /// The mark that an event is, if it is one.
    fn of(what: &EventKind) -> Option<Self> {
        if let EventKind::Phase { id } = what {
            return Some(Self::Phase(*id));
        }
        if let EventKind::Marker { text } = what {
            return Some(Self::Marker(text.clone()));
        }
        (*what == EventKind::InitDone).then_some(Self::InitDone)
    }

    fn is(&self, what: &EventKind) -> bool {
        match self {
            Self::InitDone => matches!(what, EventKind::InitDone),
            Self::Phase(wanted) => matches!(what, EventKind::Phase { id } if id == wanted),
            Self::Marker(wanted) => matches!(what, EventKind::Marker { text } if text == wanted),
        }
    }
}

/// As users write it.
impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InitDone => f.write_str("init-done"),
            Self::Phase(id) => write!(f, "phase:{id}"),
            Self::Marker(text) => write!(f, "marker:{text}"),
        }
    }
}

fn mark(values: &TransformValues<'_>, name: &str) -> Result<Option<Mark>, TransformError> {
    let Some(text) = values.text(name) else { return Ok(None) };
    let found = match text.split_once(':') {
        None if text == "init-done" => Some(Mark::InitDone),
        Some(("phase", id)) => id.parse().ok().map(Mark::Phase),
        Some(("marker", text)) => Some(Mark::Marker(text.to_owned())),
        None | Some(_) => None,
    };
    let expected =
        || values.error(format!("{name}={text}: expected init-done, phase:ID, marker:TEXT"));
    found.map(Some).ok_or_else(expected)
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

/// Position of the walk relative to the marks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Before,
    Within,
    After,
}

struct Select {
    time: Range<u64>,
    begin: Option<Mark>,
    end: Option<Mark>,
    threads: Option<Vec<Range<u64>>>,
    address: Option<Vec<Range<u64>>>,
    pids: Option<Vec<Range<u64>>>,
    kernel: Option<bool>,
    stage: Stage,
    /// Time of the next data reference.
    next: u64,
    /// Data references within the interval of Time that is kept.
    covered: u64,
    /// References and fetches of the trace, and those of them that are kept.
    all: u64,
    kept: u64,
    /// Events of the trace that could begin or end something: some, for an error.
    marks: BTreeSet<Mark>,
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

    /// Whether a reference of a thread that is kept is kept.
    fn keeps(&self, access: &Access) -> bool {
        let last = access.addr.saturating_add(u64::from(access.size).saturating_sub(1));
        let touches = |range: &Range<u64>| access.addr < range.end && last >= range.start;
        self.address.as_ref().is_none_or(|all| all.iter().any(touches))
            && holds(self.pids.as_ref(), u64::from(access.pid))
            && self.kernel.is_none_or(|wanted| access.flags.contains(Flags::KERNEL) == wanted)
    }

    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let stage = self.stage();
        let data = u64::from(access.kind != AccessKind::Fetch);
        self.next += data;
        self.all += 1;
        if stage != Stage::Within {
            return;
        }
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
            self.marks.extend(Mark::of(&event.what));
        }
        if self.stage == Stage::Before && self.begin.as_ref().is_some_and(|m| m.is(&event.what)) {
            self.stage = Stage::Within;
        } else if self.stage() == Stage::Within
            && self.end.as_ref().is_some_and(|m| m.is(&event.what))
        {
            self.stage = Stage::After;
        }
        let keep = match self.stage() {
            Stage::Before => {
                is_about_memory(&event.what)
                    || (event.what.is_about_threads() && self.keeps_thread(event.thread))
            }
            Stage::Within => is_about_memory(&event.what) || self.keeps_thread(event.thread),
            Stage::After => false,
        };
        if keep {
            out.event(event.clone());
        }
    }
}

/// Whether a number is in one of the ranges, if there are any.
fn holds(ranges: Option<&Vec<Range<u64>>>, number: u64) -> bool {
    ranges.is_none_or(|all| all.iter().any(|range| range.contains(&number)))
}

/// Whether the event is about memory.
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
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        let state = &mut (self, out);
        walk(
            input,
            state,
            |(s, out), access| s.access(access, out),
            |(s, out), event| {
                s.event(event, out);
            },
        );
        Ok(())
    }

    fn check(&self) -> Result<(), TransformError> {
        let fail = |problem| Err(TransformError::Parameter { transform: ENTRY.name, problem });
        let marks: Vec<String> = self.marks.iter().map(Mark::to_string).collect();
        let there = if marks.is_empty() { "none".to_owned() } else { marks.join(", ") };
        if let (Some(begin), Stage::Before) = (&self.begin, self.stage) {
            return fail(format!("begin={begin}: the trace has no such event; it has {there}"));
        }
        if let (Some(end), Stage::Before | Stage::Within) = (&self.end, self.stage())
            && self.all > 0
        {
            return fail(format!(
                "end={end}: the trace has no such event after the beginning; it has {there}"
            ));
        }
        if self.kept == 0 && self.all > 0 {
            return fail(format!(
                "nothing is left: of {} references none meets every condition; `homenode info` \
                 tells what the trace has",
                self.all
            ));
        }
        Ok(())
    }

    fn covered(&self) -> Option<u64> {
        Some(self.covered)
    }
}
