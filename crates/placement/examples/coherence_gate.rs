//! Walks the histories of a small trace of short runs with every page-coherence policy: the work
//! whose instructions CI counts. Prints the counts, so that nothing is optimised away.

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

use homenode_placement::{Times, coherence};

fn main() {
    let (trace, batches) = synthetic::traces(100_000).remove(1);
    let histories = synthetic::histories_with_times(&batches, 8, Times::All);
    for entry in coherence::TABLE {
        let prices = synthetic::markatos();
        let tally = synthetic::walk(&histories, &[coherence::TABLE], entry.name, prices, 20);
        println!("{trace}: {}: {tally:?}", entry.name);
    }
}
