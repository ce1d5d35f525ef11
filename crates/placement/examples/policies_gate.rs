//! Walks the histories of a small trace of short runs with every on-line policy: the work whose
//! instructions CI counts. Prints the counts, so that nothing is optimised away.

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

use homenode_placement::TABLE;

fn main() {
    let (trace, batches) = synthetic::traces(100_000).remove(1);
    let histories = synthetic::histories(&batches, 8);
    for entry in TABLE {
        let tally = synthetic::walk(&histories, &[TABLE], entry.name, synthetic::ace(), 20);
        println!("{trace}: {}: {tally:?}", entry.name);
    }
}
