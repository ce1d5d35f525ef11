//! The order in which the references of a trace take place.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The order in which references take place.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ReferenceOrder {
    /// In cycles, on processors to which a scheduler assigns processes.
    #[default]
    Clock,
    /// As in the trace, without time: each reference completes before the next one begins, and
    /// thread i runs on processor i modulo their number.
    Trace,
}
