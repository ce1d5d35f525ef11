//! Price lists: their rules, decimals, texts, and parts.

use homenode_base::BlockSize;
use homenode_machine::{
    Breakdown, Machine, MachineError, PriceModel, PriceParts, PricedMachine, Prices, TABLE,
};

fn rules(p: Prices) -> Vec<&'static str> {
    p.violations().iter().map(|v| v.rule).collect()
}

#[test]
fn every_rule_is_checked_at_its_edge() {
    let ok = Prices::whole(Some(15), Some(31), Some(4), Some(16));
    assert_eq!(rules(ok), Vec::<&str>::new());
    let p = |r, big_r, g, big_g| rules(Prices::whole(r, big_r, g, big_g));
    assert_eq!(p(Some(1), Some(59), None, None), ["r > 1"]);
    assert_eq!(p(Some(15), Some(30), None, None), ["R > 2r"]);
    assert_eq!(p(Some(15), Some(59), Some(1), Some(40)), ["g > 1"]);
    assert_eq!(p(Some(15), Some(59), Some(20), Some(40)), ["G > 2g", "r >= g"]);
    assert_eq!(p(Some(15), Some(81), Some(4), Some(40)), ["R <= 2G"]);
}

#[test]
fn infinite_prices_skip_the_rules_the_thesis_skips() {
    let p = |r, big_r, g, big_g| rules(Prices::whole(r, big_r, g, big_g));
    assert!(p(None, Some(184), None, None).is_empty());
    assert!(p(None, None, None, Some(40)).is_empty());
    assert!(p(Some(15), None, None, None).is_empty());
}

#[test]
fn prints_in_units_of_a_local_reference() {
    let p = Prices { scale: 100, ..Prices::whole(Some(1_550), None, None, None) };
    assert_eq!(p.to_string(), "r=15.5,R=inf");
    let q = Prices::whole(Some(15), Some(59), Some(4), Some(40));
    assert_eq!(q.to_string(), "r=15,R=59,g=4,G=40");
    let broken = Prices::whole(Some(15), Some(20), None, None).violations();
    assert_eq!(broken[0].to_string(), "R > 2r does not hold (r=15,R=20)");
}

#[test]
fn prices_proportional_above_local_give_the_same_decisions() {
    let prices = |r, moved| Prices::whole(r, Some(moved), None, None);
    let alike = |a: Prices, b: Prices| a.decide_like(&b);
    assert!(alike(prices(Some(15), 59), prices(Some(29), 118)));
    assert!(!alike(prices(Some(15), 59), prices(Some(30), 118)));
    assert!(alike(prices(None, 59), prices(None, 2000)));
    assert!(!alike(prices(None, 59), prices(Some(15), 59)));
    assert!(!alike(prices(Some(1), 59), prices(Some(2), 59)));
    assert!(alike(prices(Some(1), 59), prices(Some(1), 60)));
    let global = |g, moved| Prices::whole(Some(15), Some(59), Some(g), Some(moved));
    assert!(alike(global(4, 40), global(4, 40)) && !alike(global(4, 40), global(5, 40)));
    assert!(!alike(global(4, 40), prices(Some(15), 59)));
}

fn said(error: MachineError) -> String {
    error.to_string()
}

#[test]
fn a_price_has_at_most_six_decimals() {
    let prices = |r: &str| {
        let machine = PricedMachine::parse(&format!("prices:r={r},R=59"));
        let prices = machine.map_err(said)?.prices(BlockSize::new(64).unwrap(), true);
        prices.map(|p| (p.remote_reference.unwrap(), p.scale)).map_err(said)
    };
    assert_eq!(prices("15"), Ok((15, 1)));
    assert_eq!(prices("2.5000000"), Ok((25, 10)));
    assert_eq!(prices("2.000001"), Ok((2_000_001, 1_000_000)));
    let refused = |r: &str, why: &str| {
        let error = prices(r).unwrap_err();
        assert!(error.contains(why), "{r}: {error}");
    };
    refused("1.0000001", "at most six decimals");
    refused("1000000000001", "the largest number accepted");
    refused(&"9".repeat(400), "the largest number accepted");
    for bad in ["", "-1", "1e3", ".5", "5.", "1.2.3", "abc", "+4"] {
        refused(bad, "expected a number");
    }
}

#[test]
fn products_that_need_rounding_are_refused() {
    let price = |word: &str| {
        let parameter = format!("[parameters.word]\nvalue = {word}\nsource = \"x\"\n");
        let form = "[prices.R]\nterms = { word = 0.5 }\nsource = \"x\"\n";
        let text = format!("name = \"a\"\n{parameter}{form}");
        let Machine::Priced(machine) = Machine::from_toml(&text, "a.toml").map_err(said)? else {
            return Err("it has no prices".to_owned());
        };
        let prices = machine.prices(BlockSize::new(64).unwrap(), true).map_err(said);
        prices.map(|p| (p.remote_move.unwrap(), p.scale))
    };
    assert_eq!(price("200.000002"), Ok((100_000_001, 1_000_000)));
    let error = price("200.000001").unwrap_err();
    assert!(error.contains("at most six decimals"), "{error}");
}

fn breakdown(machine: &str, bytes: u64) -> Breakdown {
    PricedMachine::parse(machine).unwrap().breakdown(BlockSize::new(bytes).unwrap()).unwrap()
}

/// Section 7.1.6: b is 2 a word, and lambda, o_h and o_s are overhead.
#[test]
fn the_machines_of_chapter_6_have_two_units_a_word() {
    let cc = breakdown("cc", 64);
    assert_eq!(cc.remote_reference, None);
    let whole = |n: u64| n * Breakdown::SCALE;
    let parts = |o, t| Some(PriceParts { overhead: whole(o), transfer: whole(t) });
    assert_eq!(cc.remote_move, parts(152, 32));
    let numa = breakdown("numa", 4096);
    assert_eq!(numa.remote_move, parts(275, 2048));
    assert_eq!(numa.remote_reference, parts(102, 0));
    assert_eq!(breakdown("prices:r=15,R=59.5", 64).remote_reference, parts(15, 0));
    let ace = breakdown("ace", 4096);
    assert_eq!(ace.global_move, parts(200, 2048));
}

#[test]
fn the_parts_add_up_to_the_prices() {
    for preset in TABLE {
        let Machine::Priced(machine) = Machine::parse(preset.name).unwrap() else { continue };
        if machine.model() == PriceModel::PageCoherence {
            assert!(machine.breakdown(BlockSize::new(64).unwrap()).is_err());
            continue;
        }
        for shift in 2..=13 {
            let block = BlockSize::new(1 << shift).unwrap();
            let (prices, parts) = (machine.prices(block, true), machine.breakdown(block));
            let (prices, parts) = (prices.unwrap(), parts.unwrap());
            let whole = |p: Option<PriceParts>| p.map(|p| p.overhead + p.transfer);
            let scaled = |p: Option<u64>| p.map(|p| p * (Breakdown::SCALE / prices.scale));
            assert_eq!(whole(parts.remote_reference), scaled(prices.remote_reference));
            assert_eq!(whole(parts.remote_move), scaled(prices.remote_move));
            assert_eq!(whole(parts.global_reference), scaled(prices.global_reference));
            assert_eq!(whole(parts.global_move), scaled(prices.global_move));
        }
    }
}
