//! Places of a trace at which a selection begins or ends, and how they are found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use homenode_base::{Access, AccessKind};
use homenode_trace::{Event, EventKind, TraceReader};

use super::functions;

const FORMS: &str =
    "first-thread, first-barrier, time:P%, function:NAME, init-done, phase:ID or marker:TEXT";

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    InitDone,
    Phase(u32),
    Marker(String),
    /// The first data reference of a second thread.
    FirstThread,
    FirstBarrier,
    /// Where this share of the data references has been made, in hundredths of a percent.
    Share(u32),
    Function(String),
}

impl Place {
    pub(super) fn parse(text: &str) -> Option<Self> {
        match text {
            "init-done" => return Some(Self::InitDone),
            "first-thread" => return Some(Self::FirstThread),
            "first-barrier" => return Some(Self::FirstBarrier),
            _ => {}
        }
        let (form, value) = text.split_once(':')?;
        match form {
            "phase" => value.parse().ok().map(Self::Phase),
            "marker" | "mark" => Some(Self::Marker(value.to_owned())),
            "time" => hundredths(value.strip_suffix('%')?).map(Self::Share),
            "function" if !value.is_empty() => Some(Self::Function(value.to_owned())),
            _ => None,
        }
    }

    /// The place of an event that the program marked, if it is one.
    pub(super) fn of(what: &EventKind) -> Option<Self> {
        if let EventKind::Phase { id } = what {
            return Some(Self::Phase(*id));
        }
        if let EventKind::Marker { text } = what {
            return Some(Self::Marker(text.clone()));
        }
        (*what == EventKind::InitDone).then_some(Self::InitDone)
    }

    fn is(&self, what: &EventKind) -> bool {
        match (self, what) {
            (Self::InitDone, EventKind::InitDone) => true,
            (Self::Phase(wanted), EventKind::Phase { id }) => wanted == id,
            (Self::Marker(wanted), EventKind::Marker { text }) => wanted == text,
            _ => false,
        }
    }
}

pub(super) fn expected(text: &str) -> String {
    let why = if text.starts_with("time:") {
        "; P is below 100, as no reference is at 100 %, and has at most two decimals"
    } else {
        ""
    };
    format!("expected {FORMS}{why}")
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InitDone => f.write_str("init-done"),
            Self::Phase(id) => write!(f, "phase:{id}"),
            Self::Marker(text) => write!(f, "marker:{text}"),
            Self::FirstThread => f.write_str("first-thread"),
            Self::FirstBarrier => f.write_str("first-barrier"),
            Self::Share(share) => write!(f, "time:{}%", f64::from(*share) / 100.0),
            Self::Function(name) => write!(f, "function:{name}"),
        }
    }
}

/// A percentage with at most two decimals, below 100, in hundredths.
fn hundredths(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if whole.is_empty() || whole.len() > 2 || part.len() > 2 || !digits(whole) || !digits(part) {
        return None;
    }
    format!("{whole}{part:0<2}").parse().ok()
}

pub(super) struct PlaceFinder {
    pub(super) place: Place,
    /// For [`Place::Share`], the Time.
    time: u64,
    /// For [`Place::Function`], the program counters of its references, in order.
    counters: Vec<u64>,
    /// For [`Place::FirstThread`], the thread of the first data reference.
    first: Option<u16>,
    found: bool,
    barriers: Barriers,
}

impl PlaceFinder {
    /// Finds a place in a trace.
    ///
    /// # Errors
    /// When the trace has no function with the name, with similar names.
    pub(super) fn new(place: Place, trace: &TraceReader) -> Result<Self, String> {
        let counters = if let Place::Function(name) = &place {
            functions::counters(name, &trace.metadata().lines)?
        } else {
            Vec::new()
        };
        let share = if let Place::Share(share) = place { share } else { 0 };
        let time = u128::from(trace.references()) * u128::from(share) / 10_000;
        // The quotient is at most the number of references.
        let time = u64::try_from(time).unwrap_or(u64::MAX);
        let barriers = Barriers::default();
        Ok(Self { place, time, counters, first: None, found: false, barriers })
    }

    pub(super) fn event(&mut self, event: &Event) -> bool {
        if self.place == Place::FirstBarrier {
            return self.barriers.event(event);
        }
        self.place.is(&event.what)
    }

    /// Whether the place is at this reference; `time` is that of the next data reference.
    pub(super) fn access(&mut self, access: &Access, time: u64) -> bool {
        match self.place {
            Place::FirstThread => self.is_second(access) && self.once(),
            Place::Share(_) => time >= self.time && self.once(),
            Place::Function(_) => self.counters.binary_search(&access.pc).is_ok(),
            Place::InitDone | Place::Phase(_) | Place::Marker(_) | Place::FirstBarrier => false,
        }
    }

    fn is_second(&mut self, access: &Access) -> bool {
        access.kind != AccessKind::Fetch
            && *self.first.get_or_insert(access.thread) != access.thread
    }

    fn once(&mut self) -> bool {
        !std::mem::replace(&mut self.found, true)
    }

    pub(super) fn missing(&self, marks: &[String]) -> String {
        let there = if marks.is_empty() { "none".to_owned() } else { marks.join(", ") };
        match &self.place {
            Place::InitDone | Place::Phase(_) | Place::Marker(_) => {
                format!("the trace has no such event; it has {there}")
            }
            Place::FirstThread => "no second thread begins to make data references".to_owned(),
            Place::FirstBarrier => format!(
                "no barrier is passed by several threads; give first-thread, time:P% or an event \
                 (it has {there})"
            ),
            Place::Share(_) => "the trace has no such reference".to_owned(),
            Place::Function(_) => "no reference is in this function".to_owned(),
        }
    }
}

/// Finds releases: the first departures from barriers at which several threads have arrived.
#[derive(Default)]
struct Barriers {
    waiting: BTreeMap<u64, BarrierThreads>,
}

#[derive(Default)]
struct BarrierThreads {
    arrived: BTreeSet<u16>,
    /// Threads that may leave and have not left yet.
    released: BTreeSet<u16>,
}

impl Barriers {
    fn event(&mut self, event: &Event) -> bool {
        if let EventKind::BarrierEnter { addr } = event.what {
            self.waiting.entry(addr).or_default().arrived.insert(event.thread);
        }
        let EventKind::BarrierLeave { addr } = event.what else { return false };
        let BarrierThreads { arrived, released } = self.waiting.entry(addr).or_default();
        if released.remove(&event.thread) || !arrived.contains(&event.thread) {
            return false;
        }
        let several = arrived.len() > 1;
        released.append(arrived);
        released.remove(&event.thread);
        several
    }
}
