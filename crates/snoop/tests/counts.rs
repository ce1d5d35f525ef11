//! The engine counts what the slow oracle counts, on random traces, for every protocol and cache.
#![allow(clippy::unwrap_used, reason = "helpers of tests are tests")]

mod oracle;

use std::collections::BTreeMap;

use homenode_base::{Flags, Rng};
use homenode_machine::CacheShape;
use homenode_snoop::{
    Counter, Counts, MissRule, Misses, ProtocolSpec, Reading, Setup, Sharing, TABLE,
};
use homenode_trace::Batch;
use oracle::{Machine, Oracle, Ref};

fn batch(refs: &[Ref]) -> Batch {
    let flags = |r: &Ref| {
        let private = if r.private { Flags::PRIVATE } else { Flags(0) };
        private.union(if r.kernel { Flags::KERNEL } else { Flags(0) }).0
    };
    Batch {
        thread: refs.iter().map(|r| r.thread).collect(),
        kind: refs.iter().map(|r| u8::from(r.write)).collect(),
        size: refs.iter().map(|r| r.size).collect(),
        addr: refs.iter().map(|r| r.addr).collect(),
        flags: refs.iter().map(flags).collect(),
        ..Batch::default()
    }
}

fn setup(machine: &Machine, check: bool) -> Setup {
    Setup {
        processors: u16::try_from(machine.processors).unwrap(),
        cache: CacheShape {
            size_bytes: machine.size,
            block_size_bytes: machine.block,
            associativity: machine.ways as u64,
        },
        private: Vec::new(),
        reading: Reading { private_kernel: machine.private_kernel, ..Reading::default() },
        rule: if machine.torrellas { MissRule::Torrellas } else { MissRule::Dubois },
        check,
    }
}

fn simulate(machine: &Machine, refs: &[Ref], check: bool) -> Counts {
    let table = ProtocolSpec::parse(machine.protocol).unwrap().table();
    let mut counter = Counter::new(&setup(machine, check), table).unwrap();
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

/// The counts by the oracle's names, without those that are 0.
fn named(counts: &Counts) -> BTreeMap<String, u64> {
    let t = &counts.transactions;
    let mut all = vec![
        ("references".to_owned(), counts.references),
        ("kernel references".to_owned(), counts.kernel.references),
        ("read_block_memory".to_owned(), t.read_block_memory),
        ("read_block_cache".to_owned(), t.read_block_cache),
        ("read_invalidate_memory".to_owned(), t.read_invalidate_memory),
        ("read_invalidate_cache".to_owned(), t.read_invalidate_cache),
        ("invalidate".to_owned(), t.invalidate),
        ("write".to_owned(), t.write),
        ("update_block".to_owned(), t.update_block),
    ];
    let mut part = |prefix: &str, m: &Misses, s: &Sharing| {
        for (name, value) in [
            ("cold", m.cold),
            ("replacement", m.replacement),
            ("invalidation_true", m.invalidation_true),
            ("invalidation_false", m.invalidation_false),
            ("invalidation_passive", m.invalidation_passive),
            ("removal", m.removal),
            ("coherence_true", s.true_sharing),
            ("coherence_false", s.false_sharing),
            ("coherence_passive", s.passive),
        ] {
            all.push((format!("{prefix}{name}"), value));
        }
    };
    part("", &counts.misses, &counts.coherence);
    part("kernel ", &counts.kernel.misses, &counts.kernel.coherence);
    all.into_iter().filter(|&(_, value)| value > 0).collect()
}

/// References to a few hundred words that processors share in various ways.
fn random_trace(rng: &mut Rng, length: usize) -> Vec<Ref> {
    let words = 20 + rng.below(400);
    let writes = 5 + rng.below(50);
    let flags = rng.below(3);
    let threads = if rng.below(4) == 0 { 70 } else { 6 };
    let one = |_| {
        let word = if rng.below(2) == 0 { rng.below(words) } else { rng.below(24) };
        // Every other 64 bytes are private, if anything is; now and then a reference disagrees.
        let private = flags > 0 && ((word / 16) % 2 == 1) != (flags > 1 && rng.below(40) == 0);
        Ref {
            thread: u16::try_from(rng.below(threads)).unwrap(),
            write: rng.below(100) < writes,
            addr: 0x1_0000 + word * 4 + if rng.below(20) == 0 { rng.below(4) } else { 0 },
            size: [1, 2, 4, 4, 4, 8, 8, 16, 64][usize::try_from(rng.below(9)).unwrap()],
            private,
            kernel: flags > 0 && rng.below(4) == 0,
        }
    };
    (0..length).map(one).collect()
}

/// A machine with small caches, so that everything happens often.
fn random_machine(rng: &mut Rng, protocol: &'static str) -> Machine {
    let block = 16 << rng.below(7);
    let ways = [1, 2, 3, 4, 8, 16, 17, 24][usize::try_from(rng.below(8)).unwrap()];
    let sets = 1 << rng.below(4);
    Machine {
        protocol,
        processors: match rng.below(5) {
            0 => 64,
            1 => 17,
            _ => usize::try_from(1 + rng.below(6)).unwrap(),
        },
        size: block * ways as u64 * sets,
        block,
        ways,
        torrellas: rng.below(3) == 0,
        private_kernel: protocol == "pscr" && rng.below(2) == 0,
    }
}

#[test]
fn the_engine_agrees_with_the_oracle_in_every_count() {
    for entry in TABLE {
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
        let updates = ["pscr", "dragon"].contains(&entry.name);
        let names: &[&str] = match entry.name {
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

#[test]
fn checking_finds_nothing_and_changes_nothing() {
    let mut rng = Rng::new(2);
    for entry in TABLE {
        for _ in 0..40 {
            let machine = random_machine(&mut rng, entry.name);
            let trace = random_trace(&mut rng, 3_000);
            let [plain, checked] = [false, true].map(|check| simulate(&machine, &trace, check));
            assert_eq!(plain, checked, "{machine:?}");
        }
    }
}
