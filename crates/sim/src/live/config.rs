//! Options of live programs, and the facts about one at its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::SimError;

/// Default number of processors, because the program's number of threads is not known in advance.
const PROCESSORS: u16 = 8;

/// Options of a run in addition to those of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RunConfig {
    /// Cycles by which a thread may run ahead of the one with the least simulated time; 0 is the
    /// strict order of events.
    #[schemars(extend("x-default" = "the machine's least network latency",
        "x-metavar" = "CYCLES"))]
    pub slack: Option<u64>,
    /// Expected number of threads alive at a time, the first one included; more are added as they
    /// start.
    #[schemars(range(min = 1), extend("x-default" = "--processors"))]
    pub expected_threads: Option<u16>,
}

/// Facts about a program that has ended.
#[derive(Clone, Debug, Default)]
pub struct LiveEnd {
    /// Name of the trace that was written, or of the program.
    pub name: String,
    /// Content checksum of the trace, or empty.
    pub checksum: String,
    /// References.
    pub references: u64,
    /// Largest number of threads.
    pub threads: u16,
}

/// Why a run failed.
#[derive(Debug)]
pub enum RunError<E> {
    /// The simulation is invalid or failed.
    Simulation(SimError),
    /// The program cannot be run.
    Program(E),
}

impl<E, S: Into<SimError>> From<S> for RunError<E> {
    fn from(error: S) -> Self {
        Self::Simulation(error.into())
    }
}

pub(crate) fn processes(run: &RunConfig, processors: Option<u16>) -> (u16, u16) {
    let processors = processors.unwrap_or(PROCESSORS);
    (processors, run.expected_threads.unwrap_or(processors).max(1))
}
