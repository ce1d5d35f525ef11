//! Every page-coherence policy against the oracle, and the clauses of the model one by one.

use std::collections::BTreeMap;

use crate::oracle::coherence::{Bill, Page, Policy, Reference};
use crate::support::{self, Trace, options};
use homenode_base::{BlockSize, Rng};
use homenode_machine::{PriceList, PricedMachine, Prices};
use homenode_placement::policy::{COUNT_END, Entry, PlacementSetup};
use homenode_placement::{
    Cost, HistoryOptions, NetworkPackets, PolicySpec, TABLE, Tally, Times, coherence,
};

fn random_trace(rng: &mut Rng, processors: u16) -> Trace {
    support::random_trace(rng, processors, 200, 0..8, [20, 3])
}

fn markatos(block_bytes: u64) -> PriceList {
    PricedMachine::parse("markatos")
        .unwrap()
        .price_list(BlockSize::new(block_bytes).unwrap(), false)
        .unwrap()
}

fn setup(processors: u16, block_bytes: u64) -> PlacementSetup {
    let block = BlockSize::new(block_bytes).unwrap();
    PlacementSetup::new(processors, block, &markatos(block_bytes))
}

fn parse(text: &str) -> PolicySpec {
    PolicySpec::parse(text, &[TABLE, coherence::TABLE]).unwrap()
}

/// How finely histories are built, beyond what the policy requests.
#[derive(Clone, Copy, Debug)]
struct Fineness<'a> {
    times: Times,
    splits: &'a [u64],
}

fn engine(text: &str, setup: &PlacementSetup, trace: &Trace, finer: Fineness<'_>) -> Tally {
    let mut policy = parse(text).build(setup).unwrap();
    let splits = policy.split_period().into_iter().chain(finer.splits.to_vec());
    let options = HistoryOptions {
        split_periods: splits.collect(),
        ..options(setup.block_size.bytes(), setup.processors)
    };
    let histories = support::histories(trace, options, policy.times().max(finer.times));
    let mut tally = Tally::default();
    for block in histories.blocks() {
        policy.block(block, &mut tally);
    }
    tally
}

const AS_NEEDED: Fineness<'_> = Fineness { times: Times::Visits, splits: &[] };

/// The oracle's form of a policy, from its name and parameters alone.
fn definition(text: &str, setup: &PlacementSetup) -> Policy {
    let spec = parse(text);
    let values: BTreeMap<_, _> = spec.resolved(setup).into_iter().collect();
    let name = spec.name();
    let number = |key: &str| values[key].parse::<u64>().unwrap();
    let start = || match values["counter"].as_str() {
        "words/8" => (setup.block_size.words() / 8).max(1),
        "bytes/8" => (setup.block_size.bytes() / 8).max(1),
        n => n.parse().unwrap(),
    };
    Policy {
        update: name.starts_with("upt"),
        freeze: name.contains("freez").then(|| (number("f"), number("d"))),
        by_writes: values.get("by").is_some_and(|by| by == "writes"),
        counter: name.contains("del").then(|| (start(), values["count"] == "accesses")),
        charge_mappings: values["charge-mappings"] == "on",
    }
}

fn add(a: &mut Bill, b: &Bill) {
    a.local += b.local;
    a.remote += b.remote;
    a.replication += b.replication;
    a.multicast += b.multicast;
    a.os += b.os;
    a.replication_packets += b.replication_packets;
    a.remote_packets += b.remote_packets;
    a.multicast_packets += b.multicast_packets;
}

fn oracle(text: &str, setup: &PlacementSetup, trace: &Trace) -> (Tally, Bill) {
    let (mut tally, mut bill) = (Tally::default(), Bill::default());
    if text.starts_with("all-") {
        for &(_, _, write) in trace {
            match (text, write) {
                ("all-local", _) => bill.local += 5,
                (_, false) => bill.remote += 100,
                (_, true) => bill.remote += 10,
            }
            bill.remote_packets += u128::from(text == "all-remote");
            let count = match (text, write) {
                ("all-local", false) => &mut tally.local_reads,
                ("all-local", true) => &mut tally.local_writes,
                (_, false) => &mut tally.remote_reads,
                (_, true) => &mut tally.remote_writes,
            };
            *count += 1;
        }
        return (tally, bill);
    }
    let policy = definition(text, setup);
    let mut pages: BTreeMap<u64, Page> = BTreeMap::new();
    for (time, &(processor, block, write)) in (0..).zip(trace) {
        let words = u128::from(setup.block_size.words());
        let page = pages.entry(block).or_insert_with(|| Page::new(policy, words, processor));
        page.access(Reference { time, processor, write });
    }
    for page in pages.values() {
        tally += &page.tally;
        add(&mut bill, &page.bill);
    }
    (tally, bill)
}

