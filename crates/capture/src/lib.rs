//! The recorder: runs a program built with `homenode cc`, receives its references through shared
//! memory and writes the trace.
//!
//! The other half is in C, in `python/homenode/capture/runtime`, and is linked into the program;
//! `wire.h` there and [`wire`] here define the interface, which `docs/capture.md` describes.
//!
//! Invariant: however the traced process ends, every record that it completed is in the trace, and
//! the program never waits for a recorder that has ended.

mod area;
mod child;
mod cpu_exclusion;
mod decode;
mod directed;
mod drain;
mod emulator;
mod encoding;
mod error;
mod forked;
mod guest;
mod heap;
mod item;
mod locals;
mod logical;
mod objects;
mod options;
mod private;
mod races;
mod record;
mod report;
mod ring;
mod shadow;
mod sink;
mod sites;
mod source_owner;
mod spawn;
mod thread_stream;
mod unhooked;
pub mod wire;

pub use directed::{DirectedProgram, DirectedSummary};
pub use error::CaptureError;
pub use options::{Order, RecordOptions, RecordSummary, SystemOptions};
pub use record::record;

/// Entry point of the fuzzer: parses arbitrary bytes as a guest's report, and looks up program
/// counters and pages in it. The first bytes choose the process and two addresses.
///
/// Returns the number of names found.
#[must_use]
pub fn fuzz_report(bytes: &[u8]) -> usize {
    let Some((chosen, text)) = bytes.split_at_checked(17) else { return 0 };
    let text = String::from_utf8_lossy(text);
    let report = report::SystemReport::parse(&text);
    let process = report::ProcessRef { pid: chosen[0].into(), name: "server" };
    let mut names = report.image_data().count() + report.processor_data().count();
    for half in chosen[1..].chunks_exact(8) {
        let addr = half.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte));
        names += usize::from(!report.function(addr, process).starts_with('['));
        names += report.page(addr & !(report::PAGE_BYTES - 1), process).len();
    }
    names
}
