//! A processor.

use serde::Deserialize;

use super::sourced;

/// A processor, which may go on past loads that miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorModel {
    /// Cycles of a read or write that hits.
    #[serde(deserialize_with = "sourced")]
    pub operation_cycles: u64,
    /// Words in the store buffer.
    #[serde(deserialize_with = "sourced")]
    pub store_buffer_words: u32,
    /// Loads that may be outstanding at a time: the number of MSHRs.
    #[serde(deserialize_with = "sourced")]
    pub misses_max: u32,
    /// Instructions between the oldest outstanding load and the newest instruction.
    #[serde(deserialize_with = "sourced")]
    pub window_instructions: u32,
    /// Whether every miss stops the processor instead.
    #[serde(deserialize_with = "sourced")]
    pub blocking: bool,
}
