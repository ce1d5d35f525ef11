//! Protocols explained by examples and by traces, through [`homenode_sim::explain`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags};
use homenode_sim::{
    DirectoryExplanation, ExplainConfig, Explanation, ListWalk, ProtocolExplanation, SimError,
    explain,
};
use homenode_trace::{Metadata, TraceReader};

use crate::made::{self, configured};

/// Own blocks first, then a block that is read by all, then one that is written and shared.
fn trace() -> TraceReader {
    let mut all = Vec::new();
    for thread in 0..3 {
        all.push(Access::new(thread, AccessKind::Write, 0x4000 + 128 * u64::from(thread), 4));
        all.push(Access::new(thread, AccessKind::Read, 0x8000, 4));
    }
    for round in 0..20u16 {
        let kind = if round % 4 == 0 { AccessKind::Write } else { AccessKind::Read };
        let mut access = Access::new(round % 3, kind, 0x9000 + 4 * u64::from(round % 2), 4);
        access.flags = Flags(if round == 5 { 1 } else { 0 });
        all.push(access);
        // Straddles the end of the block.
        all.push(Access::new(0, AccessKind::Read, 0x9000 + 126, 4));
    }
    made::trace(&all, 7, Metadata::default())
}

fn config(text: &str) -> ExplainConfig {
    let all = serde_json::json!({
        "protocols": ["mesi"], "machine": "bus-smp", "references": 12
    });
    configured(all, text)
}

fn run(text: &str, trace: Option<&TraceReader>) -> Result<Explanation, SimError> {
    match explain(&config(text), trace, &mut |_, _| ControlFlow::Continue(()))? {
        ProtocolExplanation::Bus(found) => Ok(*found),
        ProtocolExplanation::Directory(_)
        | ProtocolExplanation::Lists(_)
        | ProtocolExplanation::Pages(_) => {
            panic!("expected a protocol on a bus")
        }
    }
}

fn run_directory(
    text: &str,
    trace: Option<&TraceReader>,
) -> Result<DirectoryExplanation, SimError> {
    let mut config = config(text);
    config.machine = None;
    match explain(&config, trace, &mut |_, _| ControlFlow::Continue(()))? {
        ProtocolExplanation::Directory(found) => Ok(*found),
        ProtocolExplanation::Bus(_)
        | ProtocolExplanation::Lists(_)
        | ProtocolExplanation::Pages(_) => {
            panic!("expected a protocol with a directory of blocks")
        }
    }
}

