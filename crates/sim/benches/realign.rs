//! Re-alignment, and the page-coherence matrix with and without it:
//! `cargo bench -p homenode-sim --bench realign [-- REFERENCES] [-- T.hnt...]`.
//!
//! Without files it writes synthetic traces of 16 threads to a temporary folder. For each trace it
//! prints, in processor time on one core, the part of a window that all page sizes share, the time
//! that one page size adds, and the six policies at eleven page sizes, first as the data are and
//! then re-aligned.

#[path = "../../placement/benches/synthetic/mod.rs"]
mod synthetic;

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use homenode_base::{AccessKind, BlockSize, Flags};
use homenode_sim::{SimConfig, run};
use homenode_trace::{Batch, Columns, Metadata, TraceReader, TraceWriter, Want, WriterOptions};
use homenode_transform::realign::{AddressMap, WINDOW, WindowScan, WordMapping};

const POLICIES: [&str; 6] = ["upt", "inv", "inv.freez", "upt.del", "inv.del", "inv.freez.del"];

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let given = words.iter().filter_map(|word| word.parse().ok()).next();
    let files = words.iter().map(PathBuf::from);
    let mut files: Vec<PathBuf> = files.filter(|path| path.is_file()).collect();
    let folder = tempfile::tempdir().expect("a temporary folder");
    if files.is_empty() {
        files = written(given.unwrap_or(10_000_000), folder.path());
    }
    for path in files {
        let trace = TraceReader::open(&path).expect("a trace");
        println!("{}: {} references", path.display(), trace.references());
        alone(&trace);
        let sizes: Vec<u64> = (6..17).map(|shift| 1 << shift).collect();
        let plain =
            SimConfig { threads: Some(1), ..SimConfig::new(&["markatos"], &POLICIES, &sizes) };
        let aligned = SimConfig { realign: Some(WINDOW), ..plain.clone() };
        for (what, config) in [("matrix", &plain), ("matrix, re-aligned", &aligned)] {
            let start = cpu_seconds();
            let simulation = run(config, &trace, &mut |_, _| ControlFlow::Continue(()));
            let outcomes = simulation.expect("the matrix is valid").outcomes;
            let references = outcomes.first().map_or(0, |outcome| outcome.references);
            print(what, references * sizes.len() as u64, start);
        }
    }
}

fn written(references: usize, folder: &Path) -> Vec<PathBuf> {
    let write = |(name, batches): (&str, Vec<Batch>)| {
        let path = folder.join(name).with_extension("hnt");
        let mut writer =
            TraceWriter::create(&path, WriterOptions::default()).expect("the folder is writable");
        batches.iter().for_each(|batch| writer.push_batch(batch).expect("the batch is valid"));
        writer.finish(Metadata::default()).expect("the disk has room");
        path
    };
    synthetic::traces(references).into_iter().map(write).collect()
}

/// Re-alignment without histories. References that a simulation leaves out are decoded before.
fn alone(trace: &TraceReader) {
    let want = Want { columns: Columns { flags: true, ..Columns::default() }, events: false };
    let (mut batch, mut list) = (Batch::default(), Vec::new());
    for chunk in 0..trace.chunks().len() {
        trace.read_chunk(chunk, want, &mut batch).expect("it is sound");
        list.extend(batch.accesses().filter(|access| {
            access.kind != AccessKind::Fetch
                && access.flags.0 & (Flags::PRIVATE.0 | Flags::SYNC.0) == 0
        }));
    }
    let address_map = AddressMap::of(trace);
    let mut shared = 0.0;
    for shift in [0, 6, 10, 12, 16] {
        let block = BlockSize::new(1 << shift).ok();
        let mut mapping = block.and_then(|block| WordMapping::new(&address_map, block, WINDOW));
        let (mut scan, mut sum, start) = (WindowScan::new(WINDOW), 0, cpu_seconds());
        let mut numbers = Vec::new();
        for window in list.chunks(usize::try_from(WINDOW).unwrap_or(usize::MAX)) {
            scan.next();
            numbers.clear();
            numbers.extend(window.iter().map(|access| {
                scan.push(access.thread, access.addr, access.size, access.kind.writes())
            }));
            scan.close();
            let Some(mapping) = &mut mapping else { continue };
            mapping.realign(&scan);
            for (&number, access) in numbers.iter().zip(window) {
                sum ^= mapping.address(number, access.addr);
            }
        }
        std::hint::black_box(sum);
        let what = if shift == 0 {
            "what all sizes share".to_owned()
        } else {
            format!("one size besides, {} B", 1 << shift)
        };
        print(&what, list.len() as u64, start + shared);
        if shift == 0 {
            shared = cpu_seconds() - start;
        }
    }
}

fn print(what: &str, references: u64, start: f64) {
    let seconds = cpu_seconds() - start;
    #[expect(clippy::cast_precision_loss, reason = "a rate is a rounded figure")]
    let rate = references as f64 / seconds / 1e6;
    println!("  {what:<32} {seconds:>8.2} s {rate:>9.1} M references/s");
}

/// Processor time of all threads, because other programs may be running. 0 if the system does not
/// report it.
fn cpu_seconds() -> f64 {
    let status = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = status.rsplit(')').next().unwrap_or_default().split_whitespace();
    // User and system time, the 14th and 15th field, in hundredths.
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}
