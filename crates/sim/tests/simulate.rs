//! Whole simulations through [`homenode_sim::run`].
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::io::Cursor;
use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_sim::{SimConfig, SimError, Simulation, run};
use homenode_trace::{Columns, Metadata, TraceReader, TraceWriter, WriterOptions};

fn trace(accesses: &[Access], chunk_rows: u32, metadata: Metadata) -> TraceReader {
    let columns = Columns { flags: true, ..Columns::default() };
    let options = WriterOptions { columns, level: 1, chunk_rows };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(&mut bytes, "t.hnt", options).unwrap();
    for access in accesses {
        writer.push(access).unwrap();
    }
    writer.finish(metadata).unwrap();
    TraceReader::from_bytes(bytes.into_inner(), "t.hnt").unwrap()
}

fn simulate(config: &SimConfig, trace: &TraceReader) -> Result<Simulation, SimError> {
    run(config, trace, &mut |_, _| ControlFlow::Continue(()))
}

fn json(config: &SimConfig, trace: &TraceReader) -> String {
    serde_json::to_string(&simulate(config, trace).unwrap().outcomes).unwrap()
}

/// The trace of the product's own example: a write by one processor, a read by another.
#[test]
fn the_documented_example_prints_exactly_the_documented_fields() {
    let accesses =
        [Access::new(0, AccessKind::Write, 0x1000, 4), Access::new(1, AccessKind::Read, 0x1000, 4)];
    let trace = trace(&accesses, 100, Metadata::default());
    let config = SimConfig::new(&["prices:r=15,R=59"], &["optimal", "ace"], &[64]);
    let zeros = r#""global_reads":0,"global_writes":0"#;
    let optimal = format!(
        r#"{{"trace":"t.hnt","machine":"prices:r=15,R=59","policy":"optimal","block_size":64,"processors":2,"references":2,"accesses":2,"counts":{{"local_reads":0,"local_writes":1,"remote_reads":1,"remote_writes":0,{zeros},"remote_moves":0,"global_moves":0,"replications":0,"update_packets":0,"multicast_writes":0,"invalidations":0,"faults":0,"freezes":0}},"cost":{{"local":1,"remote":15,"global":0,"remote_moves":0,"global_moves":0}},"total_cost":16,"mcpr":8.0}}"#
    );
    let ace = format!(
        r#"{{"trace":"t.hnt","machine":"prices:r=15,R=59","policy":"ace","block_size":64,"processors":2,"references":2,"accesses":2,"counts":{{"local_reads":1,"local_writes":1,"remote_reads":0,"remote_writes":0,{zeros},"remote_moves":1,"global_moves":0,"replications":1,"update_packets":0,"multicast_writes":0,"invalidations":0,"faults":1,"freezes":0}},"cost":{{"local":2,"remote":0,"global":0,"remote_moves":59,"global_moves":0}},"total_cost":61,"mcpr":30.5}}"#
    );
    assert_eq!(json(&config, &trace), format!("[{optimal},{ace}]"));
}
