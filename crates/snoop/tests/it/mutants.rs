//! Every protocol with every single change: the checker and the simulator agree on what is wrong.
use homenode_base::{Flags, Rng};
use homenode_machine::CacheShape;
use homenode_snoop::{
    Action, BusSetup, DataSupplier, FindingKind, Labelled, ProtocolTable, Reply, Signal, TABLE,
    TableCell, TraceOrderSimulation, Transaction, check,
};
use homenode_trace::Batch;

/// Every table with one next state, source or transaction changed, or one reply, in words.
fn mutants(table: &ProtocolTable) -> Vec<(String, ProtocolTable)> {
    let mut mutants = Vec::new();
    let states = 0..u8::try_from(table.states().len()).unwrap();
    for (state, event, condition, action) in table.actions() {
        let mut changes: Vec<Action<u8>> =
            states.clone().map(|next| Action { next, ..action }).collect();
        changes.push(Action { transaction: None, ..action });
        changes.extend(
            [DataSupplier::Own, DataSupplier::Memory, DataSupplier::Cache]
                .map(|source| Action { source, ..action }),
        );
        for change in changes.into_iter().filter(|&change| change != action) {
            let mut bug = table.clone();
            bug.set_cell(state, event, condition, TableCell::Does(change));
            let condition = table.conditions()[usize::from(condition)].name;
            let bus = change.transaction.map_or("quietly", Transaction::name);
            let [from, to] = [state, change.next].map(|s| table.name(s));
            let source = change.source.name();
            mutants.push((format!("{from} {event:?} [{condition}] {bus} {source} -> {to}"), bug));
        }
    }
    for state in states.clone() {
        for &signal in Signal::ALL {
            let Reply::Becomes { next, memory, word } = table.reply(state, signal) else {
                continue;
            };
            let mut changes: Vec<Reply<u8>> =
                states.clone().map(|next| Reply::Becomes { next, memory, word }).collect();
            changes.push(Reply::Becomes { next, memory: !memory, word });
            changes.push(Reply::Becomes { next, memory, word: !word });
            for change in changes.into_iter().filter(|&c| c != table.reply(state, signal)) {
                let mut bug = table.clone();
                bug.set_reply(state, signal, change);
                mutants.push((format!("{} sees {signal:?}: {change:?}", table.name(state)), bug));
            }
        }
    }
    mutants
}

/// References to a few blocks of three caches that hold two each, some of them private.
fn trace() -> Batch {
    let mut rng = Rng::new(4);
    let mut batch = Batch::default();
    for _ in 0..4_000 {
        batch.turns.push(u16::try_from(rng.below(3)).unwrap());
        batch.kind.push(u8::from(rng.below(3) == 0));
        batch.size.push(4);
        batch.addr.push(4 * rng.below(16));
        batch.flags.push(if rng.below(4) == 0 { Flags::PRIVATE.0 } else { 0 });
    }
    batch
}

/// What a simulation with shadow values finds wrong with a protocol, if anything.
fn simulate(table: ProtocolTable, trace: &Batch) -> Option<String> {
    let setup = BusSetup {
        check: true,
        ..BusSetup::new(3, CacheShape { size_bytes: 32, block_size_bytes: 16, associativity: 2 })
    };
    let mut counter = TraceOrderSimulation::new(&setup, table).unwrap();
    counter.push(trace).err().map(|error| error.to_string())
}

/// No change that makes a read stale escapes the model checker; what escapes it only costs
/// transactions, or saves some.
#[test]
fn what_the_simulator_catches_the_checker_has_found() {
    let trace = trace();
    for entry in TABLE {
        let table = (entry.build)();
        assert_eq!(simulate(table.clone(), &trace), None, "{}", entry.name);
        let (mut caught, mut escaped) = (0, 0);
        let all = mutants(&table);
        for (what, bug) in &all {
            let found = check(bug).findings.first().map(|finding| finding.kind);
            escaped += usize::from(found.is_none());
            // A mutant that leaves the processor without a copy cannot be followed further.
            if [FindingKind::Malformed, FindingKind::NoCopy, FindingKind::Endless]
                .map(Some)
                .contains(&found)
            {
                continue;
            }
            if let Some(error) = simulate(bug.clone(), &trace) {
                assert!(found.is_some(), "{}: {what}: {error}", entry.name);
                caught += 1;
            }
        }
        assert!(caught > all.len() / 8, "{}: {caught} of {}", entry.name, all.len());
        assert!(escaped < all.len() / 3, "{}: {escaped} of {}", entry.name, all.len());
    }
}
