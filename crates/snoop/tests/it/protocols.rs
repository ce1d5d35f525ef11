//! Every protocol keeps its promises, and the checker finds planted bugs.
use homenode_snoop::{
    Action, DataSupplier, FindingKind, ProcessorEvent, ProtocolSpec, ProtocolTable, Reply, Signal,
    TABLE, TableCell, Transaction, check,
};

/// A table with names instead of numbers, for planting bugs.
struct Plant(ProtocolTable);

impl Plant {
    fn new(protocol: &str) -> Self {
        Self(ProtocolSpec::parse(protocol).unwrap().table())
    }

    fn state(&self, name: &str) -> u8 {
        self.0.state(name).unwrap()
    }

    /// Changes what the cache does in a state (by name) on an event in a condition (by name).
    fn cell(
        mut self,
        state: &str,
        event: ProcessorEvent,
        condition: &str,
        change: impl Fn(&Self, &mut Action<u8>),
    ) -> Self {
        let (state, condition) = (self.state(state), self.0.condition_named(condition).unwrap());
        let TableCell::Does(mut action) = self.0.cell(state, event, condition) else {
            panic!("this cell never happens")
        };
        change(&self, &mut action);
        self.0.set_cell(state, event, condition, TableCell::Does(action));
        self
    }

    /// Changes the next state of a copy that sees a signal, whether memory takes its data, and
    /// whether it takes the written word.
    fn reply(mut self, state: &str, signal: Signal, next: &str, memory: bool, word: bool) -> Self {
        let next = self.state(next);
        self.0.set_reply(self.state(state), signal, Reply::Becomes { next, memory, word });
        self
    }

    /// The checker's first finding, with the number of events that lead to it.
    fn found(&self) -> (FindingKind, usize) {
        let report = check(&self.0);
        let first = report.findings.first().expect("the bug is found");
        (first.kind, first.steps.len())
    }
}

#[test]
fn every_protocol_keeps_its_promises() {
    for entry in TABLE {
        let report = check(&(entry.build)());
        assert_eq!(report.findings, [], "{}", entry.name);
        assert_eq!(report.caches, 4);
        // Four states, as MESI has, make 32 situations at the least; fewer states make fewer.
        let least = 8 * report.states.min(4);
        assert!(report.situations >= least && report.events > 1_000, "{}: {report:?}", entry.name);
    }
}

#[test]
fn dropped_invalidations_are_found() {
    for name in ["mesi", "amsd", "moesi"] {
        let bug = Plant::new(name).reply("S", Signal::Invalidate, "S", false, false);
        assert_eq!(bug.found(), (FindingKind::NotAlone, 3), "{name}: a copy ignores an invalidate");
        let bug = Plant::new(name).reply("E", Signal::ReadInvalidate, "E", false, false);
        assert_eq!(bug.found(), (FindingKind::NotAlone, 2), "{name}: a copy ignores a write miss");
        let bug = Plant::new(name)
            .cell("S", ProcessorEvent::Write, "copies", |_, a| a.transaction = None);
        assert_eq!(
            bug.found(),
            (FindingKind::NotAlone, 3),
            "{name}: a write hit announces nothing"
        );
    }
    for name in ["pscr", "dragon"] {
        let shared = if name == "pscr" { "S" } else { "SC" };
        let bug = Plant::new(name).reply(shared, Signal::Write, shared, false, false);
        assert_eq!(bug.found(), (FindingKind::StaleRead, 3), "{name}: a copy ignores an update");
        let quiet = |_: &Plant, a: &mut Action<u8>| a.transaction = None;
        let bug = Plant::new(name).cell(shared, ProcessorEvent::Write, "copies", quiet);
        assert_eq!(
            bug.found(),
            (FindingKind::TwoOwners, 2),
            "{name}: a write hit announces nothing"
        );
    }
    let bug = Plant::new("pscr").reply("M", Signal::ReadPrivate, "SM", false, false);
    assert_eq!(bug.found(), (FindingKind::NotAlone, 2), "a private copy stays behind");
}

#[test]
fn wrong_next_states_are_found() {
    for name in ["mesi", "amsd", "pscr", "moesi", "dragon"] {
        let stays = |plant: &Plant, a: &mut Action<u8>| a.next = plant.state("E");
        let bug = Plant::new(name).cell("E", ProcessorEvent::Write, "no copy", stays);
        assert_eq!(bug.found().0, FindingKind::LostWrite, "{name}: a write leaves E clean");
        let condition = if name == "amsd" { "only M" } else { "copies" };
        let bug = Plant::new(name).cell("I", ProcessorEvent::Read, condition, stays);
        assert_eq!(
            bug.found(),
            (FindingKind::NotAlone, 2),
            "{name}: a second copy believes itself alone"
        );
    }
    let bug = Plant::new("amsd").reply("MD", Signal::ReadBlock, "S", true, false);
    assert_eq!(bug.found(), (FindingKind::NotAlone, 4), "amsd: a migrating block leaves a copy");
    let clean = |plant: &Plant, a: &mut Action<u8>| a.next = plant.state("MC");
    let bug = Plant::new("amsd").cell("S2", ProcessorEvent::Write, "copies", clean);
    assert_eq!(bug.found(), (FindingKind::LostWrite, 3), "amsd: a migratory write counts as clean");
    let bug = Plant::new("pscr").reply("SM", Signal::Write, "SM", false, true);
    assert_eq!(bug.found(), (FindingKind::TwoOwners, 2), "pscr: the old owner remains");
    let clean = |plant: &Plant, a: &mut Action<u8>| a.next = plant.state("E");
    let bug = Plant::new("pscr").cell("I", ProcessorEvent::Read, "private, dirty", clean);
    assert_eq!(bug.found(), (FindingKind::LostWrite, 2), "pscr: what moves loses its dirt");
    let bug = Plant::new("moesi").reply("M", Signal::ReadBlock, "S", false, false);
    assert_eq!(bug.found(), (FindingKind::LostWrite, 2), "moesi: a supplier forgets to own");
}

