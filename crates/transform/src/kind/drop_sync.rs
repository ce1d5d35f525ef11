//! A trace without references to synchronisation variables.

use homenode_base::{Access, Flags};

use crate::entry::{Entry, Transform};
use crate::output::{Dropped, TransformOutput};

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
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        if access.flags.contains(Flags::SYNC) {
            self.dropped.drop(access);
        } else {
            out.access(&self.dropped.keep(access));
        }
    }
}
