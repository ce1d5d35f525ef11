//! Every policy against the oracle, and the clauses of their definitions one by one.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::oracle::policy::{Ace, Definition, Delay, Places, Platinum, Reference, Static, World};
use crate::support::{self, Trace, options};
use homenode_base::{BlockSize, Rng};
use homenode_machine::{PriceModel, Prices};
use homenode_placement::policy::{Entry, ParamKind, PlacementSetup, Policy, PolicyError, RunsOn};
use homenode_placement::{
    Block, Cost, Histories, HistoryOptions, PolicyFactory, PolicySpec, TABLE, Tally, Times,
    coherence,
};

/// The definition of a policy, with the parameters that the policy reads; `None` for a policy that
/// has a test in its own file instead.
fn definition(spec: &PolicySpec, setup: &PlacementSetup) -> Option<Box<dyn Definition>> {
    let values = spec.values(setup);
    let global = setup.global;
    Some(match spec.name() {
        "ace" => Box::new(Ace { limit: values.get(0), global, ..Ace::default() }),
        "migrate" => Box::new(Ace { limit: u64::MAX, global, ..Ace::default() }),
        "delay" => Box::new(Delay {
            ace: Ace { limit: values.get(1), global, ..Ace::default() },
            n: values.get(0),
            ..Delay::default()
        }),
        "platinum" => Box::new(Platinum {
            t1: values.get(0),
            t2: values.get(1),
            backoff: values.get(2) == 1,
            to_global: values.get(3) == 1,
            ..Platinum::default()
        }),
        "first-touch" | "round-robin" | "random" | "all-global" | "best-static" => Box::new(Static),
        "follow-writes" => Box::new(FollowWrites),
        _ => return None,
    })
}

fn setup(processors: u16, prices: Prices) -> PlacementSetup {
    PlacementSetup::new(processors, BlockSize::new(64).unwrap(), &prices.into())
}

fn random_trace(rng: &mut Rng, processors: u16) -> Trace {
    support::random_trace(rng, processors, 120, 1..10, [12, 2])
}

/// Histories of one trace. They depend on the splits that a policy requests, but not on the policy
/// or the machine, so each is built once.
struct TraceHistories<'a> {
    trace: &'a Trace,
    processors: u16,
    by_splits: BTreeMap<Vec<u64>, Histories>,
}

impl<'a> TraceHistories<'a> {
    fn new(trace: &'a Trace, processors: u16) -> Self {
        Self { trace, processors, by_splits: BTreeMap::new() }
    }

    fn with_splits(&mut self, splits: Vec<u64>) -> &Histories {
        let Self { trace, processors, by_splits } = self;
        by_splits.entry(splits).or_insert_with_key(|splits| {
            let options =
                HistoryOptions { split_periods: splits.clone(), ..options(64, *processors) };
            support::histories(trace, options, Times::Visits)
        })
    }

    /// The counts of a policy over histories with splits beyond those that it requests.
    fn walk(&mut self, spec: &PolicySpec, setup: &PlacementSetup, more_splits: &[u64]) -> Tally {
        assert_eq!(setup.processors, self.processors);
        let mut policy = spec.build(setup).unwrap();
        let splits = policy.split_period().into_iter().chain(more_splits.iter().copied());
        let mut tally = Tally::default();
        for block in self.with_splits(splits.collect()).blocks() {
            policy.block(block, &mut tally);
        }
        tally
    }
}

fn oracle(
    spec: &PolicySpec,
    setup: &PlacementSetup,
    trace: &Trace,
) -> Option<(Tally, Option<u128>)> {
    let prices = setup.prices.unwrap();
    let mut blocks: BTreeMap<u64, Vec<Reference>> = BTreeMap::new();
    for (time, &(processor, block, write)) in (0..).zip(trace) {
        blocks.entry(block).or_default().push(Reference { time, processor, write });
    }
    let world = World { processors: setup.processors, global: setup.global };
    let (mut tally, mut cost) = (Tally::default(), Some(0));
    for (number, references) in blocks {
        let moves = ["ace", "delay", "platinum", "migrate", "follow-writes"].contains(&spec.name());
        let start = if moves {
            references[0].processor
        } else {
            crate::oracle::policy::static_place(&spec.text, world, &prices, number, &references)
        };
        let mut definition = definition(spec, setup)?;
        let (t, c) =
            crate::oracle::policy::interpret(definition.as_mut(), &prices, &references, start);
        tally += &t;
        cost = cost.and_then(|sum| Some(sum + c?));
    }
    Some((tally, cost))
}