#[test]
fn without_a_trace_there_is_an_example() {
    let found = run("{}", None).unwrap();
    assert_eq!(
        (found.example.as_ref().unwrap().name.as_str(), found.processors),
        ("false-sharing", 3)
    );
    assert_eq!((found.cache_size, found.block_size, found.cycles.read_block_memory), (16, 16, 66));
    assert!(found.protocols[0].walk.steps.len() > 10);
    let several = run(r#"{"protocols": ["mesi", "pscr"], "processors": 2}"#, None).unwrap();
    assert_eq!((several.example.as_ref().unwrap().name.as_str(), several.processors), ("tour", 2));
    let steps = |i: usize| several.protocols[i].walk.steps.len();
    assert_eq!((several.protocols.len(), steps(0)), (2, steps(1)));
    let named = run(r#"{"example": "migratory", "block_size": 64}"#, None).unwrap();
    assert_eq!(
        (named.example.as_ref().unwrap().name.as_str(), named.cache_size),
        ("migratory", 64)
    );
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
fn protocols_with_a_directory_are_walked_on_machines_with_one() {
    let found = run_directory(r#"{"protocols": ["dash"]}"#, None).unwrap();
    let machine = found.machine;
    assert_eq!((machine.machine.as_str(), machine.processors), ("dash-mesh", 4));
    assert_eq!((machine.home.as_str(), machine.page_size), ("first-touch", 4096));
    assert_eq!(machine.cache_size, 16);
    assert_eq!(found.example.unwrap().name, "three-hops");
    let several = run_directory(r#"{"protocols": ["dash", "dash:pointers=1"]}"#, None).unwrap();
    let sent = |i: usize| several.protocols[i].walk.totals.messages.of_kind("invalidate");
    assert!(sent(0) < sent(1), "with one pointer more nodes get messages");
    // On this machine fetches are not references.
    let trace = trace();
    let found = run_directory(r#"{"protocols": ["dash"]}"#, Some(&trace)).unwrap();
    assert_eq!((found.machine.cache_size, found.machine.block_size), (16 << 10, 64));
    assert_eq!(found.trace.unwrap().numbers.len(), 12);
    for home in ["round-robin", "first-use", "best-static", "optimal-static", "random"] {
        let text = format!(r#"{{"protocols": ["dash"], "home": "{home}"}}"#);
        assert_eq!(run_directory(&text, None).unwrap().protocols[0].walk.steps.len(), 14, "{home}");
    }
}

fn run_lists(text: &str) -> Result<DirectoryExplanation<ListWalk>, SimError> {
    let mut config = config(text);
    config.machine = config.machine.filter(|name| name != "bus-smp");
    match explain(&config, None::<&TraceReader>, &mut |_, _| ControlFlow::Continue(()))? {
        ProtocolExplanation::Lists(found) => Ok(*found),
        ProtocolExplanation::Bus(_)
        | ProtocolExplanation::Directory(_)
        | ProtocolExplanation::Pages(_) => panic!("expected a protocol with lists"),
    }
}

#[test]
fn protocols_of_lists_are_walked_on_nodes_with_controllers() {
    let found = run_lists(r#"{"protocols": ["sdd"]}"#).unwrap();
    assert_eq!((found.machine.machine.as_str(), found.machine.page_size), ("alite", 8192));
    assert_eq!(found.example.unwrap().name, "list-of-copies");
    assert_eq!(found.protocols[0].walk.steps.len(), 12);
    for home in ["round-robin", "best-static", "optimal-static"] {
        let text = format!(r#"{{"protocols": ["sdd"], "home": "{home}"}}"#);
        assert_eq!(run_lists(&text).unwrap().protocols[0].walk.steps.len(), 12, "{home}");
    }
    // Node 0 is the proxy of all nodes for this block, and keeps a copy for later readers.
    let text = r#"{"protocols": ["sdd"], "example": "2 R a0; 3 R a0", "home": "fixed:node=1",
        "proxies": "basic:clusters=1"}"#;
    let walk = run_lists(text).unwrap().protocols.remove(0).walk;
    let sent = |step: usize| -> Vec<&str> {
        let acts = walk.steps[step].acts.iter();
        acts.filter_map(|act| act.message.map(|message| message.name)).collect()
    };
    assert_eq!(sent(0), ["proxy read", "read", "data", "data"]);
    assert_eq!(sent(1), ["proxy read", "data"]);
    // Simultaneous reads fill a small buffer, and are sent back.
    let text = r#"{"protocols": ["sdd"], "example": "1 R a0 &; 2 R a0 &; 3 R a0 &; 4 R a0",
        "home": "fixed:node=0", "buffers": "1"}"#;
    assert!(run_lists(text).unwrap().protocols[0].walk.totals.messages.retried > 0);
    for (text, expected) in [
        (r#"{"protocols": ["sdd"], "machine": "dash-mesh"}"#, "say --machine alite"),
        (r#"{"protocols": ["dash"], "machine": "alite"}"#, "say --machine dash-mesh"),
        (r#"{"protocols": ["dash"], "proxies": "basic"}"#, "only nodes with controllers"),
        (r#"{"protocols": ["mesi"], "proxies": "basic"}"#, "only nodes with controllers"),
        (r#"{"protocols": ["dash"], "buffers": "8"}"#, "only nodes with controllers"),
        (r#"{"protocols": ["sdd"], "buffers": "0"}"#, "--buffers 0: expected infinite"),
        (r#"{"protocols": ["dash"], "example": "0 R a0 &; 1 R a0"}"#, "step 1 overlaps"),
        (r#"{"protocols": ["lrc"], "example": "0 R a0 &; 1 R a0"}"#, "step 1 overlaps"),
        (r#"{"protocols": ["mesi"], "example": "0 R a0 &; 1 R a0"}"#, "step 1 overlaps"),
        (r#"{"protocols": ["sdd"], "proxies": "some"}"#, "unknown proxies"),
        (r#"{"protocols": ["sdd", "dash"]}"#, "explain them separately"),
    ] {
        let error = run_lists(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
}

#[test]
fn references_can_be_written_by_the_user() {
    let found = run(r#"{"example": "0 W a0; 4 R b1 p"}"#, None).unwrap();
    assert_eq!((found.example.unwrap().name.as_str(), found.processors), ("given", 5));
    assert!(found.protocols[0].walk.steps[1].private);
    let text = r#"{"protocols": ["dash"], "example": "1 R a0; 0 W c0", "home": "fixed:node=1"}"#;
    let found = run_directory(text, None).unwrap();
    let scenes = &found.protocols[0].walk.steps[1].scenes;
    assert_eq!([scenes[0].entry.home, scenes[1].entry.home], [Some(1), Some(1)]);
    assert_eq!(scenes[1].entry.owner, Some(0));
}

#[test]
fn invalid_options_with_a_directory_are_errors() {
    let cases = [
        (r#"{"protocols": ["dahs"]}"#, "unknown protocol \"dahs\": expected one of mesi, amsd"),
        (
            r#"{"protocols": ["dahs:pointers=2"]}"#,
            "dragon, mesi-memory, amsd-memory, pscr-memory, dash",
        ),
        (r#"{"protocols": ["dash:pointers=0"]}"#, "pointers is a number from 1 to 1024"),
        (r#"{"protocols": ["dash", "mesi"]}"#, "mesi is a protocol of a bus and dash one with a"),
        (r#"{"protocols": ["dash"], "home": "nowhere"}"#, "unknown home"),
        (r#"{"protocols": ["dash"], "example": "0 W a0; 0 rel"}"#, "step 2 is an acquire or a"),
        (
            r#"{"protocols": ["dash"], "example": "write-notices"}"#,
            "write-notices: it has acquires",
        ),
        (r#"{"protocols": ["dash"], "home": "fixed:node=4"}"#, "node=4"),
        (r#"{"protocols": ["dash"], "example": "0 W"}"#, "reference 1, \"0 W\": expected a"),
        (
            r#"{"protocols": ["dash"], "example": "0 W a0; 3 R a0", "processors": 3}"#,
            "reference 2 is by processor 3, but with --processors 3 they are 0 to 2",
        ),
        (r#"{"protocols": ["dash"], "processors": 1025}"#, "1025 nodes"),
        (r#"{"protocols": ["dash"], "cache_size": 100}"#, "cache size 100 bytes"),
    ];
    for (text, expected) in cases {
        let error = run_directory(text, None).unwrap_err();
        assert!(error.is_config(), "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let mut on_bus = config(r#"{"protocols": ["dash"]}"#);
    on_bus.machine = Some("bus-smp".to_owned());
    let error = explain(&on_bus, None::<&TraceReader>, &mut |_, _| ControlFlow::Continue(()));
    assert!(error.unwrap_err().to_string().contains("bus-smp"));
}

#[test]
fn invalid_options_are_errors() {
    let trace = trace();
    let cases = [
        (r#"{"protocols": []}"#, None, "no protocol is given"),
        (r#"{"protocols": ["mosi"]}"#, None, "unknown protocol \"mosi\""),
        (r#"{"example": "x"}"#, None, "unknown example \"x\": expected one of false-sharing"),
        (r#"{"example": "tour"}"#, Some(&trace), "an example and a trace"),
        (r#"{"references": 0}"#, Some(&trace), "0 references: a walk has 1 to 500"),
        (r#"{"references": 501}"#, Some(&trace), "501 references"),
        (
            r#"{"blocks": [4096]}"#,
            Some(&trace),
            "t.hnt: there is no reference to the block at 0x1000",
        ),
        (r#"{"block_size": 24}"#, None, "block size 24 bytes"),
        (r#"{"block_size": 0}"#, Some(&trace), "block size 0 bytes"),
        (r#"{"cache_size": 100}"#, None, "cache size 100 bytes"),
        (r#"{"processors": 1025}"#, None, "1025 processors"),
        (r#"{"processors": 0}"#, None, "0 processors"),
        (r#"{"private_ranges": [[8, 8]]}"#, None, "private range 0x8-0x8"),
        (r#"{"machine": "numa"}"#, None, "numa"),
        (r#"{"home": "first-touch"}"#, None, "--home: only machines with a directory"),
    ];
    for (text, trace, expected) in cases {
        let error = run(text, trace).unwrap_err();
        assert!(error.is_config(), "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
    let stopped = explain(&config("{}"), Some(&trace), &mut |_, _| ControlFlow::Break(()));
    assert!(matches!(stopped, Err(SimError::Interrupted)));
}