#[test]
fn forgotten_write_backs_are_found() {
    let quiet = |_: &Plant, a: &mut Action<u8>| a.transaction = None;
    for name in ["mesi", "amsd", "pscr", "moesi", "dragon"] {
        let bug = Plant::new(name).cell("M", ProcessorEvent::Replace, "no copy", quiet);
        assert_eq!(bug.found(), (FindingKind::LostWrite, 2), "{name}");
    }
    let bug = Plant::new("amsd").cell("MD", ProcessorEvent::Replace, "no copy", quiet);
    assert_eq!(bug.found(), (FindingKind::LostWrite, 4));
    for (name, owner) in [("pscr", "SM"), ("moesi", "O"), ("dragon", "SM")] {
        let bug = Plant::new(name).cell(owner, ProcessorEvent::Replace, "copies", quiet);
        assert_eq!(bug.found().0, FindingKind::LostWrite, "{name}");
    }
    for name in ["mesi", "amsd"] {
        let bug = Plant::new(name).reply("M", Signal::ReadBlock, "S", false, false);
        assert_eq!(bug.found(), (FindingKind::LostWrite, 2), "{name}: memory is not updated");
    }
}

#[test]
fn stale_supplies_are_found() {
    let from_memory = |_: &Plant, a: &mut Action<u8>| a.source = DataSupplier::Memory;
    for name in ["mesi", "pscr", "moesi", "dragon"] {
        let bug = Plant::new(name).cell("I", ProcessorEvent::Read, "copies", from_memory);
        assert_eq!(bug.found(), (FindingKind::StaleRead, 2), "{name}");
    }
    let bug = Plant::new("amsd").cell("I", ProcessorEvent::Read, "only MD", from_memory);
    assert_eq!(bug.found(), (FindingKind::StaleRead, 4));
    let from_cache = |_: &Plant, a: &mut Action<u8>| a.source = DataSupplier::Cache;
    let bug = Plant::new("mesi").cell("I", ProcessorEvent::Read, "no copy", from_cache);
    assert_eq!(bug.found(), (FindingKind::NoSupplier, 1));
}

#[test]
fn states_without_entry_or_exit_are_found() {
    let shared = |plant: &Plant, a: &mut Action<u8>| a.next = plant.state("S");
    let bug = Plant::new("mesi").cell("I", ProcessorEvent::Read, "no copy", shared);
    let report = check(&bug.0);
    let texts: Vec<&str> = report.findings.iter().map(|f| f.message.as_str()).collect();
    assert_eq!(texts[0], "no event leads to state E");
    let keeps = |plant: &Plant, a: &mut Action<u8>| {
        (a.transaction, a.next) = (Some(Transaction::UpdateBlock), plant.state("M"));
    };
    let bug = Plant::new("moesi").cell("M", ProcessorEvent::Replace, "no copy", keeps);
    assert_eq!(bug.found(), (FindingKind::Malformed, 0), "what is dirty never leaves");
    let again = |_: &Plant, a: &mut Action<u8>| a.again = true;
    let bug = Plant::new("dragon").cell("M", ProcessorEvent::Write, "no copy", again);
    assert_eq!(bug.found(), (FindingKind::Endless, 2));
}

#[test]
fn what_is_declared_impossible_but_happens_is_found() {
    let mut plant = Plant::new("mesi");
    let (state, condition) = (plant.state("S"), plant.0.condition_named("no copy").unwrap());
    let impossible = TableCell::Impossible("S has company");
    plant.0.set_cell(state, ProcessorEvent::Write, condition, impossible);
    let report = check(&plant.0);
    let finding = &report.findings[0];
    assert_eq!((finding.kind, finding.caches), (FindingKind::NotImpossible, 2));
    assert_eq!(
        finding.to_string(),
        "write in state S while the others are in condition [no copy]: declared impossible \
         (S has company)\n  \
         1. cache 0 reads word 0: I -> E, read-block from memory\n  \
         2. cache 1 reads word 0: I -> S, read-block from cache; cache 0: E -> S\n  \
         3. cache 0 replaces the block: S -> I, no transaction\n  \
         4. cache 1 writes word 0: "
    );
}
