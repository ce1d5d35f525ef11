//! What is chosen for a live program, and what is known of it at its end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::error::SimError;

/// Processors where nothing is said of them: a program is not known beforehand to have threads.
const PROCESSORS: u16 = 8;

/// Choices of a run beside those of the machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RunConfig {
    /// Cycles by which a thread may run ahead of the one with the least simulated time; 0 is the
    /// strict order of events.
    #[serde(default)]
    #[schemars(extend("x-default" = "the machine's least network latency",
        "x-metavar" = "CYCLES"))]
    pub slack: Option<u64>,
    /// Threads that the program is expected to have at a time, its first one included; more are
    /// added as they come.
    #[serde(default)]
    #[schemars(range(min = 1), extend("x-default" = "--processors"))]
    pub expected_threads: Option<u16>,
}

/// What is known of a program when it has ended.
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
    /// The simulation cannot be made or broke off.
    Simulation(SimError),
    /// The program cannot be run.
    Program(E),
}

impl<E, S: Into<SimError>> From<S> for RunError<E> {
    fn from(error: S) -> Self {
        Self::Simulation(error.into())
    }
}

/// Refuses what only a trace has: that it is known from the start, and comes in an order.
pub(crate) fn check_config(
    in_cycles: bool,
    (points, restart, scaling): (usize, bool, bool),
) -> Result<(), SimError> {
    let fail = |problem: &str| Err(SimError::Config { problem: problem.to_owned() });
    if !in_cycles {
        return fail("a program that runs has no order of a trace: leave out --order");
    }
    if scaling {
        return fail("a program runs on one machine at a time: say --processors, not --scaling");
    }
    if restart {
        return fail("--restart needs to know where a program ends: it is for traces");
    }
    if points != 1 {
        let problem = format!(
            "a program runs on one machine at a time, and {points} are given: say one --machine, \
             --protocol and cache"
        );
        return Err(SimError::Config { problem });
    }
    Ok(())
}

/// How many processors and processes there are at first.
pub(crate) fn processes(run: &RunConfig, processors: Option<u16>) -> (u16, u16) {
    let processors = processors.unwrap_or(PROCESSORS);
    (processors, run.expected_threads.unwrap_or(processors).max(1))
}
