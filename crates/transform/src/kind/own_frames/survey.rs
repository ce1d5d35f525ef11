//! The first pass over a recording: the uses of each page frame.

use homenode_base::Access;
use homenode_trace::{
    Batch, Columns, ProcessorAreas, TraceError, TraceProgress, TraceReader, Want,
};
use rustc_hash::FxHashMap;

use super::history::{FrameHistory, NextAccesses, PAGE};
use crate::report::{FrameReport, NextOfWrites};

/// Bytes of a word, in which uses are told apart.
const WORD_BYTES: u64 = 4;

/// The frames of a trace.
pub(super) struct FrameSurvey {
    /// Data of each processor, which are no process's.
    areas: Option<ProcessorAreas>,
    frames: FxHashMap<u64, FrameHistory>,
    report: FrameReport,
}

impl FrameSurvey {
    pub(super) fn new(areas: Option<ProcessorAreas>) -> Self {
        Self { areas, frames: FxHashMap::default(), report: FrameReport::default() }
    }

    pub(super) fn read(
        &mut self,
        trace: &TraceReader,
        progress: &mut TraceProgress<'_>,
    ) -> Result<(), TraceError> {
        let mut batch = Batch::default();
        let columns = Columns { pid: true, ..Columns::default() };
        let (mut rows, total) = (0, trace.rows().saturating_mul(2));
        for chunk in 0..trace.chunks().len() {
            trace.read_chunk(chunk, Want { columns, events: false }, &mut batch)?;
            batch.accesses().for_each(|access| self.refer(&access));
            rows += batch.len() as u64;
            if progress(rows, Some(total)).is_break() {
                return Err(TraceError::Cancelled { path: trace.path().to_owned() });
            }
        }
        Ok(())
    }

    fn is_of_processor(&self, addr: u64) -> bool {
        self.areas.as_ref().is_some_and(|areas| areas.find(addr).is_some())
    }

    fn refer(&mut self, access: &Access) {
        if self.is_of_processor(access.addr) {
            return;
        }
        let (frame, from) = (access.addr / PAGE, access.addr % PAGE);
        // A reference that straddles pages is one to the first: the frame behind it is another one.
        let last = (from + u64::from(access.size.max(1)) - 1).min(PAGE - 1);
        let [first, last] = [from, last].map(|at| usize::try_from(at / WORD_BYTES).unwrap_or(0));
        let history = self.frames.entry(frame).or_insert_with(FrameHistory::new);
        history.refer(access, first, last);
    }

    /// Ends the first pass: gives frames to uses, new ones behind the last of the trace.
    pub(super) fn close(&mut self) -> Result<(), String> {
        let mut numbers: Vec<u64> = self.frames.keys().copied().collect();
        numbers.sort_unstable();
        let first_free = numbers.last().map_or(0, |last| last + 1);
        let mut free = first_free;
        for number in numbers {
            let Some(history) = self.frames.get_mut(&number) else { continue };
            self.report.frames += 1;
            self.report.recycled_frames += u64::from(history.close(&mut free) > 0);
            if history.is_of_several() {
                self.report.writes.add(&history.next);
            }
        }
        self.report.new_frames = free - first_free;
        match free.checked_mul(PAGE) {
            Some(_) => Ok(()),
            None => Err("the trace's addresses leave no room for new frames; keep a part of them \
                         with `homenode transform select --address`"
                .to_owned()),
        }
    }

    /// The address of the next reference.
    pub(super) fn moved(&mut self, access: &Access) -> u64 {
        self.report.references += 1;
        let (number, from) = (access.addr / PAGE, access.addr % PAGE);
        if self.is_of_processor(access.addr) {
            return access.addr;
        }
        let Some(history) = self.frames.get_mut(&number) else { return access.addr };
        let Some(frame) = history.own_frame(access.pid) else { return access.addr };
        self.report.moved_references += 1;
        frame * PAGE + from
    }

    pub(super) fn report(&self) -> FrameReport {
        self.report
    }
}

impl NextOfWrites {
    fn add(&mut self, next: &NextAccesses) {
        self.read_by_another += next.read_by_another;
        self.overwritten_by_another += next.overwritten_by_another;
        self.own += next.own;
        self.none += next.none;
    }
}
