//! The model checker: every sequence of events in up to four caches with one block of two words.
//!
//! The checker explores breadth first, so the first broken promise it meets is one of the shortest,
//! with the fewest caches. It reads the same [`Table`] that the simulator follows. Data are
//! abstracted to whether each word of each copy is the one last written: a protocol never looks at
//! values, so this is exact. Any event may name the block private or shared.

mod fault;
mod world;

use rustc_hash::FxHashMap;
use serde::Serialize;

pub use fault::{Finding, Kind};
pub use world::CACHES_MAX;

use crate::table::Table;
use crate::vocabulary::{Area, Cell, Code, Event, Reply, Signal, Source, Transaction};
use fault::Fault;
use world::{Coverage, Deed, Stage, WORDS, World};

/// What was explored and what was found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CheckReport {
    /// Most caches explored.
    pub caches: usize,
    /// Distinct situations with so many caches.
    pub situations: usize,
    /// Events tried in them.
    pub events: usize,
    /// States of a copy, the invalid one included.
    pub states: usize,
    /// Cells of the table that happen; each was reached unless a finding says otherwise.
    pub cells: usize,
    /// Cells that are declared impossible.
    pub impossible: usize,
    /// What is wrong; empty if nothing is.
    pub findings: Vec<Finding>,
}

/// Explores a protocol. After a broken promise it stops: what follows from it is of no interest.
#[must_use]
pub fn check(table: &Table) -> CheckReport {
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
        let mut search = Search::new(table, caches);
        let broken = search.explore(&mut coverage);
        (report.caches, report.situations) = (caches, search.met.len());
        report.events = search.edges.len();
        if let Some((deeds, fault)) = broken {
            report.findings.push(search.finding(&deeds, &fault, &mut coverage));
            return report;
        }
        if let Some(stuck) = search.stuck(&mut coverage) {
            report.findings.push(stuck);
            return report;
        }
    }
    report.findings = gaps(table, &coverage);
    report
}

/// A breadth-first search.
struct Search<'a> {
    table: &'a Table,
    caches: usize,
    met: Vec<World>,
    /// For each world but the first, where it was met from and by which deed.
    parents: Vec<Option<(usize, Deed)>>,
    edges: Vec<(usize, usize)>,
}

impl<'a> Search<'a> {
    fn new(table: &'a Table, caches: usize) -> Self {
        Self { table, caches, met: Vec::new(), parents: Vec::new(), edges: Vec::new() }
    }

    /// Visits every world. Returns the shortest way to a broken promise.
    fn explore(&mut self, coverage: &mut Coverage) -> Option<(Vec<Deed>, Fault)> {
        let mut places = FxHashMap::default();
        places.insert(World::START, 0);
        self.met.push(World::START);
        self.parents.push(None);
        let deeds = self.deeds();
        let mut at = 0;
        while at < self.met.len() {
            let from = self.met[at];
            for &deed in &deeds {
                let mut stage = Stage { table: self.table, coverage, story: None };
                let world = match possible(self.table, from, deed) {
                    true => stage.perform(from, deed),
                    false => continue,
                };
                let world = match world {
                    Ok(Some(world)) => world,
                    Ok(None) => continue,
                    Err(fault) => {
                        let mut way = self.way(at);
                        way.push(deed);
                        return Some((way, fault));
                    }
                };
                let next = *places.entry(world).or_insert(self.met.len());
                if next == self.met.len() {
                    self.met.push(world);
                    self.parents.push(Some((at, deed)));
                }
                self.edges.push((at, next));
            }
            at += 1;
        }
        None
    }

    fn deeds(&self) -> Vec<Deed> {
        let mut deeds = Vec::new();
        for cache in 0..self.caches {
            for supplier in 0..self.caches.saturating_sub(1).max(1) {
                for word in 0..WORDS {
                    for &area in Area::ALL {
                        for event in [Event::Read, Event::Write] {
                            deeds.push(Deed { cache, event, word, area, supplier });
                        }
                    }
                }
            }
            let (event, area) = (Event::Replace, Area::Shared);
            deeds.push(Deed { cache, event, word: 0, area, supplier: 0 });
        }
        deeds
    }

    /// The deeds that lead to a world.
    fn way(&self, mut at: usize) -> Vec<Deed> {
        let mut way = Vec::new();
        while let Some((before, deed)) = self.parents[at] {
            way.push(deed);
            at = before;
        }
        way.reverse();
        way
    }

