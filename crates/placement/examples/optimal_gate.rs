//! Finds the optimum of a small trace of short runs at 8 processors: the work whose instructions CI
//! counts. Prints the counts, so that nothing is optimised away.

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

fn main() {
    let (trace, batches) = synthetic::traces(100_000).remove(1);
    let histories = synthetic::histories(&batches, 8);
    for entry in homenode_optimal::TABLE {
        let tables = &[homenode_optimal::TABLE];
        let tally = synthetic::walk(&histories, tables, entry.name, synthetic::numa(), 20);
        println!("{trace}: {}: {tally:?}", entry.name);
    }
}