/// Machines without and with global memory, finite and infinite prices.
fn machines() -> Vec<Prices> {
    vec![
        Prices::whole(Some(15), Some(59), None, None),
        Prices::whole(None, Some(59), None, None),
        Prices::whole(Some(15), Some(59), Some(4), Some(40)),
        Prices::whole(None, None, Some(3), Some(30)),
    ]
}

#[test]
fn every_policy_follows_its_definition_reference_by_reference() {
    let mut rng = Rng::new(5);
    for round in 0..1_500 {
        let processors = [2, 3, 5, 70][round % 4];
        let trace = random_trace(&mut rng, processors);
        let mut histories = TraceHistories::new(&trace, processors);
        for prices in machines() {
            let setup = setup(processors, prices);
            for text in TABLE.iter().flat_map(Entry::variants) {
                let spec = PolicySpec::parse(&text, &[TABLE]).unwrap();
                let global = spec.factory.needs_global() || text.contains("frozen=global");
                if global && !setup.global {
                    assert!(spec.build(&setup).is_err());
                    continue;
                }
                let found = histories.walk(&spec, &setup, &[]);
                assert_eq!(found.accesses(), trace.len() as u64, "{text}: every reference once");
                if let Some((expected, cost)) = oracle(&spec, &setup, &trace) {
                    assert_eq!(found, expected, "{text} {prices} {trace:?}");
                    assert_eq!(Cost::of(&found, &prices).total().steps, cost, "{text} {prices}");
                }
                let other = histories.walk(&spec, &setup, &[3, 17]);
                assert_eq!(found, other, "{text}: other splits");
            }
        }
    }
}

#[test]
fn every_policy_and_parameter_has_a_variant() {
    for entry in TABLE.iter().chain(coherence::TABLE) {
        let variants: Vec<String> = entry.variants().collect();
        for param in entry.params {
            let values: Vec<String> = match param.kind {
                ParamKind::Count { .. } => vec![format!("{}=", param.name)],
                ParamKind::Choice(words) | ParamKind::CountOr(words) => {
                    words[1..].iter().map(|w| format!("{}={w}", param.name)).collect()
                }
            };
            for value in values {
                let found = variants.iter().any(|v| v.contains(&value));
                assert!(found, "{}: {value} is not tested", entry.name);
            }
        }
    }
}

#[test]
fn a_policy_without_a_definition_here_has_a_test_in_its_file() {
    for entry in TABLE {
        let spec = PolicySpec::parse(entry.name, &[TABLE]).unwrap();
        if definition(&spec, &setup(2, machines()[2])).is_none() {
            let file = format!("src/policy/{}.rs", entry.name.replace('-', "_"));
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
            assert!(std::fs::read_to_string(path).unwrap().contains("#[test]"), "{}", entry.name);
        }
    }
}

const SMALL: Prices = Prices {
    scale: 1,
    remote_reference: Some(15),
    remote_move: Some(59),
    global_reference: None,
    global_move: None,
};

fn run(text: &str, global: bool, trace: &Trace) -> Tally {
    let prices = Prices {
        global_reference: global.then_some(4),
        global_move: global.then_some(40),
        ..SMALL
    };
    let setup = setup(4, prices);
    TraceHistories::new(trace, 4).walk(&PolicySpec::parse(text, &[TABLE]).unwrap(), &setup, &[])
}

#[test]
fn delay_with_no_delay_is_ace() {
    let mut rng = Rng::new(8);
    for _ in 0..200 {
        let trace = random_trace(&mut rng, 4);
        for global in [false, true] {
            assert_eq!(run("delay:n=0", global, &trace), run("ace", global, &trace));
        }
    }
}

