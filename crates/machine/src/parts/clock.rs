//! The speed of processors.

use serde::Deserialize;

/// The clock of the processors of nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeClock {
    /// Million cycles a second.
    pub(crate) mhz: u64,
}
