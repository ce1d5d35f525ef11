//! The model checker of linked-list protocols: all interleavings of operations, replacements and
//! messages in two to four nodes with one block, with and without proxies.
//!
//! Messages arrive in any order, also those between the same two nodes. A copy may be replaced at
//! any time, and a proxy may lack a frame at any time, which covers the effect of a second block. A
//! home or a proxy may bounce a read at any time, which covers buffers of every size and content.
//! Three nodes are explored once more with buffers of one to three messages, which bounce a read
//! exactly when they are full; waiting messages take room.
//!
//! With proxies, node 0 is the proxy of all others. Each of these may read through it or from the
//! home, at first as well as after a bounce, which covers basic and reactive proxies. Four nodes
//! can also be two proxies with a client each. The proxy keeps copies for its clients in the cache
//! of its processor, or none, or in a separate cache. A separate cache is a node of its own without
//! a processor, and the cache of the proxy's processor is one of its clients.
//!
//! Requests are renumbered, because only a few are still referred to. Data are abstracted to
//! whether they are the last write. No processor reads while its own write is outstanding, so no
//! readable copy may be older than the last write that has taken place at any node.

mod controllers;
mod model;
mod pointer;
mod promises;
mod situation;

use crate::finding::{DirectoryCheckReport, NODES_MAX, ReachedTable};
use crate::linked::table::ListTable;
use crate::linked::vocabulary::CopyEvent;
use model::{ListCoverage, ListModel, ProxyCopies, Variant};

/// Fewest nodes with which every cell can be reached: a proxy, two clients, one of which hands the
/// block on, and a node that has left the list ahead of an earlier copy of that client.
const NODES_OF_ALL_CELLS: usize = 4;
/// Fewest nodes with which all cells can be reached except stale invalidations: a proxy and two
/// clients.
const NODES_OF_MOST_CELLS: usize = 3;
/// Number of nodes at which two proxies with a client each are explored too.
const NODES_OF_TWO_PROXIES: usize = 4;
/// Number of nodes explored with bounded buffers.
const NODES_OF_BUFFERS: usize = 3;
/// Largest such buffer, in messages.
const ROOM_MAX: usize = 3;

/// Explores a protocol with up to `nodes_max` nodes, with or without proxies. It stops at the first
/// broken invariant. Only with proxies every cell has to be reached.
#[must_use]
pub fn check_linked(table: &ListTable, proxies: bool, nodes_max: usize) -> DirectoryCheckReport {
    let report = DirectoryCheckReport::new(nodes_max.min(NODES_MAX));
    let mut report = report.with(&table.copy).with(&table.home);
    let (copy, home) = (ReachedTable::new(&table.copy), ReachedTable::new(&table.home));
    let mut coverage = ListCoverage { copy, home };
    for nodes in 2..=report.nodes {
        report.begin(nodes);
        for variant in variants(nodes, proxies) {
            if !report.explore(ListModel::new(table, &mut coverage, nodes, variant), nodes) {
                return report;
            }
        }
    }
    if proxies && report.nodes >= NODES_OF_MOST_CELLS {
        let all = report.nodes >= NODES_OF_ALL_CELLS;
        let expected = |event| all || event != CopyEvent::StaleInvalidate;
        report.findings = coverage.copy.gaps(NODES_MAX, expected);
        report.findings.extend(coverage.home.gaps(NODES_MAX, |_| true));
    }
    if report.nodes >= NODES_OF_BUFFERS {
        for variant in with_buffers(proxies) {
            if report.findings.is_empty() {
                let nodes = NODES_OF_BUFFERS;
                report.explore(ListModel::new(table, &mut coverage, nodes, variant), nodes);
            }
        }
    }
    report
}

/// No proxies, or one that is unfair and keeps copies; buffers of any size.
fn plain(proxies: bool) -> Variant {
    Variant { proxies: proxies.into(), copies: ProxyCopies::Kept, fair: false, buffers: None }
}

/// The variants explored with buffers of any size.
fn variants(nodes: usize, proxies: bool) -> Vec<Variant> {
    let plain = plain(proxies);
    let mut variants = vec![plain];
    if !proxies {
        return variants;
    }
    variants.push(Variant { fair: true, ..plain });
    if nodes == NODES_OF_TWO_PROXIES {
        let two = [ProxyCopies::Kept, ProxyCopies::Relayed];
        variants.extend(two.map(|copies| Variant { copies, proxies: 2, ..plain }));
    }
    for copies in [ProxyCopies::Relayed, ProxyCopies::Separate] {
        variants.extend([false, true].map(|fair| Variant { copies, fair, ..plain }));
    }
    variants
}

/// The variants explored with bounded buffers.
fn with_buffers(proxies: bool) -> Vec<Variant> {
    let all = [ProxyCopies::Kept, ProxyCopies::Relayed, ProxyCopies::Separate];
    let copies = if proxies { &all[..] } else { &all[..1] };
    let of = |&copies: &ProxyCopies| {
        let variant = move |room| Variant { copies, buffers: Some(room), ..plain(proxies) };
        (1..=ROOM_MAX).map(variant)
    };
    copies.iter().flat_map(of).collect()
}
