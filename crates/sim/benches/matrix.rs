//! A whole matrix from a file: `cargo bench -p homenode-sim [-- REFERENCES]`.
//!
//! Writes a synthetic trace of 16 threads to a temporary file, then simulates it: one policy at one
//! block size, the six TLBs at seven page sizes, and the matrix of all policies at all block sizes
//! from 8 B to 8 KB on the five machines of the thesis's chapter 6. Prints seconds, references per
//! second and the peak memory of the process, then one JSON line per figure.

#[path = "../../placement/benches/synthetic/mod.rs"]
mod synthetic;

use std::ops::ControlFlow;
use std::time::Instant;

use homenode_sim::{Inclusion, SimConfig, TlbConfig, run, tlb_misses, tlb_rows};
use homenode_trace::{Batch, Metadata, TraceReader, TraceWriter, Want, WriterOptions};

fn main() {
    let given = std::env::args().filter_map(|a| a.parse().ok()).next();
    let references: usize = given.unwrap_or(20_000_000);
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (name, batches) in synthetic::traces(references) {
        let path = folder.path().join(name).with_extension("hnt");
        let mut writer =
            TraceWriter::create(&path, WriterOptions::default()).expect("the folder is writable");
        for batch in &batches {
            writer.push_batch(batch).expect("the batch is valid");
        }
        let summary = writer.finish(Metadata::default()).expect("the disk has room");
        drop(batches);
        println!("{name}: {references} references in {} bytes", summary.bytes);
        let trace = TraceReader::open(&path).expect("it was just written");
        measure(name, "decode", references, || {
            let mut batch = Batch::default();
            for chunk in 0..trace.chunks().len() {
                trace.read_chunk(chunk, Want::default(), &mut batch).expect("it is sound");
            }
        });
        let one =
            SimConfig { threads: Some(1), ..SimConfig::new(&["numa"], &["first-touch"], &[4096]) };
        measure(name, "one policy, 4 KB, 1 core", references, || simulate(&one, &trace));
        let mut six = tlbs();
        measure(name, "6 TLBs, 7 page sizes, all cores", references, || misses(&six, &trace));
        six.threads = Some(1);
        measure(name, "6 TLBs, 7 page sizes, 1 core", references, || misses(&six, &trace));
        let policies = [
            "optimal",
            "optimal-no-replication",
            "ace",
            "delay",
            "platinum",
            "migrate",
            "first-touch",
            "round-robin",
            "random",
            "best-static",
        ];
        let sizes: Vec<u64> = (3..14).map(|shift| 1 << shift).collect();
        let all = SimConfig::new(&["cc", "cc+", "numa", "dsm", "dsm+"], &policies, &sizes);
        measure(name, "matrix, all cores", references, || simulate(&all, &trace));
    }
}

/// The designs of the thesis from 128 B to 8 KB.
fn tlbs() -> TlbConfig {
    TlbConfig {
        tlbs: tlb_rows().iter().map(|row| row.name.to_owned()).collect(),
        page_sizes: (7..14).map(|shift| 1 << shift).collect(),
        processors: None,
        private: Inclusion::Include,
        sync: Inclusion::Exclude,
        word_bytes: None,
        threads: None,
        correct: None,
    }
}

fn misses(config: &TlbConfig, trace: &TraceReader) {
    let study = tlb_misses(config, trace, &mut |_, _| ControlFlow::Continue(()));
    std::hint::black_box(study.expect("the designs are valid"));
}

fn simulate(config: &SimConfig, trace: &TraceReader) {
    let simulation = run(config, trace, &mut |_, _| ControlFlow::Continue(()));
    std::hint::black_box(simulation.expect("the matrix is valid"));
}

fn measure(trace: &str, what: &str, references: usize, mut work: impl FnMut()) {
    let start = Instant::now();
    work();
    let seconds = start.elapsed().as_secs_f64();
    #[expect(clippy::cast_precision_loss, reason = "a rate is a rounded figure")]
    let rate = references as f64 / seconds / 1e6;
    let peak = peak_kib().map_or("unknown".to_owned(), |kib| format!("{}", kib / 1024));
    println!("  {what:<32} {seconds:>8.2} s {rate:>9.1} M references/s, peak {peak} MiB");
    println!(
        "{{\"bench\":\"matrix\",\"trace\":\"{trace}\",\"what\":\"{what}\",\
         \"references\":{references},\"seconds\":{seconds:.3}}}"
    );
}

/// Most memory this process has had resident, where the system says.
fn peak_kib() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|l| l.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
