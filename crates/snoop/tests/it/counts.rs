//! The engine counts what the slow oracle counts, on random traces, for every protocol and cache.

use std::collections::BTreeMap;

use homenode_base::{AccessKind, Flags, Rng};
use homenode_machine::CacheShape;
use homenode_snoop::{BusCounts, BusSetup, MissRule, ProtocolSpec, TABLE, TraceOrderSimulation};
use homenode_trace::Batch;

use crate::oracle::random::{named, random_machine, random_trace};
use crate::oracle::{Machine, Oracle, Ref};

fn batch(refs: &[Ref]) -> Batch {
    let flags = |r: &Ref| {
        let private = if r.private { Flags::PRIVATE } else { Flags(0) };
        let kernel = if r.kernel { Flags::KERNEL } else { Flags(0) };
        let user_page = if r.user_page { Flags::USER_AREA } else { Flags(0) };
        private.union(kernel).union(user_page).0
    };
    // A batch without flags is a case of its own for the engine.
    let flagged = refs.iter().any(|r| flags(r) != 0);
    Batch {
        turns: refs.iter().map(|r| r.thread).collect(),
        kind: refs.iter().map(kind).collect(),
        size: refs.iter().map(|r| r.size).collect(),
        addr: refs.iter().map(|r| r.addr).collect(),
        flags: refs.iter().filter(|_| flagged).map(flags).collect(),
        ..Batch::default()
    }
}

fn kind(r: &Ref) -> u8 {
    let kind = if r.fetch { AccessKind::Fetch } else { AccessKind::Read };
    if r.write { AccessKind::Write.code() } else { kind.code() }
}

/// The instruction cache of a machine.
fn instructions(machine: &Machine) -> Option<CacheShape> {
    let (size_bytes, ways) = machine.instructions?;
    let associativity = ways as u64;
    Some(CacheShape { size_bytes, block_size_bytes: machine.block, associativity })
}

fn setup(machine: &Machine, check: bool) -> BusSetup {
    BusSetup {
        instructions: instructions(machine),
        private_kernel: machine.private_kernel,
        rule: if machine.torrellas { MissRule::Torrellas } else { MissRule::Dubois },
        check,
        ..BusSetup::new(
            u16::try_from(machine.processors).unwrap(),
            CacheShape {
                size_bytes: machine.size,
                block_size_bytes: machine.block,
                associativity: machine.ways as u64,
            },
        )
    }
}

fn simulate(machine: &Machine, refs: &[Ref], check: bool) -> BusCounts {
    let table = ProtocolSpec::parse(machine.protocol).unwrap().table();
    let mut counter = TraceOrderSimulation::new(&setup(machine, check), table).unwrap();
    // Batches of several lengths: the engine must not notice.
    let mut rest = refs;
    for length in (1..).map(|n| n * 37 % 501 + 1) {
        let (now, later) = rest.split_at(rest.len().min(length));
        counter.push(&batch(now)).unwrap();
        rest = later;
        if rest.is_empty() {
            break;
        }
    }
    counter.finish()
}

#[test]
fn the_engine_agrees_with_the_oracle_in_every_count() {
    for entry in crate::oracle::protocols() {
        let mut rng = Rng::new(1);
        let mut seen: BTreeMap<String, u64> = BTreeMap::new();
        for round in 0..150 {
            let machine = random_machine(&mut rng, entry.name);
            let trace = random_trace(&mut rng, 1_500);
            let mut oracle = Oracle::new(machine);
            trace.iter().for_each(|&r| oracle.access(r));
            let found = simulate(&machine, &trace, false);
            let expected = oracle.finish();
            assert_eq!(named(&found), expected, "round {round}: {machine:?}");
            for (name, count) in expected {
                *seen.entry(name).or_default() += count;
            }
        }
        // The traces are worth something: what can happen under the protocol does.
        let base = entry.name.strip_suffix("-memory").unwrap_or(entry.name);
        let updates = ["pscr", "dragon"].contains(&base);
        let names: &[&str] = match base {
            "pscr" => &["removal", "write", "coherence_passive", "kernel removal"],
            "dragon" => &["write", "coherence_passive", "kernel coherence_false"],
            _ => &["invalidation_true", "invalidation_false", "invalidation_passive", "invalidate"],
        };
        for name in names.iter().chain(&["cold", "replacement", "update_block"]) {
            assert!(
                seen.get(*name).copied().unwrap_or(0) > 300,
                "{}: {name}: {seen:?}",
                entry.name
            );
        }
        assert_eq!(updates, !seen.contains_key("invalidation_true"), "{}", entry.name);
    }
}

/// Sets of caches of more than one word. Every block is shared by many, so that transactions reach
/// caches in all of a set's words.
#[test]
fn machines_of_any_size_agree_with_the_oracle() {
    for (processors, rounds) in [(65, 12), (100, 12), (1024, 6)] {
        let mut rng = Rng::new(processors);
        for (round, entry) in (0..rounds).flat_map(|n| TABLE.iter().map(move |e| (n, e))) {
            let processors = usize::try_from(processors).unwrap();
            let machine = Machine { processors, ..random_machine(&mut rng, entry.name) };
            let mut trace = random_trace(&mut rng, 3_000);
            for reference in &mut trace {
                reference.thread = u16::try_from(rng.below(1_100)).unwrap();
            }
            let mut oracle = Oracle::new(machine);
            trace.iter().for_each(|&r| oracle.access(r));
            let found = simulate(&machine, &trace, round % 3 == 0);
            assert_eq!(named(&found), oracle.finish(), "round {round}: {machine:?}");
        }
    }
}

#[test]
fn checking_finds_nothing_and_changes_nothing() {
    let mut rng = Rng::new(2);
    for entry in crate::oracle::protocols() {
        for _ in 0..40 {
            let machine = random_machine(&mut rng, entry.name);
            let trace = random_trace(&mut rng, 3_000);
            let [plain, checked] = [false, true].map(|check| simulate(&machine, &trace, check));
            assert_eq!(plain, checked, "{machine:?}");
        }
    }
}

#[test]
fn a_protocol_that_the_oracle_does_not_know_has_a_test_in_its_file() {
    for entry in TABLE.iter().filter(|entry| !crate::oracle::rules::PROTOCOLS.contains(&entry.name))
    {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/protocol");
        let text = std::fs::read_to_string(folder.join(format!("{}.rs", entry.name))).unwrap();
        assert!(text.contains("#[test]"), "{} is not tested", entry.name);
    }
}
