//! The scheduler of processes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::within_cycles;

/// How processes are assigned to processors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchedulerModel {
    /// Which ready process a processor takes.
    pub policy: Dispatch,
    /// Time slice: references after which a process is preempted.
    pub time_slice_references: u64,
    /// How often a ready process may be passed over before it is dispatched next.
    pub aging: u32,
    /// Cycles for which a process is blocked by a system call that may block it.
    pub wait_cycles: u64,
    /// Whether a process that ends starts again, until the total number of references equals that
    /// of all processes: then processors have work until the end, however unequal the processes
    /// are.
    #[serde(default)]
    pub restart: bool,
}

impl SchedulerModel {
    pub(crate) fn checked(self) -> Result<Self, String> {
        within_cycles(&[("scheduler.wait_cycles", self.wait_cycles)])?;
        match self.time_slice_references {
            0 => Err("scheduler.time_slice_references is 0: expected at least 1".to_owned()),
            _ => Ok(self),
        }
    }
}

/// Which ready process a processor takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Dispatch {
    /// Any, chosen at random.
    Random,
    /// The one that ran there last: cache affinity.
    Affinity,
}
