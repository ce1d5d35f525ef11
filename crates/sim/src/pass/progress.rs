//! Progress of a simulation.

use std::ops::ControlFlow;

use crate::error::{SimError, SimResult};

/// Called at intervals with the work done and the total, in simulated references. `Break` ends the
/// run with [`SimError::Interrupted`].
pub type Progress<'a> = &'a mut dyn FnMut(u64, Option<u64>) -> ControlFlow<()>;

pub(crate) fn report(progress: Progress<'_>, done: u64, total: u64) -> SimResult<()> {
    match progress(done, Some(total)) {
        ControlFlow::Continue(()) => Ok(()),
        ControlFlow::Break(()) => Err(SimError::Interrupted),
    }
}

/// Progress of the second half of a run, after `done` units of work in the first half.
pub(crate) fn second_half(
    progress: Progress<'_>,
    first: u64,
) -> impl FnMut(u64, Option<u64>) -> ControlFlow<()> {
    move |done, all| {
        let part = u128::from(first) * u128::from(done) / u128::from(all.unwrap_or(done).max(1));
        progress(first + u64::try_from(part).unwrap_or(first), Some(2 * first))
    }
}

pub(crate) struct ProgressMeter<'a> {
    progress: Progress<'a>,
    done: u64,
    total: u64,
}

impl<'a> ProgressMeter<'a> {
    pub(crate) fn new(progress: Progress<'a>, total: u64) -> Self {
        Self { progress, done: 0, total }
    }

    pub(crate) fn add(&mut self, work: u64) -> SimResult<()> {
        self.done = (self.done + work).min(self.total);
        report(self.progress, self.done, self.total)
    }

    /// Reports completion, even if there was less work than predicted.
    pub(crate) fn finish(&mut self) -> SimResult<()> {
        self.done = self.total;
        self.add(0)
    }
}

/// Progress of passes whose number is not known in advance: each takes a fraction of the remainder.
pub(crate) struct PassProgress<'a> {
    progress: Progress<'a>,
    total: u64,
    /// Start of the current pass, from 0 to 1, and its fraction of the whole.
    from: f64,
    span: f64,
}

impl<'a> PassProgress<'a> {
    /// Starts after this fraction of the whole, which is reported elsewhere.
    pub(crate) fn new(progress: Progress<'a>, total: u64, from: f64) -> Self {
        Self { progress, total, from, span: 0.0 }
    }

    /// Starts a pass that takes this fraction of the remainder.
    pub(crate) fn begin(&mut self, part: f64) {
        self.from += self.span;
        self.span = (1.0 - self.from) * part;
    }

    pub(crate) fn tick(&mut self, done: f64) -> SimResult<()> {
        let at = self.from + self.span * done;
        #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
        let units = (at * self.total as f64) as u64;
        report(self.progress, units.min(self.total), self.total)
    }

    /// Reports progress of passes whose number is not known in advance: each takes this fraction of
    /// the remainder, and begins where less is done than before.
    pub(crate) fn of_passes(&mut self, part: f64) -> impl FnMut(f64) -> SimResult<()> {
        let mut last = 1.0;
        move |done| {
            if done <= last {
                self.begin(part);
            }
            last = done;
            self.tick(done)
        }
    }

    pub(crate) fn finish(&mut self) -> SimResult<()> {
        report(self.progress, self.total, self.total)
    }
}

pub(crate) fn part_of(done: usize, all: usize) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "progress is a rounded figure")]
    let part = done as f64 / all as f64;
    part
}