fn priced(tally: &Tally, list: &PriceList) -> Bill {
    let steps = Cost::on(tally, list).parts().map(|(_, amount)| amount.steps.unwrap());
    let [local, remote, replication, multicast, os] = steps;
    let packets = NetworkPackets::of(tally, list.events().unwrap());
    Bill {
        local,
        remote,
        replication,
        multicast,
        os,
        replication_packets: packets.replication,
        remote_packets: packets.remote,
        multicast_packets: packets.multicast,
    }
}

#[test]
fn every_policy_follows_its_definition_reference_by_reference() {
    let mut rng = Rng::new(7);
    for round in 0..360 {
        let processors = [2, 3, 5, 64, 70, 1024][round % 6];
        let block_bytes = [4, 64, 256][round / 6 % 3];
        // Even with a thousand processors some must share blocks repeatedly.
        let trace = random_trace(&mut rng, processors.min([4, processors][round / 18 % 2]));
        let spread = processors / 4;
        let trace: Trace = trace
            .into_iter()
            .map(|(p, b, w)| {
                (if p < 4 { (p * spread.max(1)).min(processors - 1) } else { p }, b, w)
            })
            .collect();
        let setup = setup(processors, block_bytes);
        for text in coherence::TABLE.iter().flat_map(Entry::variants) {
            let text = text.as_str();
            let found = engine(text, &setup, &trace, AS_NEEDED);
            let (expected, bill) = oracle(text, &setup, &trace);
            assert_eq!(found, expected, "{text} {processors} {block_bytes} {trace:?}");
            assert_eq!(priced(&found, &markatos(block_bytes)), bill, "{text} {trace:?}");
            assert_eq!(found.accesses(), trace.len() as u64, "{text}: every reference once");
            let split = Fineness { times: Times::FirstReads, splits: &[3, 17] };
            for finer in [split, Fineness { times: Times::All, splits: &[] }] {
                assert_eq!(found, engine(text, &setup, &trace, finer), "{text}: {finer:?}");
            }
        }
    }
}

/// Long runs, so that counters reach 0 in the middle of repeated cycles.
#[test]
fn counters_end_anywhere_in_a_run() {
    let mut rng = Rng::new(8);
    for _ in 0..300 {
        let mut trace = Trace::new();
        for _ in 0..1 + rng.below(8) {
            let p = u16::try_from(rng.below(3)).unwrap();
            let (writes, reads) = (rng.below(4), rng.below(4));
            for _ in 0..1 + rng.below(12) {
                trace.extend((0..writes).map(|_| (p, 0, true)));
                trace.extend((0..reads).map(|_| (p, 0, false)));
            }
        }
        let setup = setup(3, 64);
        for counter in [1, 2, 5, 7, 19, 40] {
            for name in ["upt.del", "inv.del", "inv.freez.del"] {
                for count in ["reads", "accesses"] {
                    let text = format!("{name}:counter={counter},count={count}");
                    let found = engine(&text, &setup, &trace, AS_NEEDED);
                    assert_eq!(found, oracle(&text, &setup, &trace).0, "{text} {trace:?}");
                }
            }
        }
    }
}

#[test]
fn faulty_parameters_say_what_is_expected() {
    let error = |text: &str| PolicySpec::parse(text, &[coherence::TABLE]).unwrap_err().to_string();
    assert!(error("upt.del:counter=words").contains("words/8, bytes/8, or a whole number from 1"));
    assert!(error("upt.del:counter=0").contains("counter=0: expected words/8"));
    assert!(error("inv.del:count=writes").contains("reads or accesses"));
    assert!(error("inv.freez:d=0").contains("whole number from 1"));
    assert!(error("upt:f=3").contains("its parameters are charge-mappings"));
    assert_eq!(parse("inv.del").values(&setup(2, 64)).get(0), COUNT_END);
}

/// Policies that are meaningless on a machine of the other model give a remedy.
#[test]
fn policies_and_machines_of_different_models() {
    let numa = Prices::whole(Some(15), Some(59), None, None).into();
    let numa = PlacementSetup::new(4, BlockSize::new(64).unwrap(), &numa);
    let error = |text: &str, setup: &PlacementSetup| match parse(text).build(setup) {
        Ok(_) => String::new(),
        Err(error) => error.to_string(),
    };
    for name in ["upt", "upt.del", "all-local", "all-remote"] {
        assert!(error(name, &numa).contains("choose markatos or another"), "{name}");
    }
    for name in ["inv", "inv.freez", "inv.del", "inv.freez.del", "first-touch"] {
        assert_eq!(error(name, &numa), "", "{name}");
        assert_eq!(error(name, &setup(4, 64)), "", "{name}");
    }
    for name in ["ace", "delay", "platinum", "migrate", "best-static", "all-global"] {
        let error = error(name, &setup(4, 64));
        assert!(error.contains("r and R cannot be derived; choose upt, inv"), "{name}: {error}");
    }
}
