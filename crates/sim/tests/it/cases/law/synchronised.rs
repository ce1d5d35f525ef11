//! If references cannot overlap, the clock and the order of the trace give the same counts.

use std::fmt::Write;

use homenode_base::{AccessKind, BlockSize, Flags};
use serde_json::{Value, json};

use super::{Law, has_events, same};
use crate::cases::corpus::Case;
use crate::cases::engine::{TABLE as ENGINES, count, sum};
use crate::cases::script;

/// Each thread of the trace runs on a processor of its own, and waits for the reference before.
pub const IN_THE_ORDER_OF_THE_TRACE: Law = Law {
    name: "the clock counts what the order of the trace counts where every reference waits",
    engines: &["bus-trace", "bus-clock"],
    silent: has_events_or_many_threads,
    check: in_the_order_of_the_trace,
};

fn has_events_or_many_threads(case: &Case) -> Option<&'static str> {
    let many = case.trace.threads() > 64;
    has_events(case).or(many.then_some("each thread needs a processor of its own"))
}

/// A machine whose processors wait for every miss.
fn blocking() -> Value {
    json!({ "processor": { "blocking": true } })
}

fn simulate(engine: &str, case: &Case, text: &str, with: &Value) -> Result<Vec<Value>, String> {
    let trace = script::trace(text, &json!({}), 1 << 16)?;
    let engine = ENGINES.iter().find(|e| e.name == engine).ok_or("there is no such engine")?;
    (engine.run)(case, &trace, with)
}

/// The references of a case; with `waits`, each but the first waits for a semaphore that the one
/// before it posts.
fn text(case: &Case, waits: bool) -> String {
    let mut text = String::from("# references\n");
    let mut before: Option<u16> = None;
    for (number, access) in case.accesses.iter().enumerate() {
        if let Some(last) = before.filter(|last| waits && *last != access.thread) {
            let semaphore = 0x7f00_0000_0000_u64 + 64 * number as u64;
            let _ = writeln!(text, "@ {last} condition-wake {semaphore:x}");
            let _ = writeln!(text, "@ {} condition-wait {semaphore:x}", access.thread);
        }
        before = Some(access.thread);
        let kind = match access.kind {
            AccessKind::Read => "R",
            AccessKind::Write => "W",
            AccessKind::Atomic => "A",
            AccessKind::Fetch => "I",
        };
        let _ = write!(text, "{} {kind} {:x} {}", access.thread, access.addr, access.size);
        let all = [(Flags::PRIVATE, "private"), (Flags::SYNC, "sync"), (Flags::KERNEL, "kernel")];
        let flags: Vec<&str> =
            all.iter().filter(|(flag, _)| access.flags.contains(*flag)).map(|f| f.1).collect();
        if !flags.is_empty() {
            let _ = write!(text, " flags={}", flags.join(","));
        }
        text.push('\n');
    }
    text
}

const COUNTS: [&str; 8] = [
    "references",
    "block_references",
    "hits",
    "misses",
    "transactions",
    "coherence",
    "kernel",
    "bus_cycles",
];

fn in_the_order_of_the_trace(case: &Case) -> Result<(), String> {
    let own = json!({ "processors": case.trace.threads().max(1) });
    let mut waiting = own.clone();
    waiting["machine"] = blocking();
    waiting["scheduler"] = json!("affinity");
    let clock = simulate("bus-clock", case, &text(case, true), &waiting)?;
    let order = simulate("bus-trace", case, &text(case, false), &own)?;
    for (clock, order) in clock.iter().zip(&order) {
        let protocol = &order["protocol"];
        for name in COUNTS {
            same(&format!("{protocol}: {name}"), &clock[name], &order[name])?;
        }
        same("processes in a ring", count(clock, "forced"), 0)?;
    }
    same("protocols", clock.len(), order.len())
}

/// A closed form: one process on one processor that waits takes two cycles an operation and the
/// latency of a block from memory for each miss; write-backs overlap the memory access of 56
/// cycles.
pub const CLOSED_FORM: Law = Law {
    name: "one process that waits takes 2 cycles an operation and 64 + bytes/8 a miss",
    engines: &["bus-clock"],
    silent: several_threads_or_large_blocks,
    check: closed_form,
};

fn several_threads_or_large_blocks(case: &Case) -> Option<&'static str> {
    let several = case.accesses.windows(2).any(|pair| pair[0].thread != pair[1].thread);
    let several = several.then_some("there are several processes");
    let large = case.machine.block_size > 256;
    has_events(case).or(several).or(large.then_some("writing back takes longer than memory"))
}

fn closed_form(case: &Case) -> Result<(), String> {
    let with = json!({ "processors": 1, "machine": blocking() });
    let block = BlockSize::new(case.machine.block_size).map_err(|e| e.to_string())?;
    for outcome in simulate("bus-clock", case, &text(case, false), &with)? {
        let expected = 2 * count(&outcome, "block_references")
            + (64 + block.bytes() / 8) * sum(&outcome, "misses");
        same("cycles", count(&outcome, "cycles"), expected)?;
    }
    Ok(())
}
