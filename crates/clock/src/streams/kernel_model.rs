//! A model of the kernel's references, for traces without a kernel.
//!
//! The model has the kernel data of the workloads of Foglia, Giorgi and Prete 2004 (section 4): for
//! each process a kernel stack, a structure and page tables, which are private to the process, and
//! an entry of the process table; for the machine one run queue and a buffer cache.
//!
//! # Deviations
//! The paper does not describe the references to these data: they are an assumption, as are the
//! numbers in the machine files.

use homenode_base::{Flags, ReferenceFilter, ReferenceRole, Rng};
use homenode_machine::KernelModel;
use rustc_hash::FxHashMap;

use super::operation::{OpKind, Operation};
use super::portions::Portion;
use super::system_calls;

/// First address of the kernel's data, beyond the memory of any process: the run queue, buffer
/// headers, buffers, the process table, then the private data of each process.
pub const KERNEL_MODEL_BASE: u64 = 1 << 42;
const QUEUE: u64 = KERNEL_MODEL_BASE;
const HEADERS: u64 = KERNEL_MODEL_BASE + PAGE_BYTES;
const PAGE_BYTES: u64 = 4096;
/// Upper bound of the processes of a trace.
const PROCESSES: u64 = 1 << 16;
const WORD: u64 = 4;
const HEADER_BYTES: u64 = 64;

/// Generates the kernel's references.
#[derive(Clone)]
pub struct ModelledKernel {
    model: KernelModel,
    filter: ReferenceFilter,
    seed: u64,
    /// The random generator that chooses the buffers of each process.
    buffer_choice: FxHashMap<usize, Rng>,
    /// References of each process since its last tick.
    since_tick: FxHashMap<usize, u64>,
}

impl ModelledKernel {
    /// A kernel that chooses buffers by the seed.
    #[must_use]
    pub fn new(model: KernelModel, filter: ReferenceFilter, seed: u64) -> Self {
        let (buffer_choice, since_tick) = (FxHashMap::default(), FxHashMap::default());
        Self { model, filter, seed, buffer_choice, since_tick }
    }

    /// A system call: its frame on the kernel stack, the process's structure and its entry of the
    /// process table; if it transfers data, the header of a buffer and words of the buffer.
    pub fn call(&mut self, process: usize, number: u32) -> Vec<Operation> {
        let mut made = KernelReferences { filter: self.filter, operations: Vec::new() };
        let (words, buffers) = (self.model.call_words, self.buffer(0));
        let (structure, entry) = (self.structure(process), self.entry(process));
        let (stack, tables) = (self.stack(process), self.tables(process));
        made.stack(stack, words, |made| {
            made.own(OpKind::Read, structure, words);
            made.common(OpKind::Read, entry, 1);
            if let Some(kind) = system_calls::transfer(number) {
                let seed = self.seed ^ (process as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let choice = self.buffer_choice.entry(process).or_insert_with(|| Rng::new(seed));
                let buffer = choice.below(self.model.buffers.max(1));
                let (header, addr) =
                    (HEADERS + buffer * HEADER_BYTES, buffers + buffer * self.model.buffer_bytes);
                made.common(OpKind::Atomic, header, 1);
                made.common(OpKind::Read, header + WORD, 1);
                made.own(OpKind::Read, tables, 1);
                made.common(kind, addr, self.model.transfer_words);
            }
        });
        made.operations
    }

    /// The references of a timer tick, if one is due before the process's next reference: a frame
    /// on the stack, and the times of the process and the run queue.
    pub fn tick(&mut self, process: usize) -> Option<Vec<Operation>> {
        let since = self.since_tick.entry(process).or_default();
        *since += 1;
        if *since <= self.model.tick_references {
            return None;
        }
        *since = 1;
        let mut made = KernelReferences { filter: self.filter, operations: Vec::new() };
        made.stack(self.stack(process), self.model.tick_words, |made| {
            made.common(OpKind::Write, self.entry(process), 1);
            made.common(OpKind::Write, QUEUE + HEADER_BYTES, 1);
        });
        Some(made.operations)
    }

    /// The references of a context switch to the process: the run queue with its lock, the process
    /// table entry, the first word of the page tables, and the frame of the switch.
    #[must_use]
    pub fn switch(&self, process: usize) -> Portion {
        let mut made = KernelReferences { filter: self.filter, operations: Vec::new() };
        made.common(OpKind::Atomic, QUEUE, 1);
        made.common(OpKind::Read, QUEUE + WORD, 1);
        made.common(OpKind::Write, QUEUE + WORD, 1);
        made.common(OpKind::Write, self.entry(process), 1);
        made.own(OpKind::Read, self.tables(process), 1);
        made.own(OpKind::Read, self.stack(process), self.model.switch_words);
        made.common(OpKind::Write, QUEUE, 1);
        Portion::new(made.operations)
    }

    fn buffer(&self, number: u64) -> u64 {
        HEADERS + self.model.buffers * HEADER_BYTES + number * self.model.buffer_bytes
    }

    fn entry(&self, process: usize) -> u64 {
        self.buffer(self.model.buffers) + process as u64 * self.model.entry_bytes
    }

    /// A process's stack, followed by its structure and page tables. Room for a full process table
    /// precedes all stacks, so that the first stack's position in a cache does not depend on the
    /// number of processes.
    fn stack(&self, process: usize) -> u64 {
        let table = PROCESSES * self.model.entry_bytes;
        let own = self.model.stack_bytes + self.model.structure_bytes + PAGE_BYTES;
        self.entry(64) + table + process as u64 * own
    }

    fn structure(&self, process: usize) -> u64 {
        self.stack(process) + self.model.stack_bytes
    }

    fn tables(&self, process: usize) -> u64 {
        self.structure(process) + self.model.structure_bytes
    }
}

/// The references of one kernel activity.
struct KernelReferences {
    filter: ReferenceFilter,
    operations: Vec<Operation>,
}

impl KernelReferences {
    /// References to consecutive words of shared kernel data.
    fn common(&mut self, kind: OpKind, addr: u64, words: u64) {
        self.words(kind, Flags::KERNEL, addr, words);
    }

    /// References to consecutive words of a process's private kernel data.
    fn own(&mut self, kind: OpKind, addr: u64, words: u64) {
        match self.filter.private {
            ReferenceRole::Excluded => {}
            ReferenceRole::Private => {
                self.words(kind, Flags::KERNEL.union(Flags::PRIVATE), addr, words);
            }
            ReferenceRole::Shared => self.words(kind, Flags::KERNEL, addr, words),
        }
    }

    /// A frame on the kernel stack: written first, and read again after the references of `within`.
    fn stack(&mut self, bottom: u64, words: u64, within: impl FnOnce(&mut Self)) {
        self.own(OpKind::Write, bottom, words);
        within(self);
        self.own(OpKind::Read, bottom, words);
    }

    fn words(&mut self, kind: OpKind, flags: Flags, addr: u64, words: u64) {
        let size = u8::try_from(WORD).unwrap_or(1);
        let operation =
            |word| Operation { size, flags: flags.0, ..Operation::new(kind, addr + word * WORD) };
        self.operations.extend((0..words).map(operation));
    }
}
