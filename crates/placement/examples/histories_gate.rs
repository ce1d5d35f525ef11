//! Builds the histories of two small traces: the work whose instructions CI counts. Making the
//! traces is part of the count. Prints sizes, so that nothing is optimised away.

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

fn main() {
    for (trace, batches) in synthetic::traces(500_000) {
        let histories = synthetic::histories(&batches, 8);
        println!("{trace}: {} runs in {} blocks", histories.runs(), histories.len());
    }
}