    /// Tells the deeds again in words.
    fn finding(&self, deeds: &[Deed], fault: &Fault, coverage: &mut Coverage) -> Finding {
        Finding {
            kind: fault.kind(),
            message: fault.to_string(),
            steps: self.story(deeds, coverage),
            caches: self.caches,
        }
    }

    fn story(&self, deeds: &[Deed], coverage: &mut Coverage) -> Vec<String> {
        let mut world = World::START;
        let mut steps = Vec::new();
        for &deed in deeds {
            let what = match deed.event {
                Event::Read => format!("cache {} reads word {}", deed.cache, deed.word),
                Event::Write => format!("cache {} writes word {}", deed.cache, deed.word),
                Event::Replace => format!("cache {} replaces the block", deed.cache),
            };
            let area = match deed.area {
                Area::Shared => "",
                Area::Private => " of a private area",
            };
            let story = Some(format!("{what}{area}: "));
            let mut stage = Stage { table: self.table, coverage, story };
            if let Ok(Some(next)) = stage.perform(world, deed) {
                world = next;
            }
            steps.extend(stage.story);
        }
        steps
    }

    /// A world from which the copies can never all go.
    fn stuck(&self, coverage: &mut Coverage) -> Option<Finding> {
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); self.met.len()];
        for &(from, to) in &self.edges {
            before[to].push(from);
        }
        let mut returns = vec![false; self.met.len()];
        returns[0] = true;
        let mut open = vec![0];
        while let Some(at) = open.pop() {
            for &from in &before[at] {
                if !std::mem::replace(&mut returns[from], true) {
                    open.push(from);
                }
            }
        }
        let at = returns.iter().position(|&returns| !returns)?;
        Some(Finding {
            kind: Kind::NoExit,
            message: "from here the copies can never all be replaced".to_owned(),
            steps: self.story(&self.way(at), coverage),
            caches: self.caches,
        })
    }
}

/// Cells that contradict themselves: a block without a transaction that brings it, or the other
/// way round; a replacement that leaves the copy.
fn malformed(table: &Table) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (state, event, condition, action) in table.actions() {
        let brings = action.transaction.is_some_and(Transaction::brings_block);
        let problem = if brings && action.source == Source::Own {
            "a transaction brings a block that comes from nowhere"
        } else if !brings && action.source != Source::Own {
            "a block comes without a transaction that brings it"
        } else if event == Event::Replace && table.role(action.next).is_copy() {
            "a replacement leaves the copy"
        } else {
            continue;
        };
        let [state, event] = [table.name(state), event.name()];
        let condition = table.conditions()[usize::from(condition)].name;
        findings.push(Finding {
            kind: Kind::Malformed,
            message: format!("{event} in state {state} in condition [{condition}]: {problem}"),
            steps: Vec::new(),
            caches: 0,
        });
    }
    findings
}

/// Only a copy can be replaced.
fn possible(table: &Table, world: World, deed: Deed) -> bool {
    deed.event != Event::Replace || table.role(world.caches[deed.cache].state).is_copy()
}

/// Cells, replies and states that nothing leads to, and states that are never left.
fn gaps(table: &Table, coverage: &Coverage) -> Vec<Finding> {
    let unreached =
        |message| Finding { kind: Kind::Unreached, message, steps: Vec::new(), caches: CACHES_MAX };
    let mut findings = Vec::new();
    for (label, state) in table.states().iter().zip(0u8..) {
        let name = label.name;
        if !coverage.seen[usize::from(state)] {
            findings.push(unreached(format!("no event leads to state {name}")));
        } else if !coverage.left[usize::from(state)] {
            let message = format!("state {name} is never left");
            findings.push(Finding { kind: Kind::NoExit, ..unreached(message) });
        }
        for &event in Event::ALL {
            for (condition, index) in table.conditions().iter().zip(0u8..) {
                let cell = table.cell(state, event, index);
                let reached = coverage.cells[table.cell_index(state, event, index)];
                if matches!(cell, Cell::Does(_)) && !reached {
                    let [event, condition] = [event.name(), condition.name];
                    let what = format!("{event} in state {name} in condition [{condition}]");
                    findings.push(unreached(format!("{what} never happens: declare it so")));
                }
            }
        }
        for &signal in Signal::ALL {
            let reached = coverage.replies[Table::reply_index(state, signal)];
            if matches!(table.reply(state, signal), Reply::Becomes { .. }) && !reached {
                let what = format!("a copy in state {name} never sees {}", signal.name());
                findings.push(unreached(format!("{what}: declare it so")));
            }
        }
    }
    findings
}
