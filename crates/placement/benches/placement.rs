//! References per second of histories, policies and optimum, on one core.
//!
//! `cargo bench -p homenode-placement` prints a table, then one JSON line per figure. Each figure
//! is the best of three; the traces are synthetic and the same every time, with 4 KB blocks.

mod synthetic;

use std::time::Instant;

use homenode_machine::{PriceList, PriceModel};
use homenode_placement::policy::{Entry, PlacementSetup};
use homenode_placement::{PolicySpec, TABLE, Times, coherence};

const TABLES: &[&[Entry]] = &[homenode_optimal::TABLE, TABLE, coherence::TABLE];
const REFERENCES: usize = 20_000_000;

/// Millions of references per second, the best of three.
fn rate(mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = Instant::now();
        work();
        best = best.min(start.elapsed().as_secs_f64());
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate is a rounded figure")]
    let rate = REFERENCES as f64 / best / 1e6;
    rate
}

fn main() {
    let mut lines = Vec::new();
    for (trace, batches) in synthetic::traces(REFERENCES) {
        println!("\n{trace}: {REFERENCES} references, 16 threads, 4 KB blocks");
        let mut report = |what: &str, processors: u16, rate: f64| {
            println!("  {what:<32}{processors:>4} processors {rate:>9.1} M references/s");
            lines.push(format!(
                "{{\"bench\":\"placement\",\"trace\":\"{trace}\",\"what\":\"{what}\",\
                 \"processors\":{processors},\"mrefs_per_s\":{rate:.1}}}"
            ));
        };
        let speed = rate(|| {
            std::hint::black_box(synthetic::histories(&batches, 16));
        });
        report("histories", 16, speed);
        for Point { what, policy, prices, processors } in list() {
            let times = times(policy, prices, processors);
            let histories = synthetic::histories_with_times(&batches, processors, times);
            let speed = rate(|| {
                std::hint::black_box(synthetic::walk(&histories, TABLES, policy, prices, 1));
            });
            report(&what, processors, speed);
        }
        let histories = synthetic::histories(&batches, 16);
        println!("  {} runs in {} blocks", histories.runs(), histories.len());
    }
    optimum_by_processors(&mut lines);
    for line in lines {
        println!("{line}");
    }
}

/// The optimum where all of 8, 64, 256 or 1,024 processors refer to every block.
fn optimum_by_processors(lines: &mut Vec<String>) {
    println!("\nshared-counters: {REFERENCES} references, one thread a processor, 4 KB blocks");
    for processors in [8u16, 64, 256, 1024] {
        let batches = synthetic::shared_by(processors, REFERENCES);
        let histories = synthetic::histories(&batches, processors);
        for entry in homenode_optimal::TABLE {
            for (machine, prices) in [("numa", synthetic::numa()), ("ace", synthetic::ace())] {
                let speed = rate(|| {
                    let tally = synthetic::walk(&histories, TABLES, entry.name, prices, 1);
                    std::hint::black_box(tally);
                });
                let what = format!("{} on {machine}", entry.name);
                println!("  {what:<32}{processors:>4} processors {speed:>9.1} M references/s");
                lines.push(format!(
                    "{{\"bench\":\"placement\",\"trace\":\"shared-by-all\",\"what\":\"{what}\",\
                     \"processors\":{processors},\"mrefs_per_s\":{speed:.1}}}"
                ));
            }
        }
    }
}

/// The Times that a policy requests.
fn times(name: &str, prices: PriceList, processors: u16) -> Times {
    let block = homenode_base::BlockSize::new(4096).expect("a power of two");
    let spec = PolicySpec::parse(name, TABLES).expect("a policy of the tables");
    let policy = spec.build(&PlacementSetup::new(processors, block, &prices)).expect("it fits");
    policy.times()
}

/// A measurement: a policy on a machine.
struct Point {
    /// Label in the table.
    what: String,
    policy: &'static str,
    prices: PriceList,
    processors: u16,
}

/// Every policy at 16 processors; the optima also at 8, with and without global memory.
fn list() -> Vec<Point> {
    let point = |policy: &'static str, prices: PriceList, processors| {
        let global = if prices.has_global() { " on ace" } else { "" };
        Point { what: format!("{policy}{global}"), policy, prices, processors }
    };
    let mut points = Vec::new();
    for entry in TABLES.iter().flat_map(|table| table.iter()) {
        let prices = match (entry.needs_global, entry.runs_on.has(PriceModel::Placement)) {
            (true, _) => synthetic::ace(),
            (false, true) => synthetic::numa(),
            (false, false) => synthetic::markatos(),
        };
        points.push(point(entry.name, prices, 16));
    }
    for entry in homenode_optimal::TABLE {
        points.push(point(entry.name, synthetic::numa(), 8));
        points.push(point(entry.name, synthetic::ace(), 8));
    }
    points
}
