//! The loop of a recording: drains the rings of one process until its recording is over.

use std::time::{Duration, Instant};

use crate::area::SharedArea;
use crate::error::CaptureError;
use crate::forked::ForkedChildren;
use crate::item::ItemSink;
use crate::logical::LogicalMerger;
use crate::races::RaceDetector;
use crate::ring::{RingMerger, RingReader};
use crate::sink::RecordingSink;
use crate::wire::{ORDER_FREE, ORDER_LOGICAL, at};

/// Longest sleep when there is nothing to read; a full block wakes the recorder earlier.
const IDLE: Duration = Duration::from_millis(2);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The process whose rings are drained: the program, or a child of its `fork`.
pub(crate) trait RecordedProcess {
    /// Called once a round, with the references recorded so far.
    fn attend(&mut self, references: u64);

    /// Whether its recording is over. Called only when the rings are empty.
    fn is_over(&mut self, area: &SharedArea) -> Result<bool, CaptureError>;
}

/// Drains the rings of `process` into `sink` until its recording is over, and starts the recordings
/// of its children.
pub(crate) fn drain_until_over(
    area: &SharedArea,
    process: &mut impl RecordedProcess,
    children: &mut ForkedChildren,
    sink: &mut RecordingSink,
) -> Result<(), CaptureError> {
    let mut source = ItemSource::new(area);
    loop {
        // Read before the rings: a block that is filled meanwhile changes it, and ends the sleep.
        let doorbell = area.get(at::DOORBELL);
        greet(area, sink);
        children.record_next(area);
        let taken = source.drain(area, false, sink);
        process.attend(sink.references());
        if taken > 0 {
            continue;
        }
        if process.is_over(area)? {
            while source.drain(area, true, sink) > 0 {}
            sink.note_races(source.races());
            return Ok(());
        }
        area.set(at::RECORDER_WAITS, 1);
        area.wait(at::DOORBELL, doorbell, IDLE);
        area.set(at::RECORDER_WAITS, 0);
    }
}

/// Lets the program begin, which waits until its mappings have been read. A whole system does not
/// wait, as it reports its own names.
pub(crate) fn greet(area: &SharedArea, sink: &mut RecordingSink) {
    let pid = area.get(at::CLAIMED_BY);
    if pid != 0 && area.get(at::GREETED) == 0 && !sink.is_of_system() {
        sink.meet(pid);
        area.set(at::GREETED, 1);
        area.wake(at::GREETED);
    }
}

/// Calls the caller's progress function at intervals.
pub(crate) struct ProgressReporter<'a> {
    reported: Instant,
    callback: &'a mut dyn FnMut(u64) -> bool,
}

impl<'a> ProgressReporter<'a> {
    pub(crate) fn new(callback: &'a mut dyn FnMut(u64) -> bool) -> Self {
        Self { reported: Instant::now(), callback }
    }

    /// Whether the interval is over.
    pub(crate) fn is_due(&self) -> bool {
        self.reported.elapsed() >= PROGRESS_EVERY
    }

    /// Reports the number of references; returns whether to go on.
    pub(crate) fn report(&mut self, references: u64) -> bool {
        self.reported = Instant::now();
        (self.callback)(references)
    }
}

/// Reads the rings in the way of the recording's order.
enum ItemSource {
    One(RingReader),
    Many(RingMerger),
    Logical(Box<LogicalMerger>),
}

impl ItemSource {
    /// At the beginning of the rings of `area`.
    fn new(area: &SharedArea) -> Self {
        match area.get(at::ORDER) {
            ORDER_FREE => Self::Many(RingMerger::default()),
            ORDER_LOGICAL => Self::Logical(Box::new(LogicalMerger::new(area.get(at::QUANTUM)))),
            _ => Self::One(RingReader::new(0)),
        }
    }

    /// Returns the amount of work done; 0 if there was nothing to read. With `all`, nothing more
    /// will be written, so no items are kept for the next round.
    fn drain(&mut self, area: &SharedArea, all: bool, sink: &mut impl ItemSink) -> usize {
        match self {
            Self::One(reader) => reader.drain(area, sink),
            Self::Many(merger) => merger.drain(area, all, sink),
            Self::Logical(merger) => merger.drain(area, all, sink),
        }
    }

    /// The races among the drained items; `None` in orders that are not checked for races.
    fn races(&self) -> Option<&RaceDetector> {
        match self {
            Self::Logical(merger) => Some(merger.races()),
            Self::One(_) | Self::Many(_) => None,
        }
    }
}
