//! Protocols explained by examples and by traces, through [`homenode_sim::explain`].
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

use std::io::Cursor;
use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags};
use homenode_sim::{ExplainConfig, Explanation, SimError, explain};
use homenode_trace::{Columns, Metadata, TraceReader, TraceWriter, WriterOptions};

/// Own blocks first, then a block that is read by all, then one that is written and shared.
fn trace() -> TraceReader {
    let columns = Columns { flags: true, ..Columns::default() };
    let options = WriterOptions { columns, level: 1, chunk_rows: 7 };
    let mut bytes = Cursor::new(Vec::new());
    let mut writer = TraceWriter::new(&mut bytes, "t.hnt", options).unwrap();
    for thread in 0..3 {
        writer
            .push(&Access::new(thread, AccessKind::Write, 0x4000 + 128 * u64::from(thread), 4))
            .unwrap();
        writer.push(&Access::new(thread, AccessKind::Read, 0x8000, 4)).unwrap();
    }
    for round in 0..20u16 {
        let kind = if round % 4 == 0 { AccessKind::Write } else { AccessKind::Read };
        let mut access = Access::new(round % 3, kind, 0x9000 + 4 * u64::from(round % 2), 4);
        access.flags = Flags(if round == 5 { 1 } else { 0 });
        writer.push(&access).unwrap();
        // Straddles the end of the block.
        writer.push(&Access::new(0, AccessKind::Read, 0x9000 + 126, 4)).unwrap();
    }
    writer.finish(Metadata::default()).unwrap();
    TraceReader::from_bytes(bytes.into_inner(), "t.hnt").unwrap()
}

fn config(text: &str) -> ExplainConfig {
    let mut all = serde_json::json!({
        "protocols": ["mesi"], "machine": "bus-smp", "references": 12
    });
    let given: serde_json::Value = serde_json::from_str(text).unwrap();
    for (name, value) in given.as_object().unwrap() {
        all[name] = value.clone();
    }
    serde_json::from_value(all).unwrap()
}

fn run(text: &str, trace: Option<&TraceReader>) -> Result<Explanation, SimError> {
    explain(&config(text), trace, &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn without_a_trace_there_is_an_example() {
    let found = run("{}", None).unwrap();
    assert_eq!((found.example.unwrap().name, found.processors), ("false-sharing", 3));
    assert_eq!((found.cache_size, found.block_size, found.cycles.read_block_memory), (16, 16, 66));
    assert!(found.protocols[0].walk.steps.len() > 10);
    let several = run(r#"{"protocols": ["mesi", "pscr"], "processors": 2}"#, None).unwrap();
    assert_eq!((several.example.unwrap().name, several.processors), ("tour", 2));
    let steps = |i: usize| several.protocols[i].walk.steps.len();
    assert_eq!((several.protocols.len(), steps(0)), (2, steps(1)));
    let named = run(r#"{"example": "migratory", "block_size": 64}"#, None).unwrap();
    assert_eq!((named.example.unwrap().name, named.cache_size), ("migratory", 64));
}

#[test]
fn a_trace_is_walked_through_block_by_block() {
    let trace = trace();
    let found = run("{}", Some(&trace)).unwrap();
    let part = found.trace.unwrap();
    // The first block that is shared and written, 128 bytes as the machine has them.
    assert_eq!(found.protocols[0].walk.blocks.len(), 1);
    assert_eq!(found.protocols[0].walk.blocks[0].address, 0x9000);
    assert_eq!(found.protocols[0].walk.blocks[0].words, [0, 1, 31]);
    assert_eq!(part.numbers, (6..18).collect::<Vec<u64>>());
    assert!(part.cut);
    let both = run(r#"{"blocks": [32769, 36868], "references": 500}"#, Some(&trace)).unwrap();
    let addresses: Vec<u64> =
        both.protocols[0].walk.blocks.iter().map(|block| block.address).collect();
    assert_eq!(addresses, [0x8000, 0x9000]);
    let part = both.trace.unwrap();
    assert_eq!((part.numbers.len(), part.cut), (43, false));
    assert_eq!(both.protocols[0].walk.totals.references, 43);
}

#[test]
fn what_cannot_be_is_refused() {
    let trace = trace();
    let cases = [
        (r#"{"protocols": []}"#, None, "no protocol is given"),
        (r#"{"protocols": ["mosi"]}"#, None, "unknown protocol \"mosi\""),
        (r#"{"example": "x"}"#, None, "unknown example \"x\": expected one of false-sharing"),
        (r#"{"example": "tour"}"#, Some(&trace), "an example and a trace"),
        (r#"{"references": 0}"#, Some(&trace), "0 references: a walk has 1 to 500"),
        (r#"{"references": 501}"#, Some(&trace), "501 references"),
        (r#"{"blocks": [4096]}"#, Some(&trace), "t.hnt: nothing references the block at 0x1000"),
        (r#"{"block_size": 24}"#, None, "block size 24 bytes"),
        (r#"{"block_size": 0}"#, Some(&trace), "block size 0 bytes"),
        (r#"{"cache_size": 100}"#, None, "cache size 100 bytes"),
        (r#"{"processors": 1025}"#, None, "1025 processors"),
        (r#"{"processors": 0}"#, None, "0 processors"),
        (r#"{"private_ranges": [[8, 8]]}"#, None, "private range 0x8-0x8"),
        (r#"{"machine": "numa"}"#, None, "numa"),
    ];
    for (text, trace, expected) in cases {
        let error = run(text, trace).unwrap_err();
        assert!(error.is_config(), "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let stopped = explain(&config("{}"), Some(&trace), &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SimError::Interrupted)));
}
