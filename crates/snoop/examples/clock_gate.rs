//! Simulates every protocol with a clock on two small streams: the work whose instructions CI
//! counts. Prints the counts, so that nothing is optimised away.

#[path = "../benches/streams/mod.rs"]
mod streams;

use homenode_snoop::TABLE;

/// References in each stream; each protocol simulates both.
const REFERENCES: usize = 200_000;

fn main() {
    for (stream, portions) in streams::clocked(REFERENCES) {
        for entry in TABLE {
            let result = streams::simulate_clock(entry.name, &portions);
            println!("{stream}: {}: {result:?}", entry.name);
        }
    }
}
