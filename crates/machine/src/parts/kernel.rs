//! The model of a kernel, for traces without kernel references.

use serde::{Deserialize, Serialize};

/// A kernel: the sizes of its data and the references of its activities.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4, whose traces have the kernel's data of
/// processes and scheduling. The numbers are assumptions, except for the size of a kernel stack.
/// Files give each number with its source, results without.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KernelModel {
    /// Bytes of a process's kernel stack.
    pub stack_bytes: u64,
    /// Bytes of the structure of a process.
    pub structure_bytes: u64,
    /// Bytes of an entry of the process table.
    pub entry_bytes: u64,
    /// Buffers of the buffer cache.
    pub buffers: u64,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Words of a system call's stack frame, and of the process structure that it reads.
    pub call_words: u64,
    /// Words that a system call copies from or to a buffer.
    pub transfer_words: u64,
    /// Words of a context switch's stack frame.
    pub switch_words: u64,
    /// Words of a timer tick's stack frame.
    pub tick_words: u64,
    /// References of a process between ticks of the timer.
    pub tick_references: u64,
}

/// Most bytes of a process's stack and structure, and most buffers.
const BYTES_MAX: u64 = 1 << 20;

impl KernelModel {
    pub(crate) fn checked(self) -> Result<Self, String> {
        let within = |what: &str, value, most| match value {
            0 => Err(format!("kernel.{what}: expected at least 1")),
            value if value > most => Err(format!("kernel.{what}: expected at most {most}")),
            _ => Ok(()),
        };
        within("stack_bytes", self.stack_bytes, BYTES_MAX)?;
        within("structure_bytes", self.structure_bytes, BYTES_MAX)?;
        within("entry_bytes", self.entry_bytes, 4096)?;
        within("buffers", self.buffers, BYTES_MAX)?;
        within("buffer_bytes", self.buffer_bytes, BYTES_MAX)?;
        let stack = self.stack_bytes / 4;
        within("call_words", self.call_words, stack.min(self.structure_bytes / 4))?;
        within("transfer_words", self.transfer_words, self.buffer_bytes / 4)?;
        within("switch_words", self.switch_words, stack)?;
        within("tick_words", self.tick_words, stack)?;
        within("tick_references", self.tick_references, u64::MAX)?;
        Ok(self)
    }
}
