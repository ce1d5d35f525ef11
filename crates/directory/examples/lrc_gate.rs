//! Simulates `lrc` with a clock on two small streams of 16 nodes: the work whose instructions CI
//! counts. Prints the counts, so that nothing is optimised away.

#[path = "../benches/streams/mod.rs"]
mod streams;

fn main() {
    streams::clocked::gate("lrc");
}
