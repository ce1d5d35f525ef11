//! The speed of processors.

use serde::Deserialize;

use super::sourced;

/// The clock of the processors of nodes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct NodeClock {
    /// Million cycles a second.
    #[serde(deserialize_with = "sourced")]
    pub(crate) mhz: u64,
}
