//! The model checker of protocols with lists of copies: every order of operations, replacements and
//! messages in two to four nodes with one block, with and without proxies.
//!
//! Messages arrive in any order, also those between the same two nodes. A copy may be replaced at
//! any time, and a proxy have no frame for one at any time, which is all that a second block could
//! bring about. A read may come back from home or from a proxy at any time, whatever is in its
//! buffer: so buffers of every size are explored, and what else is in them. Three nodes are
//! explored once more with buffers of one to three messages, from which a read comes back exactly
//! if they are full; what waits there takes room.
//!
//! With proxies node 0 is the proxy of all others, each of which may read by it or from home, first
//! as well as after a read has come back: so the reads of some or all go by proxies at first, or
//! only those that have come back. Four nodes can also be two proxies with a client each. The proxy
//! keeps copies for its clients in the cache of its processor, or none, or in a separate cache;
//! that is a node of its own then, which has no processor, and the cache of the proxy's processor
//! is one of its clients.
//!
//! Requests are numbered so that only equal ones have the same number: there are few that anything
//! still refers to. Data are abstracted to whether they are what was written last. No processor
//! reads while it waits for a write of its own, so no copy may be read that is older than the last
//! write that has taken place, wherever that was.

mod broken_promise;
mod controllers;
mod model;
mod pointer;
mod promises;
mod situation;

use homenode_protocol::{Labelled, Search};

use super::pages::orders;
use super::situation::NODES_MAX;
use super::{DirectoryCheckReport, DirectoryFinding, DirectoryFindingKind};
use crate::list_table::ListTable;
use crate::list_vocabulary::{CopyEvent, ListHomeEvent, ListSender};
use crate::vocabulary::ControllerCell;
use model::{ListCoverage, ListModel, ProxyCopies, Variant};
use situation::Alike;

/// Nodes from which on every cell can be reached: a proxy, two clients, of which one is to hand the
/// block on, and one that has left the list ahead of a copy which that client had before.
const NODES_OF_ALL_CELLS: usize = 4;
/// Nodes from which on all can be reached but some in which a node is told to give up a copy that
/// it had before: a proxy and two clients.
const NODES_OF_MOST_CELLS: usize = 3;
/// Nodes with which there are two proxies as well, each with a client.
const NODES_OF_TWO_PROXIES: usize = 4;
/// Nodes that are explored with buffers that have so much room and no more.
const NODES_OF_BUFFERS: usize = 3;
/// Most messages that find room in such a buffer.
const ROOM_MAX: usize = 3;

/// Explores a protocol with up to so many nodes, without proxies, or with them. After a broken
/// promise it stops: what follows from it is of no interest. Only with proxies every cell has to be
/// reached.
#[must_use]
pub fn check_lists(table: &ListTable, proxies: bool, nodes_max: usize) -> DirectoryCheckReport {
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
            explore(&mut report, (table, &mut coverage), (nodes, variant));
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
                explore(&mut report, (table, &mut coverage), (NODES_OF_BUFFERS, variant));
            }
        }
    }
    report
}

/// Explores some nodes, and adds what was found to the report.
fn explore(
    report: &mut DirectoryCheckReport,
    (table, coverage): (&ListTable, &mut ListCoverage),
    (nodes, variant): (usize, Variant),
) {
    let alike = alike(nodes, variant);
    let mut search = Search::new(ListModel { table, coverage, nodes, variant, alike });
    report.findings.extend(first_fault(&mut search));
    report.situations += search.state_count();
    report.steps += search.step_count();
}

fn first_fault(search: &mut Search<ListModel<'_>>) -> Option<DirectoryFinding> {
    let (kind, message, steps) = match search.explore() {
        Err(broken) => (broken.fault.kind(), broken.fault.to_string(), broken.steps),
        Ok(()) => {
            let message = "from here somebody waits for ever".to_owned();
            (DirectoryFindingKind::Deadlock, message, search.stuck()?)
        }
    };
    let (steps, caches) = (search.tell(&steps), search.model.nodes);
    Some(DirectoryFinding { kind, message, steps, caches })
}

/// No proxies, or one that is unfair and keeps copies, and any buffers.
fn plain(proxies: bool) -> Variant {
    Variant { proxies: proxies.into(), copies: ProxyCopies::Kept, fair: false, buffers: None }
}

/// What is explored with so many nodes, whatever buffers there are.
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

/// What is explored with buffers that have so much room and no more.
fn with_buffers(proxies: bool) -> Vec<Variant> {
    let all = [ProxyCopies::Kept, ProxyCopies::Relayed, ProxyCopies::Separate];
    let copies = if proxies { &all[..] } else { &all[..1] };
    let of = |&copies: &ProxyCopies| {
        let variant = move |room| Variant { copies, buffers: Some(room), ..plain(proxies) };
        (1..=ROOM_MAX).map(variant)
    };
    copies.iter().flat_map(of).collect()
}

/// Nodes are alike if their proxies are, or they are no clients of one.
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

/// Calls a function with the name of each cell, its position (at home or not), and whether it may
/// happen: at all, and with fewer nodes.
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

/// Cells that nothing leads to.
fn gaps(table: &ListTable, coverage: &ListCoverage, nodes: usize) -> Vec<DirectoryFinding> {
    let mut findings = Vec::new();
    for_each_cell(table, |name, (at_home, index), (possible, with_few)| {
        let possible = if nodes < NODES_OF_ALL_CELLS { with_few } else { possible };
        let reached = if at_home { coverage.home[index] } else { coverage.copy[index] };
        if possible && !reached {
            findings.push(DirectoryFinding {
                kind: DirectoryFindingKind::Unreached,
                message: format!("{name} never happens: declare it so"),
                steps: Vec::new(),
                caches: NODES_MAX,
            });
        }
    });
    findings
}
