//! The output of a transform.

use homenode_base::Access;
use homenode_trace::{Batch, Event};

/// Emitted references and events, until the writer takes them.
#[derive(Default)]
pub(super) struct TransformOutput {
    /// One batch for each trace begun since the writer last took them.
    pub(super) batches: Vec<Batch>,
}

impl TransformOutput {
    pub(super) fn new() -> Self {
        Self { batches: vec![Batch::default()] }
    }

    #[inline]
    pub(super) fn access(&mut self, access: &Access) {
        let batch = self.last();
        batch.turns.push(access.thread);
        batch.kind.push(access.kind.code());
        batch.size.push(access.size);
        batch.addr.push(access.addr);
        batch.flags.push(access.flags.0);
        batch.pc.push(access.pc);
        batch.gap.push(access.gap);
        batch.pid.push(access.pid);
    }

    pub(super) fn event(&mut self, event: Event) {
        let batch = self.last();
        // A transform emits little more than one chunk at a time.
        let row = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        batch.events.push((row, event));
    }

    /// Emits the references and events of a batch, as the first output since the writer last took
    /// any.
    pub(super) fn batch(&mut self, batch: Batch) {
        *self.last() = batch;
    }

    pub(super) fn cut(&mut self) {
        self.batches.push(Batch::default());
    }

    #[inline]
    fn last(&mut self) -> &mut Batch {
        let last = self.batches.len() - 1;
        &mut self.batches[last]
    }
}

/// Instructions whose references were dropped, by thread. They are added to the gap before the
/// thread's next reference, so that the number of instructions is preserved.
#[derive(Default)]
pub(super) struct Dropped {
    instructions: Vec<u32>,
}

impl Dropped {
    pub(super) fn drop(&mut self, access: &Access) {
        let thread = usize::from(access.thread);
        if thread >= self.instructions.len() {
            self.instructions.resize(thread + 1, 0);
        }
        let count = &mut self.instructions[thread];
        *count = count.saturating_add(access.gap).saturating_add(1);
    }

    /// A reference that is kept, with the instructions of those dropped before it.
    pub(super) fn keep(&mut self, access: &Access) -> Access {
        match self.instructions.get_mut(usize::from(access.thread)) {
            None | Some(0) => *access,
            Some(count) => {
                let gap = access.gap.saturating_add(std::mem::take(count));
                Access { gap, ..*access }
            }
        }
    }
}
