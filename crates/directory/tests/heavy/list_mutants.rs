//! Every protocol with lists of copies with every single change: the checker finds what is wrong.

use crate::changes::{changes, mutants};
use homenode_directory::{
    CoherenceTable, ControllerCell, CopyAction, CopyEvent, DirectoryFindingKind, DirectoryProtocol,
    ListTable, check_linked,
};

fn sdd() -> ListTable {
    let CoherenceTable::Linked(table) = DirectoryProtocol::parse("sdd").unwrap().table() else {
        unreachable!()
    };
    table
}

/// Every table with one change, in words.
fn all_mutants() -> Vec<(String, ListTable)> {
    let table = sdd();
    let copy = mutants(&table, changes("copy", &table.copy, true), |bug, copy| bug.copy = copy);
    let home = mutants(&table, changes("home", &table.home, true), |bug, home| bug.home = home);
    copy.chain(home).collect()
}

/// Changes that break no promise. A node that waits for a copy as a proxy may as well let its own
/// processor wait for the same copy. One that has asked for the only copy and has none may do what
/// one with an old copy does, which comes to the same as long as no message reports it.
const HARMLESS: &[&str] = &[
    "copy IS: load: Does([], 3)",
    "copy IM: proxy read: Does([AskFor], 8)",
    "copy IM: invalidate, stale: Does([Acknowledge], 8)",
    "copy IMA: proxy read: Does([AskFor], 9)",
    "copy SMA: proxy read: Does([AskFor], 7)",
];

/// What takes a proxy, two clients of which one is to hand the block on, and a node ahead of a copy
/// that this client had before.
fn takes_four_nodes(what: &str) -> bool {
    ["copy ISF: invalidate, stale", "copy SF: invalidate, stale"]
        .iter()
        .any(|cell| what.starts_with(cell))
}

fn found(bug: &ListTable, nodes: usize) -> bool {
    !check_linked(bug, true, nodes).findings.is_empty()
}

#[test]
fn every_change_of_a_cell_of_lists_is_found() {
    let mutants = all_mutants();
    assert!(mutants.len() > 1000, "{}", mutants.len());
    // All but a few are found in the fewest nodes.
    let survivors: Vec<&str> = mutants
        .iter()
        .filter(|(what, _)| !takes_four_nodes(what))
        // What breaks no promise takes long.
        .filter(|(what, bug)| {
            !found(bug, 2) && (HARMLESS.contains(&what.as_str()) || !found(bug, 3))
        })
        .map(|(what, _)| what.as_str())
        .collect();
    assert_eq!(survivors, HARMLESS, "of {}: {survivors:#?}", mutants.len());
}

#[test]
#[ignore = "takes minutes; run it when the table or the checker changes"]
fn changes_that_take_four_nodes_are_found() {
    let mut mutants = all_mutants();
    mutants.retain(|(what, _)| takes_four_nodes(what));
    assert_eq!(mutants.len(), 32);
    let survivors: Vec<&str> =
        mutants.iter().filter(|(_, bug)| !found(bug, 4)).map(|(what, _)| what.as_str()).collect();
    assert!(survivors.is_empty(), "{survivors:#?}");
}

fn state(table: &ListTable, name: &str) -> u8 {
    let at = table.copy.states().iter().position(|state| state.name == name);
    u8::try_from(at.unwrap()).unwrap()
}

/// The first thing that is found if a cell of a copy is another one, and in how many steps.
fn first_found(
    from: &str,
    event: CopyEvent,
    actions: &'static [CopyAction],
    to: &str,
    proxies: bool,
) -> (DirectoryFindingKind, usize) {
    let mut bug = sdd();
    let cell = ControllerCell::Does(actions, state(&bug, to));
    bug.copy.set_cell(state(&bug, from), event, cell);
    let report = check_linked(&bug, proxies, 3);
    let finding = report.findings.first().unwrap();
    assert_eq!(finding.steps.is_empty(), finding.kind == DirectoryFindingKind::Unreached);
    (finding.kind, finding.steps.len())
}

#[test]
fn a_lost_link_of_a_chain_is_found() {
    // The second client takes the place of the first one, which no client learns of.
    let (kind, _) = first_found("IS", CopyEvent::ProxyRead, &[], "IS", true);
    assert_eq!(kind, DirectoryFindingKind::Deadlock);
    let (kind, _) = first_found("IS", CopyEvent::Follower, &[], "ISF", true);
    assert_eq!(kind, DirectoryFindingKind::Deadlock, "the client forgets whom to hand it on to");
    let lost = &[CopyAction::KeepFollower];
    let (kind, _) = first_found("SF", CopyEvent::Follower, lost, "S", true);
    assert_eq!(kind, DirectoryFindingKind::NotDone, "it is not handed on");
}

#[test]
fn a_read_that_comes_back_and_is_not_asked_again_is_found() {
    for proxies in [false, true] {
        let (kind, _) = first_found("IS", CopyEvent::Bounce, &[], "IS", proxies);
        assert_eq!(kind, DirectoryFindingKind::Deadlock);
    }
}

#[test]
fn a_copy_left_behind_a_replaced_one_is_found() {
    let (kind, steps) = first_found("S", CopyEvent::ReplaceAhead, &[], "I", false);
    assert_eq!(kind, DirectoryFindingKind::UnlistedCopy);
    // Two reads, each with its data, and the replacement: no write has to come before.
    assert!(steps <= 7, "{steps}");
}

#[test]
fn an_acknowledgement_that_comes_too_early_is_found() {
    let early = &[CopyAction::Acknowledge];
    let (kind, _) = first_found("S", CopyEvent::Invalidate, early, "I", false);
    assert_ne!(kind, DirectoryFindingKind::Unreached, "those behind it are forgotten");
    let early = &[CopyAction::Acknowledge];
    let (kind, _) = first_found("L", CopyEvent::Invalidate, early, "L", false);
    assert_ne!(kind, DirectoryFindingKind::Unreached, "those behind it are not gone yet");
}
