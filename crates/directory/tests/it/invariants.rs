//! Every protocol as it is, explored.

use homenode_directory::{CoherenceTable, DirectoryCheckReport, TABLE, check, check_linked};

/// Explores every protocol in this many nodes, those with lists with proxies, too.
pub fn every_protocol_keeps_its_invariants(nodes: usize) {
    for protocol in TABLE {
        let table = (protocol.build)();
        let alone = check(&table, nodes);
        keeps_its_invariants(protocol.name, &alone, nodes);
        if let CoherenceTable::Linked(table) = &table {
            let proxies = check_linked(table, true, nodes);
            keeps_its_invariants(protocol.name, &proxies, nodes);
            assert!(proxies.situations > 3 * alone.situations, "{}", protocol.name);
        }
    }
}

fn keeps_its_invariants(name: &str, report: &DirectoryCheckReport, nodes: usize) {
    let found: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(found.is_empty(), "{name}: {report:?}\n{}", found.join("\n"));
    assert_eq!(report.nodes, nodes);
}

#[test]
fn every_protocol_keeps_its_invariants_in_two_nodes() {
    every_protocol_keeps_its_invariants(2);
}
