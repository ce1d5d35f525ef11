//! References per second of every protocol on one core, in the order of the trace and with a clock.
//!
//! `cargo bench -p homenode-snoop` prints a table, then one JSON line per figure. Each figure is
//! the best of three; the streams are synthetic and the same every time.

mod rate;
mod streams;

use homenode_snoop::TABLE;
use rate::rate;

const REFERENCES: usize = 20_000_000;

fn main() {
    let mut lines = Vec::new();
    // `cargo bench -p homenode-snoop -- mesi shared-mix clock`: protocols, streams and orders, all
    // by default.
    let wanted: Vec<String> = std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect();
    let names: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
    let (protocols, chosen): (Vec<&str>, Vec<&str>) =
        wanted.iter().map(String::as_str).partition(|name| names.contains(name));
    let (orders, chosen): (Vec<&str>, Vec<&str>) =
        chosen.into_iter().partition(|name| ["trace", "clock"].contains(name));
    let is_wanted = |order, stream| {
        (orders.is_empty() || orders.contains(&order))
            && (chosen.is_empty() || chosen.contains(&stream))
    };
    for (stream, batches) in streams::streams(REFERENCES) {
        if !is_wanted("trace", stream) {
            continue;
        }
        println!("\n{stream}: {REFERENCES} references, 4 processors, 32 KiB 8-way 64-byte blocks");
        for entry in TABLE.iter().filter(|e| protocols.is_empty() || protocols.contains(&e.name)) {
            let counts = streams::simulate(entry.name, &batches);
            let speed = rate(REFERENCES, || {
                std::hint::black_box(streams::simulate(entry.name, &batches));
            });
            let misses = counts.misses.total();
            println!(
                "  {:<8}{speed:>9.1} M references/s, {misses} misses, {} invalidates and writes",
                entry.name,
                counts.coherence.total()
            );
            lines.push(format!(
                "{{\"bench\":\"bus\",\"trace\":\"{stream}\",\"what\":\"{}\",\
                 \"processors\":4,\"mrefs_per_s\":{speed:.1}}}",
                entry.name
            ));
        }
    }
    for (stream, portions) in streams::clocked(REFERENCES) {
        if !is_wanted("clock", stream) {
            continue;
        }
        let processors = streams::CLOCKED;
        println!("\n{stream} with a clock: {processors} processors, 256 KiB 8-way 64-byte blocks");
        for entry in TABLE.iter().filter(|e| protocols.is_empty() || protocols.contains(&e.name)) {
            let time = streams::simulate_clock(entry.name, &portions).time;
            let speed = rate(REFERENCES, || {
                std::hint::black_box(streams::simulate_clock(entry.name, &portions));
            });
            println!(
                "  {:<8}{speed:>9.1} M references/s, {} cycles, system power {:.2}",
                entry.name,
                time.cycles,
                time.gsp()
            );
            lines.push(format!(
                "{{\"bench\":\"bus-clock\",\"trace\":\"{stream}\",\"what\":\"{}\",\
                 \"processors\":{processors},\"mrefs_per_s\":{speed:.1}}}",
                entry.name
            ));
        }
    }
    for line in lines {
        println!("{line}");
    }
}
