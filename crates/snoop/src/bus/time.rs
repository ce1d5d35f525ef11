//! What took how long.

use homenode_clock::{ClockTime, ratio};
use serde::Serialize;

/// What took how long on a machine with a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusTime {
    /// Processors and processes.
    pub clock: ClockTime,
    /// Cycles for which the bus was held.
    pub bus_busy: u64,
}

impl BusTime {
    /// Part of the time during which the bus was held; `None` if there was no time.
    #[must_use]
    pub fn bus_utilisation(&self) -> Option<f64> {
        ratio(self.bus_busy, self.clock.cycles)
    }
}