#[test]
fn platinum_takes_its_times_from_the_rate_of_the_traced_run() {
    let spec = PolicySpec::parse("platinum:t2=9", &[TABLE]).unwrap();
    let setup = |rate| PlacementSetup { rate, ..setup(2, SMALL) };
    let known = spec.resolved(&setup(Some(250_000.0)));
    assert_eq!(known[..2], [("t1", "2500".to_owned()), ("t2", "9".to_owned())]);
    let spec = PolicySpec::parse("platinum", &[TABLE]).unwrap();
    let unknown = spec.resolved(&setup(None));
    assert_eq!(unknown[..2], [("t1", "10000".to_owned()), ("t2", "1000000".to_owned())]);
    assert_eq!(unknown[2..], [("backoff", "off".to_owned()), ("frozen", "local".to_owned())]);
}

#[test]
fn faulty_policies_say_what_is_expected() {
    let error = |text| PolicySpec::parse(text, &[TABLE]).unwrap_err().to_string();
    assert!(error("ice").contains("expected one of ace, delay, platinum"));
    assert!(error("delay:m=3").contains("its parameters are n, limit"));
    assert!(error("delay:n=x").contains("whole number from 0"));
    assert!(error("platinum:t2=0").contains("whole number from 1"));
    assert!(error("platinum:backoff=maybe").contains("off or on"));
    assert!(error("migrate:x=1").contains("no parameters"));
    assert!(error("ace:").contains("expected parameter=value"));
    assert!(error("ace:limit=1,limit=2").contains("given twice"));
    let setup = setup(2, SMALL);
    let spec = PolicySpec::parse("all-global", &[TABLE]).unwrap();
    let Err(error) = spec.build(&setup) else { panic!("needs global memory") };
    assert!(error.to_string().contains("prices g and G"), "{error}");
}

/// A policy that is in no table: the one copy moves to each processor that writes.
#[derive(Debug)]
struct FollowWrites;

impl PolicyFactory for FollowWrites {
    fn name(&self) -> &'static str {
        "follow-writes"
    }

    fn build(&self, setup: &PlacementSetup) -> Result<Box<dyn Policy>, PolicyError> {
        assert!(setup.processors > 0);
        Ok(Box::new(Self))
    }

    fn runs_on(&self) -> RunsOn {
        RunsOn::Placement
    }
}

impl Policy for FollowWrites {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        let mut place = block.runs[0].processor();
        for run in block.runs {
            if !run.is_read_only() && run.processor() != place {
                place = run.processor();
                tally.remote_moves += 1;
                tally.invalidations += 1;
                tally.faults += 1;
            }
            let is_local = run.processor() == place;
            *if is_local { &mut tally.local_reads } else { &mut tally.remote_reads } += run.reads();
            tally.local_writes += run.writes();
        }
    }
}

impl Definition for FollowWrites {
    fn next(&mut self, places: &Places, r: Reference) -> (Places, bool) {
        (if r.write { vec![r.processor] } else { places.clone() }, false)
    }
}

#[test]
fn a_policy_that_is_in_no_table_runs_as_the_others_do() {
    let spec = PolicySpec::from(Arc::new(FollowWrites) as Arc<dyn PolicyFactory>);
    assert_eq!((spec.name(), spec.text.as_str()), ("follow-writes", "follow-writes"));
    let mut rng = Rng::new(6);
    for round in 0..300 {
        let processors = [2, 3, 5, 70][round % 4];
        let trace = random_trace(&mut rng, processors);
        let mut histories = TraceHistories::new(&trace, processors);
        for prices in machines() {
            let setup = setup(processors, prices);
            let found = histories.walk(&spec, &setup, &[]);
            let (expected, cost) = oracle(&spec, &setup, &trace).unwrap();
            assert_eq!(found, expected, "{prices} {trace:?}");
            assert_eq!(Cost::of(&found, &prices).total().steps, cost, "{prices}");
            assert_eq!(found, histories.walk(&spec, &setup, &[3, 17]), "other splits");
        }
    }
    let coherent = PlacementSetup { model: PriceModel::PageCoherence, ..setup(2, machines()[0]) };
    let refused = spec.build(&coherent).err().unwrap().to_string();
    assert!(
        refused.starts_with("policy follow-writes cannot run on a machine of the"),
        "{refused}"
    );
}
