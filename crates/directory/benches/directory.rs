//! References per second on one core, in the order of the trace and with a clock.
//!
//! `cargo bench -p homenode-directory` prints a table, then one JSON line per figure; numbers and
//! names after `--` choose nodes, streams, orders (`trace`, `clock`) and machines (`dash`, `lrc`,
//! `sdd`, `sdd-finite`, `sdd-reactive`). Each figure is the best of three; the streams are
//! synthetic and the same every time.

#[path = "../../snoop/benches/rate/mod.rs"]
mod rate;
mod streams;

use homenode_trace::Batch;
use rate::rate;
use streams::clocked::MACHINES;

/// References, and fewer of many nodes.
const fn references(nodes: u16) -> usize {
    if nodes > 64 { 5_000_000 } else { 20_000_000 }
}

/// Bytes and ways of each cache: those of the benchmark of the bus, and dash-mesh's.
const CACHES: [(u64, u64); 2] = [(32 << 10, 8), (16 << 10, 1)];

/// What is to be measured: everything that is not left out by naming something else of its kind.
struct Wanted(Vec<String>);

impl Wanted {
    fn any(&self, all: &[&str], name: &str) -> bool {
        let named: Vec<&String> = self.0.iter().filter(|it| all.contains(&it.as_str())).collect();
        named.is_empty() || named.iter().any(|it| *it == name)
    }
}

fn main() {
    let mut lines = Vec::new();
    let wanted = Wanted(std::env::args().skip(1).filter(|a| !a.starts_with('-')).collect());
    for nodes in [4u16, 64, 1024] {
        if !wanted.any(&["4", "64", "1024"], &nodes.to_string()) {
            continue;
        }
        for (stream, batches) in streams::streams(nodes, references(nodes)) {
            if !wanted.any(&["matrix-product", "shared-mix"], stream) {
                continue;
            }
            println!("\n{stream}: {} references, {nodes} nodes, 64-byte blocks", references(nodes));
            if wanted.any(&["trace", "clock"], "trace") {
                in_order_of_trace(nodes, stream, &batches, &mut lines);
            }
            if wanted.any(&["trace", "clock"], "clock") {
                with_clock(nodes, stream, &batches, &wanted, &mut lines);
            }
        }
    }
    for line in lines {
        println!("{line}");
    }
}

fn in_order_of_trace(nodes: u16, stream: &str, batches: &[Batch], lines: &mut Vec<String>) {
    for (bytes, ways) in CACHES {
        let counts = streams::simulate(nodes, bytes, ways, batches);
        let speed = rate(references(nodes), || {
            std::hint::black_box(streams::simulate(nodes, bytes, ways, batches));
        });
        println!(
            "  {:>3} KiB {ways}-way{speed:>9.1} M references/s, {} misses, {} upgrades, \
             {} messages",
            bytes >> 10,
            counts.misses.total(),
            counts.upgrades,
            counts.messages.total()
        );
        lines.push(format!(
            "{{\"bench\":\"directory\",\"trace\":\"{stream}\",\"what\":\"dash\",\"nodes\":{nodes},\
             \"cache_size\":{bytes},\"ways\":{ways},\"mrefs_per_s\":{speed:.1}}}"
        ));
    }
}

fn with_clock(
    nodes: u16,
    stream: &str,
    batches: &[Batch],
    wanted: &Wanted,
    lines: &mut Vec<String>,
) {
    let portions = streams::clocked::operations(nodes, batches);
    for machine in MACHINES.into_iter().filter(|it| wanted.any(&MACHINES, it)) {
        let found = streams::clocked::simulate(nodes, machine, &portions);
        let speed = rate(references(nodes), || {
            std::hint::black_box(streams::clocked::simulate(nodes, machine, &portions));
        });
        println!(
            "  clock {machine:<13}{speed:>9.1} M references/s, {} misses, {} cycles",
            found.counts.misses.total(),
            found.time.cycles
        );
        lines.push(format!(
            "{{\"bench\":\"directory-clock\",\"trace\":\"{stream}\",\"what\":\"{machine}\",\
             \"nodes\":{nodes},\"mrefs_per_s\":{speed:.1}}}"
        ));
    }
}
