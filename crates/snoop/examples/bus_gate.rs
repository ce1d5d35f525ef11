//! Counts what every protocol does on two small streams: the work whose instructions CI counts.
//! Prints the counts, so that nothing is optimised away.

#[path = "../benches/streams/mod.rs"]
mod streams;

use homenode_snoop::TABLE;

/// References in each stream; each protocol counts both.
const REFERENCES: usize = 200_000;

fn main() {
    for (stream, batches) in streams::streams(REFERENCES) {
        for entry in TABLE {
            println!("{stream}: {}: {:?}", entry.name, streams::simulate(entry.name, &batches));
        }
    }
}
