//! A processor.

use serde::{Deserialize, Serialize};

use super::within_cycles;

/// A processor, which may continue past loads that miss, within a window of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProcessorModel {
    /// Cycles of a read or write that hits.
    pub operation_cycles: u64,
    /// Cycles of an instruction that refers to no memory, where the trace counts them.
    #[serde(default)]
    pub instruction_cycles: u64,
    /// Words in the store buffer.
    pub store_buffer_words: u32,
    /// Loads that may be outstanding at a time: the number of miss status holding registers
    /// (MSHRs).
    pub misses_max: u32,
    /// Size of the instruction window: most instructions from the oldest outstanding load to the
    /// newest.
    pub window_instructions: u32,
    /// Instructions that a processor issues in a cycle: its window is full `window_instructions`
    /// divided by this cycles after the oldest outstanding load began, however long operations
    /// take. Without it the window is full only after `window_instructions` instructions of the
    /// trace.
    pub issue_width: Option<u32>,
    /// Whether every miss stalls the processor: then there is no window.
    pub blocking: bool,
}

impl ProcessorModel {
    /// Cycles from the beginning of a load until the window behind it is full, if it fills with
    /// time.
    #[must_use]
    pub fn window_cycles(&self) -> Option<u64> {
        let width = u64::from(self.issue_width?.max(1));
        Some(u64::from(self.window_instructions).div_ceil(width))
    }

    pub(crate) fn checked(self) -> Result<Self, String> {
        within_cycles(&[
            ("processor.operation_cycles", self.operation_cycles),
            ("processor.instruction_cycles", self.instruction_cycles),
        ])?;
        if self.issue_width == Some(0) {
            return Err("processor.issue_width is 0: expected at least 1 instruction a cycle, or \
                        nothing, for a window that is filled by the instructions of the trace"
                .to_owned());
        }
        let overlap =
            [("misses_max", self.misses_max), ("window_instructions", self.window_instructions)];
        match overlap.into_iter().find(|&(_, value)| value == 0 && !self.blocking) {
            Some((name, _)) => Err(format!(
                "processor.{name} is 0: expected at least 1; of a processor that waits for every \
                 miss say blocking = {{ value = true, source = \"...\" }}"
            )),
            None => Ok(self),
        }
    }
}
