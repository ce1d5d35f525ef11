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
    /// Under cache affinity, how much of `aging_unit` a ready process gives way to those that last
    /// ran on a processor before it is dispatched next.
    pub aging: u32,
    /// What `aging` counts.
    #[serde(default)]
    pub aging_unit: AgingUnit,
    /// Cycles for which a process is blocked by a system call that may block it.
    pub wait_cycles: u64,
    /// Whether a process that ends starts again, until each has made all of its references or as
    /// many as the processes have on average: then processors have work until the end, however
    /// unequal the processes are.
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

/// What brings a ready process to the head of the queue in spite of cache affinity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AgingUnit {
    /// Dispatches of processes that became ready later, by all processors.
    Dispatches,
    /// Dispatches by the processor on which it last ran.
    #[default]
    HomeDispatches,
    /// Time slices for which it has been ready, each of its references without a stall.
    SlicesWaited,
    /// Time slices that it has run less than the process that is preferred to it.
    SlicesBehind,
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
