//! The `din` format of the Dinero cache simulators, extended by thread and size.
//!
//! The format has neither events nor program counters; an atomic reference becomes a write.

use std::io::{self, Write};

use homenode_base::Access;
use homenode_trace::{Batch, Columns};

use super::format::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "din",
    summary: "Dinero: <0|1|2> <hex address> <thread> <size>; no events, atomics as writes",
    source: "Dinero IV, Hill and Edler, \"din\" input format",
    extensions: &["din"],
    begin: |_, _| Ok(()),
    rows,
};

fn rows(out: &mut dyn Write, _columns: Columns, batch: &Batch) -> io::Result<()> {
    for Access { thread, kind, addr, size, .. } in batch.accesses() {
        // Codes of homenode: 0 read, 1 write, 2 atomic, 3 fetch.
        let label = ["0", "1", "1", "2"][usize::from(kind.code())];
        writeln!(out, "{label} {addr:x} {thread} {size}")?;
    }
    Ok(())
}
