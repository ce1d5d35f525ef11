//! Builds the histories of two small traces: the work whose instructions CI counts. Each is built
//! many times, so that making it hardly counts. Prints sizes, so that nothing is optimised away.

#[path = "../benches/synthetic/mod.rs"]
mod synthetic;

fn main() {
    for (trace, batches) in synthetic::traces(50_000) {
        for round in 0..20 {
            let histories = synthetic::histories(&batches, 8);
            if round == 0 {
                println!("{trace}: {} runs in {} blocks", histories.runs(), histories.len());
            }
        }
    }
}
