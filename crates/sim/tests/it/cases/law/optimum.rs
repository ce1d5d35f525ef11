//! No policy is cheaper than the optimum, and the optimum equals exhaustive search.

use std::collections::BTreeMap;

use homenode_machine::{PriceModel, PricedMachine};
use homenode_optimal::brute::{BlockReference, SearchableMachine};
use serde_json::{Value, json};

use super::{Law, never, run, same};
use crate::cases::census::Counted;
use crate::cases::corpus::Case;
use crate::cases::engine::{MACHINES, count, policies};

const ALL: [&str; 7] =
    [MACHINES[0], MACHINES[1], "ace", "butterfly", "cc", "numa", "prices:r=2,R=5"];

pub const NO_POLICY_IS_CHEAPER: Law = Law {
    name: "no policy costs less than the optimum, nor replication more than none",
    engines: &["placement", "optimal"],
    silent: never,
    check: no_policy_is_cheaper,
};

fn cost(outcome: &Value) -> u64 {
    outcome["total_cost"].as_u64().unwrap_or(u64::MAX)
}

fn no_policy_is_cheaper(case: &Case) -> Result<(), String> {
    for machine in ALL {
        let global = PricedMachine::parse(machine).map_err(|e| e.to_string())?;
        let block = homenode_base::BlockSize::new(case.machine.block_size);
        let block = block.map_err(|e| e.to_string())?;
        let prices = global.prices(block, true).map_err(|e| e.to_string())?;
        let names = policies(PriceModel::Placement, prices.has_global());
        let with = json!({ "machines": [machine], "policies": names, "force": true });
        let outcomes = run("placement", case, &with)?;
        let named = |name: &str| outcomes.iter().find(|outcome| outcome["policy"] == name);
        let least = named("optimal").map_or(0, cost);
        for outcome in &outcomes {
            if cost(outcome) < least {
                let (policy, cost) = (&outcome["policy"], cost(outcome));
                return Err(format!("{machine}: {policy} costs {cost}, the optimum {least}"));
            }
        }
        let simulation = json!({ "machines": [machine], "policies": ["optimal"], "force": true });
        let detailed = run("optimal", case, &json!({ "simulation": simulation }))?;
        same(machine, cost(&detailed[0]), least)?;
    }
    Ok(())
}

/// Limits of exhaustive search: processors, and references to a block.
const SEARCH_MAX: (usize, usize) = (4, 80);

/// The slow oracle of the optimum, from equations 4.1 and 4.2.
pub const EXHAUSTIVE_SEARCH: Law = Law {
    name: "the optimum is what exhaustive search finds",
    engines: &["placement"],
    silent: too_large,
    check: exhaustive_search,
};

fn histories(case: &Case) -> Vec<Vec<(u16, bool)>> {
    Counted::SHARED_DATA.histories(case, case.machine.block_size, case.processors())
}

fn too_large(case: &Case) -> Option<&'static str> {
    let large = |history: &Vec<(u16, bool)>| {
        let mut processors: Vec<u16> = history.iter().map(|&(p, _)| p).collect();
        processors.sort_unstable();
        processors.dedup();
        processors.len() > SEARCH_MAX.0 || history.len() > SEARCH_MAX.1
    };
    histories(case).iter().any(large).then_some("exhaustive search would take too long")
}

fn exhaustive_search(case: &Case) -> Result<(), String> {
    for machine in MACHINES {
        let parsed = PricedMachine::parse(machine).map_err(|e| e.to_string())?;
        let block = homenode_base::BlockSize::new(case.machine.block_size);
        let prices = parsed.prices(block.map_err(|e| e.to_string())?, false);
        let prices = prices.map_err(|e| e.to_string())?;
        for (policy, replicate) in [("optimal", true), ("optimal-no-replication", false)] {
            let (mut least, mut moves) = (0, 0);
            for history in histories(case) {
                let found = search(&history, prices, replicate);
                let (cost, moved) = found.ok_or("the search finds nothing finite")?;
                (least, moves) = (least + cost, moves + moved);
            }
            let with = json!({
                "machines": [machine], "policies": [policy], "private": "exclude",
            });
            let outcome = &run("placement", case, &with)?[0];
            same(policy, u128::from(cost(outcome)), least)?;
            let counted =
                count(outcome, "counts.remote_moves") + count(outcome, "counts.global_moves");
            same("moves", counted, moves)?;
        }
    }
    Ok(())
}

/// Processors that never reference the block are no useful place for it, and are left out.
fn search(
    history: &[(u16, bool)],
    prices: homenode_machine::Prices,
    replicate: bool,
) -> Option<(u128, u64)> {
    let mut numbers = BTreeMap::new();
    history.iter().for_each(|&(processor, _)| {
        numbers.insert(processor, 0u16);
    });
    (0u16..).zip(numbers.values_mut()).for_each(|(number, place)| *place = number);
    let reference = |&(processor, write): &(u16, bool)| BlockReference {
        processor: numbers[&processor],
        write,
    };
    let trace: Vec<BlockReference> = history.iter().map(reference).collect();
    let processors = u32::try_from(numbers.len()).ok()?;
    SearchableMachine { processors, prices }.optimum(&trace, replicate)
}
