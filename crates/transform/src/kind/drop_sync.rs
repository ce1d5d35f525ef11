//! A trace without references to synchronisation variables.

use homenode_base::Flags;
use homenode_trace::{Batch, TraceError};

use crate::entry::{Entry, Transform};
use crate::output::{Dropped, TransformOutput, walk};

/// Drops references that are flagged as synchronisation. Events stay.
pub const ENTRY: Entry = Entry {
    name: "drop-sync",
    summary: "leave out references to synchronisation variables",
    source: "Bolosky 1993, section 2.3.1",
    params: &[],
    pieces: false,
    several: false,
    build: |_, _| Ok(Box::new(DropSync { dropped: Dropped::default() })),
};

struct DropSync {
    dropped: Dropped,
}

impl Transform for DropSync {
    fn batch(&mut self, input: &Batch, out: &mut TransformOutput) -> Result<(), TraceError> {
        let state = &mut (&mut self.dropped, out);
        walk(
            input,
            state,
            |(dropped, out), access| {
                if access.flags.contains(Flags::SYNC) {
                    dropped.drop(access);
                } else {
                    out.access(&dropped.keep(access));
                }
            },
            |(_, out), event| out.event(event.clone()),
        );
        Ok(())
    }
}
