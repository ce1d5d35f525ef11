//! Splits a trace into one for each phase of the program.

use crate::entry::{Entry, Transform};
use crate::error::TransformError;
use crate::output::TransformOutput;
use crate::param::TransformParam;
use homenode_base::{Access, AccessKind};
use homenode_trace::{Event, EventKind};

/// Begins another trace at every event of a kind, or after a number of references.
///
/// The event is the first record of the trace that it begins. Every piece has all the metadata,
/// with the named ranges of memory that earlier pieces allocated.
pub const ENTRY: Entry = Entry {
    name: "split",
    summary: "write a trace for each phase: U.0.hnt, U.1.hnt and so on for the output U.hnt",
    source: "markers of the program, as homenode.h sets them",
    params: &[
        TransformParam {
            name: "at",
            default: "",
            form: "EVENT",
            doc: "begin another trace at every event of this kind: init-done, phase or marker",
        },
        TransformParam {
            name: "every",
            default: "",
            form: "N",
            doc: "begin another trace after N data references",
        },
    ],
    pieces: true,
    several: false,
    build: |values, _| {
        let every = values.count("every", 1..=u64::MAX)?;
        let at = match (every, values.text("at")) {
            (Some(_), None) => None,
            (None, Some(text)) => {
                let at = [SplitPoint::InitDone, SplitPoint::Phase, SplitPoint::Marker]
                    .into_iter()
                    .zip(NAMES);
                let found = at.into_iter().find(|&(_, name)| name == text);
                let expected = || values.error(format!("at={text}: expected {}", NAMES.join(", ")));
                Some(found.ok_or_else(expected)?.0)
            }
            (Some(_), Some(_)) | (None, None) => {
                return Err(values.error("give either at or every".to_owned()));
            }
        };
        Ok(Box::new(Split { at, found: false, every: every.unwrap_or(u64::MAX), in_piece: 0 }))
    },
};

const NAMES: [&str; 3] = ["init-done", "phase", "marker"];

#[derive(Clone, Copy, PartialEq, Eq)]
enum SplitPoint {
    InitDone,
    Phase,
    Marker,
}

impl SplitPoint {
    fn is(self, what: &EventKind) -> bool {
        match self {
            Self::InitDone => matches!(what, EventKind::InitDone),
            Self::Phase => matches!(what, EventKind::Phase { .. }),
            Self::Marker => matches!(what, EventKind::Marker { .. }),
        }
    }
}

struct Split {
    at: Option<SplitPoint>,
    found: bool,
    every: u64,
    in_piece: u64,
}

impl Transform for Split {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        let is_data = access.kind != AccessKind::Fetch;
        if is_data && self.in_piece == self.every {
            out.cut();
            self.in_piece = 0;
        }
        self.in_piece += u64::from(is_data);
        out.access(access);
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.at.is_some_and(|at| at.is(&event.what)) {
            self.found = true;
            out.cut();
        }
        out.event(event.clone());
    }

    fn check(&self) -> Result<(), TransformError> {
        let Some(at) = self.at.filter(|_| !self.found) else { return Ok(()) };
        let problem = format!("at={}: the trace has no such event", NAMES[at as usize]);
        Err(TransformError::Parameter { transform: ENTRY.name, problem })
    }
}
