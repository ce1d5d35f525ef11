//! The local perturbation: fine-grained changes of the interleaving of processors' references.

use homenode_base::{Access, Rng};
use homenode_trace::{Event, Metadata};

use crate::entry::{Entry, Transform};
use crate::output::TransformOutput;
use crate::param::{SEED, TransformParam};
use crate::queue::Queue;

/// The local perturbation of thesis section 4.3.
///
/// A buffer holds references, initially the first hundred. Each step chooses an entry at random,
/// emits the oldest reference in the buffer by the entry's thread, and replaces it by the next
/// reference of the trace. So the references of a thread stay in order, and the probability that a
/// reference moves decreases sharply with the distance.
///
/// # Deviations
/// The thesis does not say what happens at the end: here the buffer runs empty by the same rule.
/// It has no events and no instruction fetches: events stay between the same references of their
/// thread, and a fetch counts as a reference. Threads stand for its processors.
pub const ENTRY: Entry = Entry {
    name: "local",
    summary: "reorder nearby references of different threads at random",
    source: "Bolosky 1993, section 4.3",
    params: &[
        SEED,
        TransformParam {
            name: "buffer",
            default: "100",
            form: "N",
            doc: "references to choose from; 1 changes nothing",
        },
    ],
    pieces: false,
    several: false,
    build: |values, _| {
        let seed = values.count("seed", 0..=u64::MAX)?.unwrap_or(0);
        let buffer = values.count("buffer", 1..=1 << 20)?.unwrap_or(1);
        let capacity = usize::try_from(buffer).unwrap_or(1);
        Ok(Box::new(Local { rng: Rng::new(seed), capacity, slots: Vec::new(), queues: Vec::new() }))
    },
};

struct Local {
    rng: Rng,
    capacity: usize,
    /// Thread of each reference in the buffer. Which of its references an entry is does not matter,
    /// as always the oldest is emitted.
    slots: Vec<u16>,
    queues: Vec<Queue>,
}

impl Local {
    fn choose(&mut self) -> usize {
        let entries = u64::try_from(self.slots.len()).unwrap_or(u64::MAX);
        usize::try_from(self.rng.below(entries)).unwrap_or(0)
    }

    fn queue(&mut self, thread: u16) -> &mut Queue {
        let thread = usize::from(thread);
        if thread >= self.queues.len() {
            self.queues.resize_with(thread + 1, Queue::default);
        }
        &mut self.queues[thread]
    }
}

impl Transform for Local {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        if self.capacity == 1 {
            out.access(access);
            return;
        }
        if self.slots.len() < self.capacity {
            self.slots.push(access.thread);
        } else {
            let chosen = self.choose();
            let thread = std::mem::replace(&mut self.slots[chosen], access.thread);
            self.queues[usize::from(thread)].emit(out);
        }
        self.queue(access.thread).access(access);
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        self.queue(event.thread).event(event, out);
    }

    fn finish(&mut self, out: &mut TransformOutput) {
        while !self.slots.is_empty() {
            let chosen = self.choose();
            let thread = self.slots.swap_remove(chosen);
            self.queues[usize::from(thread)].emit(out);
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        if self.capacity > 1 {
            metadata.order = format!("{}, locally perturbed", metadata.order);
        }
    }
}
