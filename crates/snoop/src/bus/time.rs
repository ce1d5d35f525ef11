//! Times of a machine with a bus.

use homenode_clock::{ClockTime, ratio};
use serde::Serialize;

/// Times of a machine with a bus.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct BusTime {
    /// Times of processors and processes.
    pub clock: ClockTime,
    /// Cycles for which the bus was held.
    pub bus_busy: u64,
}

impl BusTime {
    /// The fraction of all cycles for which the bus was held; `None` if there are none.
    #[must_use]
    pub fn bus_utilisation(&self) -> Option<f64> {
        ratio(self.bus_busy, self.clock.cycles)
    }
}
