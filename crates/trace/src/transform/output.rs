//! What a transform emits.

use homenode_base::Access;

use crate::model::{Batch, Event};

/// References and events of the new trace, until the writer takes them.
#[derive(Default)]
pub(super) struct TransformOutput {
    /// One batch for each trace begun since the writer last took them.
    pub(super) pieces: Vec<Batch>,
}

impl TransformOutput {
    pub(super) fn new() -> Self {
        Self { pieces: vec![Batch::default()] }
    }

    /// Emits a reference.
    #[inline]
    pub(super) fn access(&mut self, access: &Access) {
        let batch = self.last();
        batch.thread.push(access.thread);
        batch.kind.push(access.kind.code());
        batch.size.push(access.size);
        batch.addr.push(access.addr);
        batch.flags.push(access.flags.0);
        batch.pc.push(access.pc);
        batch.gap.push(access.gap);
        batch.pid.push(access.pid);
    }

    /// Emits an event; it happens before the next reference.
    pub(super) fn event(&mut self, event: Event) {
        let batch = self.last();
        // A transform emits little more than it is given at a time.
        let row = u32::try_from(batch.len()).unwrap_or(u32::MAX);
        batch.events.push((row, event));
    }

    /// What follows goes to another trace.
    pub(super) fn cut(&mut self) {
        self.pieces.push(Batch::default());
    }

    #[inline]
    fn last(&mut self) -> &mut Batch {
        let last = self.pieces.len() - 1;
        &mut self.pieces[last]
    }
}

/// Calls `access` for each reference and `event` for each event of a batch, in order.
pub(super) fn walk<S>(
    input: &Batch,
    state: &mut S,
    mut access: impl FnMut(&mut S, &Access),
    mut event: impl FnMut(&mut S, &Event),
) {
    let mut events = input.events.iter().peekable();
    for row in 0..input.len() {
        while let Some((_, what)) = events.next_if(|(at, _)| *at as usize <= row) {
            event(state, what);
        }
        access(state, &input.get(row));
    }
    events.for_each(|(_, what)| event(state, what));
}

/// Instructions whose references were dropped, by thread. They become part of the gap before the
/// thread's next reference, so that the number of instructions stays what it was.
#[derive(Default)]
pub(super) struct Dropped {
    instructions: Vec<u32>,
}

impl Dropped {
    /// Notes that a reference is left out.
    pub(super) fn drop(&mut self, access: &Access) {
        let thread = usize::from(access.thread);
        if thread >= self.instructions.len() {
            self.instructions.resize(thread + 1, 0);
        }
        let count = &mut self.instructions[thread];
        *count = count.saturating_add(access.gap).saturating_add(1);
    }

    /// The reference with the instructions of those left out before it.
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
