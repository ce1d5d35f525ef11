//! The model checker: every sequence of events in up to four caches with one block of two words.
//!
//! The search is breadth first and begins with one cache, so the first broken promise it meets is
//! one of the shortest, with the fewest caches. It reads the same [`ProtocolTable`] that the
//! simulator follows. Data are abstracted to whether each word of each copy is the latest: a
//! protocol never reads values, so this is exact. Any event may declare the block private or
//! shared.

mod model;
mod situation;

use homenode_protocol::{BrokenPromise, Labelled, ProtocolFinding, Search};
use serde::Serialize;

pub use situation::CACHES_MAX;

use crate::table::ProtocolTable;
use crate::vocabulary::{DataSupplier, ProcessorEvent, Reply, Signal, TableCell, Transaction};
use model::TableModel;
use situation::Coverage;

/// A finding about a protocol on a bus.
pub type BusFinding = ProtocolFinding<FindingKind>;
/// A promise that an event breaks.
type BrokenBusPromise = BrokenPromise<FindingKind>;

/// Kinds of finding. The names are a public contract (`docs/bus.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A read does not return what was written last.
    StaleRead,
    /// A copy that should be the only one is not.
    NotAlone,
    /// Two caches answer for the data.
    TwoOwners,
    /// Memory is out of date and no cache answers for the data.
    LostWrite,
    /// A cache is to supply the block and none has it.
    NoSupplier,
    /// The event leaves the processor without a copy.
    NoCopy,
    /// Something happens that is declared impossible.
    NotImpossible,
    /// A cell that contradicts itself.
    Malformed,
    /// The event happens again and again.
    Endless,
    /// A cell, reply or state that nothing leads to.
    Unreached,
    /// A state that is never left, or from which not all copies can go.
    NoExit,
}

/// The extent of an exploration, and its findings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// The maximum number of caches explored.
    pub caches: usize,
    /// Distinct situations with this number of caches.
    pub situations: usize,
    /// Events tried in them.
    pub events: usize,
    /// States of a copy, the invalid one included.
    pub states: usize,
    /// Cells of the table that happen; each was reached unless a finding says otherwise.
    pub cells: usize,
    /// Cells that are declared impossible.
    pub impossible: usize,
    /// The findings; empty if the protocol keeps its promises.
    pub findings: Vec<BusFinding>,
}

/// Explores a protocol. Stops at the first broken promise.
#[must_use]
pub fn check(table: &ProtocolTable) -> CheckReport {
    let cells = table.actions().count();
    let mut report = CheckReport {
        caches: CACHES_MAX,
        situations: 0,
        events: 0,
        states: table.states().len(),
        cells,
        impossible: table.cell_count() - cells,
        findings: Vec::new(),
    };
    report.findings = malformed(table);
    if !report.findings.is_empty() {
        return report;
    }
    let mut coverage = Coverage::new(table);
    coverage.seen[0] = true;
    for caches in 1..=CACHES_MAX {
        let mut search = Search::new(TableModel::new(table, caches, &mut coverage));
        let stuck = (FindingKind::NoExit, "from here the copies can never all be replaced");
        report.findings.extend(search.finding(caches, stuck));
        report.caches = caches;
        (report.situations, report.events) = (search.state_count(), search.step_count());
        if !report.findings.is_empty() {
            return report;
        }
    }
    report.findings = gaps(table, &coverage);
    report
}

/// Cells that contradict themselves: a block without a transaction that brings it, or the other
/// way round; a replacement that leaves the copy.
fn malformed(table: &ProtocolTable) -> Vec<BusFinding> {
    let mut findings = Vec::new();
    for (state, event, condition, action) in table.actions() {
        let brings = action.transaction.is_some_and(Transaction::brings_block);
        let problem = if brings && action.source == DataSupplier::Own {
            "a transaction brings a block that comes from nowhere"
        } else if !brings && action.source != DataSupplier::Own {
            "a block comes without a transaction that brings it"
        } else if event == ProcessorEvent::Replace && table.role(action.next).is_copy() {
            "a replacement leaves the copy"
        } else {
            continue;
        };
        let [state, event] = [table.name(state), event.name()];
        let condition = table.conditions()[usize::from(condition)].name;
        findings.push(BusFinding {
            kind: FindingKind::Malformed,
            message: format!("{event} in state {state} in condition [{condition}]: {problem}"),
            steps: Vec::new(),
            caches: 0,
        });
    }
    findings
}

/// Cells, replies and states that nothing leads to, and states that are never left.
fn gaps(table: &ProtocolTable, coverage: &Coverage) -> Vec<BusFinding> {
    let unreached = |message| BusFinding {
        kind: FindingKind::Unreached,
        message,
        steps: Vec::new(),
        caches: CACHES_MAX,
    };
    let mut findings = Vec::new();
    for (label, state) in table.states().iter().zip(0u8..) {
        let name = label.name;
        if !coverage.seen[usize::from(state)] {
            findings.push(unreached(format!("no event leads to state {name}")));
        } else if !coverage.left[usize::from(state)] {
            let message = format!("state {name} is never left");
            findings.push(BusFinding { kind: FindingKind::NoExit, ..unreached(message) });
        }
        for &event in ProcessorEvent::ALL {
            for (condition, index) in table.conditions().iter().zip(0u8..) {
                let cell = table.cell(state, event, index);
                let reached = coverage.cells[table.cell_index(state, event, index)];
                if matches!(cell, TableCell::Does(_)) && !reached {
                    let [event, condition] = [event.name(), condition.name];
                    let what = format!("{event} in state {name} in condition [{condition}]");
                    findings.push(unreached(format!("{what} never happens: declare it so")));
                }
            }
        }
        for &signal in Signal::ALL {
            let reached = coverage.replies[ProtocolTable::reply_index(state, signal)];
            if matches!(table.reply(state, signal), Reply::Becomes { .. }) && !reached {
                let what = format!("a copy in state {name} never sees {}", signal.name());
                findings.push(unreached(format!("{what}: declare it so")));
            }
        }
    }
    findings
}
