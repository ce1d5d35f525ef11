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

mod broken_promise;
mod controllers;
mod model;
mod pointer;
mod promises;
mod situation;

use homenode_protocol::{Labelled, Search};

use crate::cell::ControllerCell;
use crate::finding::{
    DirectoryCheckReport, DirectoryFinding, NODES_MAX, first_fault, orders, unreached,
};
use crate::linked::table::ListTable;
use crate::linked::vocabulary::{CopyEvent, ListHomeEvent, ListSender};
use broken_promise::BrokenListPromise;
use model::{ListCoverage, ListModel, ProxyCopies, Variant};
use situation::Alike;

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
    let (mut happen, mut cells) = (0, 0);
    for_each_cell(table, |_, _, (possible, _)| {
        happen += usize::from(possible);
        cells += 1;
    });
    let mut report = DirectoryCheckReport {
        nodes: nodes_max.min(NODES_MAX),
        situations: 0,
        steps: 0,
        states: table.copy.states().len() + table.home.states().len(),
        cells: happen,
        impossible: cells - happen,
        findings: Vec::new(),
    };
    let mut coverage = ListCoverage::new(table);
    for nodes in 2..=report.nodes {
        (report.nodes, report.situations, report.steps) = (nodes, 0, 0);
        for variant in variants(nodes, proxies) {
            explore(&mut report, table, &mut coverage, nodes, variant);
            if !report.findings.is_empty() {
                return report;
            }
        }
    }
    if proxies && report.nodes >= NODES_OF_MOST_CELLS {
        report.findings = gaps(table, &coverage, report.nodes);
    }
    if report.nodes >= NODES_OF_BUFFERS {
        for variant in with_buffers(proxies) {
            if report.findings.is_empty() {
                explore(&mut report, table, &mut coverage, NODES_OF_BUFFERS, variant);
            }
        }
    }
    report
}

/// Explores one variant, and adds the findings to the report.
fn explore(
    report: &mut DirectoryCheckReport,
    table: &ListTable,
    coverage: &mut ListCoverage,
    nodes: usize,
    variant: Variant,
) {
    let alike = alike(nodes, variant);
    let mut search = Search::new(ListModel { table, coverage, nodes, variant, alike });
    report.findings.extend(first_fault(&mut search, nodes, BrokenListPromise::kind));
    report.situations += search.state_count();
    report.steps += search.step_count();
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

/// The nodes that may exchange their numbers: those with equivalent proxies, or without one.
fn alike(nodes: usize, variant: Variant) -> Alike {
    let proxies = variant.proxies;
    let same = |order: &Vec<usize>| {
        let proxy = |node: usize| if node < proxies { node } else { variant.proxy_of(node) };
        let kept = |node: usize| order[proxy(node)] == proxy(order[node]);
        (0..proxies).all(|node| order[node] < proxies) && (0..nodes).all(kept)
    };
    let fixed = if proxies < 2 { proxies } else { nodes };
    Alike { fixed, orders: orders(nodes).into_iter().filter(same).collect() }
}

/// Calls a function with the name of each cell, its position (at home or not), and whether it is
/// possible: at all, and with fewer nodes.
fn for_each_cell(table: &ListTable, mut call: impl FnMut(&str, (bool, usize), (bool, bool))) {
    for (state, label) in (0u8..).zip(table.copy.states()) {
        for &event in CopyEvent::ALL {
            let possible = !matches!(table.copy_cell(state, event), ControllerCell::Impossible(_));
            let name = format!("{} in state {} of a copy", event.name(), label.name);
            let at = (false, table.copy_cell_index(state, event));
            call(&name, at, (possible, possible && event != CopyEvent::StaleInvalidate));
        }
    }
    for (state, label) in (0u8..).zip(table.home.states()) {
        for &event in ListHomeEvent::ALL {
            for &sender in ListSender::ALL {
                let cell = table.home_cell(state, event, sender);
                let possible = !matches!(cell, ControllerCell::Impossible(_));
                let (event_name, by) = (event.name(), sender.name());
                let name = format!("{event_name} by {by} in state {} of a home", label.name);
                let at = (true, table.home_cell_index(state, event, sender));
                call(&name, at, (possible, possible));
            }
        }
    }
}

/// Possible cells that were not reached.
fn gaps(table: &ListTable, coverage: &ListCoverage, nodes: usize) -> Vec<DirectoryFinding> {
    let mut findings = Vec::new();
    for_each_cell(table, |name, (at_home, index), (possible, with_few)| {
        let possible = if nodes < NODES_OF_ALL_CELLS { with_few } else { possible };
        let reached = if at_home { coverage.home[index] } else { coverage.copy[index] };
        if possible && !reached {
            findings.push(unreached(name, NODES_MAX));
        }
    });
    findings
}
