//! What results of all engines have: notes on a trace, suggestions, fractions, and their JSON.

pub(crate) use homenode_clock::ratio;
use serde::Serialize;

use crate::pass::TraceSource;

/// A serial start is worth a suggestion from this percentage of the references on,
const SERIAL_PERCENT: u64 = 10;
/// and from this number of references on; smaller traces are examples, not programs.
const SERIAL_REFERENCES: u64 = 1_000;

pub(crate) fn notes_on(trace: &dyn TraceSource) -> Vec<String> {
    let how = &trace.metadata().sampling;
    if how.is_empty() {
        return Vec::new();
    }
    vec![format!(
        "the trace holds samples ({how}): counts and costs are of the samples, and what happened \
         between them is unknown"
    )]
}

/// The same for a replay in cycles, which keeps the order of each thread, and between threads that
/// of locks and other events: emulation sees no locks.
pub(crate) fn notes_in_cycles(trace: &dyn TraceSource) -> Vec<String> {
    let mut notes = notes_on(trace);
    if trace.metadata().method == "qemu" && trace.threads() > 1 {
        notes.push(
            "this trace is from emulation, which sees no locks: in cycles each thread goes on by \
             itself, so that data at which threads take turns (under a lock, the stack of a \
             goroutine) may change hands more often than in the program; the order of the trace \
             keeps their turns (cc, or --order trace)"
                .to_owned(),
        );
    }
    notes
}

/// Steps to take before a simulation, such as removing a serial start.
///
/// A suggestion does not limit the validity of results, so it is not a note.
pub(crate) fn suggestions_on(trace: &dyn TraceSource) -> Vec<String> {
    serial(trace).into_iter().collect()
}

/// A suggestion about the references of one thread before any other thread makes one, if there are
/// many and the start of the trace was not chosen by a transform.
fn serial(trace: &dyn TraceSource) -> Option<String> {
    let metadata = trace.metadata();
    let chosen = |step: &String| step.contains("transform select from=");
    // Threads of a whole system are processors or processes: they have no start in common.
    if !metadata.processes.is_empty() || metadata.provenance.iter().any(chosen) {
        return None;
    }
    let (serial, all) = (trace.serial_start()?, trace.references());
    // Both are below 2^56: a file has a byte for several references at the least.
    if serial < SERIAL_REFERENCES || serial * 100 < all * SERIAL_PERCENT {
        return None;
    }
    let percent = (serial * 200 + all) / (all * 2);
    let name = trace.name();
    Some(format!(
        "one thread makes the first {serial} references ({percent} %) before any other makes one; \
         `homenode transform select {} -o U.hnt --from first-thread` leaves them out",
        if is_plain(&name) { &name } else { "T.hnt" },
        serial = grouped(serial),
    ))
}

/// A number with a comma between thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits.as_bytes().rchunks(3).rev();
    groups.map(String::from_utf8_lossy).collect::<Vec<_>>().join(",")
}

/// Whether a file's name can stand in a command as it is.
fn is_plain(name: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/._-+,=@%".contains(&byte);
    !name.starts_with('-') && name.bytes().all(plain)
}

/// The JSON of results, whose serialisation cannot fail.
pub(crate) fn json<T: Serialize>(results: &T) -> String {
    serde_json::to_string(results).expect("results are plain data")
}
