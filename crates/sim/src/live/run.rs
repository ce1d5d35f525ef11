//! Runs a program on a machine that is ready for it.

use homenode_clock::LiveClock;
use homenode_clock::streams::StreamSplitter;
use homenode_directory::ClockError;
use homenode_trace::LiveProgram;

use super::config::{LiveEnd, RunError};
use super::drive::{Pace, drive};
use crate::error::SimResult;

/// What the driver of a program needs of a machine.
pub struct LiveParts<'a> {
    pub(crate) clock: &'a mut dyn LiveClock<ClockError>,
    pub(crate) splitter: &'a mut StreamSplitter,
    pub(crate) pace: Pace,
}

/// A machine whose configuration has been checked, before its program starts.
pub trait LiveRun: Send {
    /// Cycles by which a thread may run ahead of the one with the least simulated time.
    fn slack(&self) -> u64;

    /// The machine for the driver, until [`Self::complete`].
    fn parts(&mut self) -> Option<LiveParts<'_>>;

    /// Simulates the rest, when the program is over.
    ///
    /// # Errors
    /// When a protocol violates an invariant.
    fn complete(&mut self) -> SimResult<()>;

    /// The results and their provenance as JSON, as those of a trace.
    fn study(self: Box<Self>, end: LiveEnd) -> String;
}

/// Runs a program on a machine. `start` starts the program, and receives the slack in cycles; `end`
/// is called when the program has ended.
///
/// # Errors
/// When the program cannot be run, or, with the option `check`, a protocol violates an invariant.
pub fn run_program<P: LiveProgram>(
    mut machine: Box<dyn LiveRun>,
    start: impl FnOnce(u64) -> Result<P, P::Error>,
    end: impl FnOnce(P) -> Result<LiveEnd, P::Error>,
) -> Result<String, RunError<P::Error>> {
    let mut program = start(machine.slack()).map_err(RunError::Program)?;
    if let Some(LiveParts { clock, splitter, pace }) = machine.parts() {
        drive(clock, splitter, &mut program, pace)?;
    }
    machine.complete()?;
    let ended = end(program).map_err(RunError::Program)?;
    Ok(machine.study(ended))
}
