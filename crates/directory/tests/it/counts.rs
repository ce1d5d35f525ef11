//! The engine's counts equal the slow oracle's, on random traces, for every kind of machine.

use std::collections::BTreeMap;

use crate::oracle::random::{machine, named, simulate, trace};
use crate::oracle::{Home, Oracle};
use homenode_base::Rng;

#[test]
fn the_engine_agrees_with_the_oracle_in_every_count() {
    let mut rng = Rng::new(1);
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    for round in 0..600 {
        let nodes = match round % 4 {
            0 => 2,
            1 => 3,
            2 => u16::try_from(4 + rng.below(13)).unwrap(),
            _ => u16::try_from(17 + rng.below(48)).unwrap(),
        };
        let machine = machine(&mut rng, nodes);
        let trace = trace(&mut rng, nodes, 1_500);
        let mut oracle = Oracle::new(machine);
        trace.iter().for_each(|&r| oracle.access(r));
        let found = simulate(&machine, &trace, false);
        assert_eq!(named(&found), oracle.counts, "round {round}: {machine:?}");
        for (name, count) in oracle.counts {
            *seen.entry(name).or_default() += count;
        }
    }
    // The traces cover everything that can happen.
    for name in [
        "request",
        "reply",
        "forward",
        "invalidate",
        "ack",
        "sharing_write_back",
        "ownership_transfer",
        "write_back",
        "local_fills",
        "local_write_backs",
        "upgrades",
        "cold",
        "pages_moved",
    ] {
        assert!(seen.get(name).copied().unwrap_or(0) > 1_000, "{name}: {seen:?}");
    }
    assert!(!seen.contains_key("refuse"), "{seen:?}");
}

/// The machines named in the specification, one by one.
#[test]
fn every_combination_agrees_with_the_oracle() {
    let mut rng = Rng::new(3);
    for nodes in [1, 2, 4, 8, 16, 17, 32, 64] {
        for home in [Home::RoundRobin, Home::FirstTouch] {
            for ways in [1, 4] {
                for pointers in [None, Some(1), Some(2), Some(4)] {
                    let mut machine = machine(&mut rng, nodes);
                    (machine.home, machine.ways, machine.pointers) = (home, ways, pointers);
                    let trace = trace(&mut rng, nodes, 800);
                    let mut oracle = Oracle::new(machine);
                    trace.iter().for_each(|&r| oracle.access(r));
                    let found = simulate(&machine, &trace, false);
                    assert_eq!(named(&found), oracle.counts, "{machine:?}");
                }
            }
        }
    }
}

/// Sets of nodes of more than one word.
#[test]
fn large_machines_agree_with_the_oracle() {
    for nodes in [65, 100, 1024] {
        let mut rng = Rng::new(u64::from(nodes));
        for round in 0..8 {
            let machine = machine(&mut rng, nodes);
            let trace = trace(&mut rng, nodes, 2_000);
            let mut oracle = Oracle::new(machine);
            trace.iter().for_each(|&r| oracle.access(r));
            let found = simulate(&machine, &trace, round % 3 == 0);
            assert_eq!(named(&found), oracle.counts, "round {round}: {machine:?}");
        }
    }
}

#[test]
fn checking_finds_nothing_and_changes_nothing() {
    let mut rng = Rng::new(2);
    for _ in 0..200 {
        let nodes = u16::try_from(1 + rng.below(70)).unwrap();
        let machine = machine(&mut rng, nodes);
        let trace = trace(&mut rng, nodes, 1_500);
        let [plain, checked] = [false, true].map(|check| simulate(&machine, &trace, check));
        assert_eq!(plain, checked, "{machine:?}");
    }
}
