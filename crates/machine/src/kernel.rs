//! What a kernel has and does, where traces have none.

use serde::{Deserialize, Serialize};

/// The numbers of the kernel model.
///
/// Its parts follow Foglia, Giorgi and Prete 2004, section 4, whose traces have the kernel's data
/// of processes and scheduling; the numbers are ours, but for the size of a kernel stack.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct KernelModel {
    /// Bytes of a process's kernel stack.
    pub stack_bytes: u64,
    /// Bytes of a process's structure.
    pub structure_bytes: u64,
    /// Bytes of an entry of the process table.
    pub entry_bytes: u64,
    /// Buffers of the buffer cache.
    pub buffers: u64,
    /// Bytes of a buffer.
    pub buffer_bytes: u64,
    /// Words of a system call's frame, and of the process's structure that it reads.
    pub call_words: u64,
    /// Words that a system call copies from or to a buffer.
    pub transfer_words: u64,
    /// Words of a switch's frame.
    pub switch_words: u64,
    /// Words of a tick's frame.
    pub tick_words: u64,
    /// References of a process between ticks of the timer.
    pub tick_references: u64,
}

/// A number and where it comes from.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Number {
    value: u64,
    /// Required of every number; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

/// The numbers as machine files give them.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct KernelFile {
    stack_bytes: Number,
    structure_bytes: Number,
    entry_bytes: Number,
    buffers: Number,
    buffer_bytes: Number,
    call_words: Number,
    transfer_words: Number,
    switch_words: Number,
    tick_words: Number,
    tick_references: Number,
}

/// A process's own things and all entries of the process table are below this.
const BYTES_MAX: u64 = 1 << 20;

impl KernelFile {
    /// The model, if its numbers make sense.
    pub(crate) fn model(&self) -> Result<KernelModel, String> {
        let model = KernelModel {
            stack_bytes: self.stack_bytes.value,
            structure_bytes: self.structure_bytes.value,
            entry_bytes: self.entry_bytes.value,
            buffers: self.buffers.value,
            buffer_bytes: self.buffer_bytes.value,
            call_words: self.call_words.value,
            transfer_words: self.transfer_words.value,
            switch_words: self.switch_words.value,
            tick_words: self.tick_words.value,
            tick_references: self.tick_references.value,
        };
        let within = |what: &str, value, most| match value {
            0 => Err(format!("kernel.{what}: expected at least 1")),
            value if value > most => Err(format!("kernel.{what}: expected at most {most}")),
            _ => Ok(()),
        };
        within("stack_bytes", model.stack_bytes, BYTES_MAX)?;
        within("structure_bytes", model.structure_bytes, BYTES_MAX)?;
        within("entry_bytes", model.entry_bytes, 4096)?;
        within("buffers", model.buffers, BYTES_MAX)?;
        within("buffer_bytes", model.buffer_bytes, BYTES_MAX)?;
        let stack = model.stack_bytes / 4;
        within("call_words", model.call_words, stack.min(model.structure_bytes / 4))?;
        within("transfer_words", model.transfer_words, model.buffer_bytes / 4)?;
        within("switch_words", model.switch_words, stack)?;
        within("tick_words", model.tick_words, stack)?;
        within("tick_references", model.tick_references, u64::MAX)?;
        Ok(model)
    }
}
