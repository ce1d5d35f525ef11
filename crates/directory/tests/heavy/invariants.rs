//! Every protocol as it is, in three nodes.

use homenode_directory::{CoherenceTable, DirectoryCheckReport, TABLE, check, check_linked};

const NODES: usize = 3;

fn keeps_its_invariants(name: &str, report: &DirectoryCheckReport) {
    let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{name}: {report:?}\n{}", found.join("\n"));
    assert_eq!(report.nodes, NODES);
}

#[test]
fn every_protocol_keeps_its_invariants() {
    for protocol in TABLE {
        keeps_its_invariants(protocol.name, &check(&(protocol.build)(), NODES));
    }
}

#[test]
fn lists_with_proxies_keep_their_invariants() {
    for protocol in TABLE {
        if let CoherenceTable::Linked(table) = (protocol.build)() {
            keeps_its_invariants(protocol.name, &check_linked(&table, true, NODES));
        }
    }
}
