//! Protocols of pages explained by examples and by traces, through [`homenode_sim::explain`].

use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind};
use homenode_sim::{ExplainConfig, PagedExplanation, ProtocolExplanation, SimError, explain};
use homenode_trace::{Event, EventKind, Metadata, TraceReader};

use crate::made::{self, configured};

/// Two threads increment one word under a lock, three times each.
fn trace() -> TraceReader {
    made::written(made::FLAGS, 1 << 16, Metadata::default(), |writer| {
        for round in 0..6u16 {
            let thread = round % 2;
            writer
                .event(Event { thread, what: EventKind::LockAcquire { addr: 0x2_0000 } })
                .unwrap();
            for kind in [AccessKind::Read, AccessKind::Write] {
                writer.push(&Access::new(thread, kind, 0x9000, 4)).unwrap();
            }
            writer
                .event(Event { thread, what: EventKind::LockRelease { addr: 0x2_0000 } })
                .unwrap();
        }
    })
}

fn run(text: &str, trace: Option<&TraceReader>) -> Result<PagedExplanation, SimError> {
    let all = serde_json::json!({ "protocols": ["lrc"], "references": 30 });
    let config: ExplainConfig = configured(all, text);
    match explain(&config, trace, &mut |_, _| ControlFlow::Continue(()))? {
        ProtocolExplanation::Pages(found) => Ok(*found),
        ProtocolExplanation::Bus(_)
        | ProtocolExplanation::Directory(_)
        | ProtocolExplanation::Lists(_) => {
            panic!("expected a protocol of pages")
        }
    }
}

#[test]
fn without_a_trace_there_is_an_example() {
    let found = run("{}", None).unwrap();
    assert_eq!((found.coherent, found.machine.machine.as_str()), (Some("pages"), "dash-mesh"));
    assert_eq!(found.example.unwrap().name, "write-notices");
    for home in ["round-robin", "first-use", "best-static", "optimal-static", "random"] {
        let found = run(&format!(r#"{{"home": "{home}"}}"#), None).unwrap();
        assert_eq!(found.protocols[0].walk.steps.len(), 14, "{home}");
    }
}

#[test]
fn acquires_and_releases_of_a_trace_are_steps() {
    let found = run("{}", Some(&trace())).unwrap();
    let walk = &found.protocols[0].walk;
    let kinds: Vec<_> = walk.steps.iter().map(|step| (step.processor, step.kind)).collect();
    let first = [(0, "read"), (0, "write"), (0, "release"), (1, "read"), (1, "write")];
    // A first reference acquires nothing: the node has no copy that could be stale.
    assert_eq!(kinds[..5], first);
    assert_eq!(kinds[5..8], [(1, "release"), (0, "acquire"), (0, "read")]);
    let part = found.trace.unwrap();
    assert_eq!((part.numbers.len(), part.cut), (walk.steps.len(), false));
    // Each finds the other's increments.
    let value = |step: usize, node: usize| {
        walk.steps[step].scenes.lines[0].data.copies[node].values.first().copied()
    };
    assert_eq!(
        (value(1, 0), value(3, 1), value(6, 0), value(7, 0)),
        (Some(1), Some(1), None, Some(2))
    );
}

#[test]
fn invalid_options_are_errors() {
    let cases = [
        (r#"{"protocols": ["lrc", "dash"]}"#, "dash keeps blocks coherent: explain them"),
        (r#"{"protocols": ["lrc", "mesi"]}"#, "mesi is a protocol of a bus and lrc one with a"),
        (r#"{"protocols": ["lrc:pointers=2"]}"#, "lrc"),
        (r#"{"example": "0 W a0; 1 acquire"}"#, "reference 2, \"1 acquire\": expected a processor"),
        (r#"{"example": "0 W a0; 3 acq", "processors": 3}"#, "reference 2 is by processor 3"),
        (r#"{"home": "fixed:node=4"}"#, "node=4"),
        (r#"{"machine": "bus-smp"}"#, "bus-smp"),
        (r#"{"processors": 1025}"#, "1025 nodes"),
        (r#"{"cache_size": 100}"#, "cache size 100 bytes"),
    ];
    for (text, expected) in cases {
        let error = run(text, None).unwrap_err();
        assert!(error.is_config(), "{text}");
        assert!(error.to_string().contains(expected), "{text}: {error}");
    }
}
