//! Small traces of one block, and the policies run over them.

use homenode_base::{AccessKind, BlockSize, Rng};
use homenode_machine::Prices;
use homenode_optimal::brute::{BlockReference, PlaceBits, SearchableMachine};
use homenode_optimal::placement;
use homenode_placement::policy::{Entry, PlacementSetup};
use homenode_placement::{Cost, Histories, HistoryBuilder, HistoryOptions, PolicySpec, Tally};
use homenode_trace::Batch;

pub const TABLES: &[&[Entry]] = &[homenode_optimal::TABLE, homenode_placement::TABLE];

pub fn reference(processor: u16, write: bool) -> BlockReference {
    BlockReference { processor, write }
}

pub fn histories(trace: &[BlockReference], processors: u16, split_periods: Vec<u64>) -> Histories {
    let mut batch = Batch::default();
    for r in trace {
        let kind = if r.write { AccessKind::Write } else { AccessKind::Read };
        batch.turns.push(r.processor);
        batch.kind.push(kind.code());
        batch.size.push(4);
        batch.addr.push(0x1000);
    }
    let block_size = BlockSize::new(64).unwrap();
    let options = HistoryOptions { split_periods, ..HistoryOptions::new(block_size, processors) };
    let mut builder = HistoryBuilder::new(options);
    builder.push(&batch);
    builder.finish().0
}

pub fn setup(prices: Prices, processors: u16) -> PlacementSetup {
    PlacementSetup::new(processors, BlockSize::new(64).unwrap(), &prices.into())
}

pub fn tally(policy: &str, prices: Prices, processors: u16, trace: &[BlockReference]) -> Tally {
    let tables = [TABLES, &[homenode_placement::coherence::TABLE]].concat();
    let spec = PolicySpec::parse(policy, &tables).unwrap();
    let mut policy = spec.build(&setup(prices, processors)).unwrap();
    let periods = policy.split_period().into_iter().collect();
    let histories = histories(trace, processors, periods);
    let mut tally = Tally::default();
    for block in histories.blocks() {
        policy.block(block, &mut tally);
    }
    tally
}

/// Cost and moves of a policy over a trace of one block; the cost is `None` if infinite.
pub fn cost(policy: &str, prices: Prices, n: u16, trace: &[BlockReference]) -> (Option<u128>, u64) {
    let tally = tally(policy, prices, n, trace);
    (Cost::of(&tally, &prices).total().steps, tally.remote_moves + tally.global_moves)
}

/// A random trace: bursts by one processor, mostly reads or mostly writes.
pub fn random_trace(rng: &mut Rng, processors: u16, length: u64) -> Vec<BlockReference> {
    let mut trace = Vec::new();
    let write_odds = 1 + rng.below(8);
    while trace.len() < usize::try_from(length).unwrap() {
        let processor = u16::try_from(rng.below(u64::from(processors))).unwrap();
        let longest = if rng.below(3) == 0 { 9 } else { 3 };
        for _ in 0..1 + rng.below(longest) {
            trace.push(reference(processor, rng.below(10) < write_odds));
        }
    }
    trace.truncate(usize::try_from(length).unwrap());
    trace
}

pub fn random_prices(rng: &mut Rng) -> Prices {
    let r = 2 + rng.below(14);
    let big_r = 2 * r + 1 + rng.below(60);
    match rng.below(10) {
        0 => Prices::whole(None, Some(big_r), None, None),
        1 => Prices::whole(Some(r), None, None, None),
        2 => Prices { scale: 10, ..Prices::whole(Some(10 + r), Some(2 * r + 21), None, None) },
        _ => Prices::whole(Some(r), Some(big_r), None, None),
    }
}

/// Random prices with global memory that keep the rules of the model, R at least G.
pub fn random_global_prices(rng: &mut Rng) -> Prices {
    let g = 2 + rng.below(6);
    let r = g + rng.below(8);
    let big_g = 2 * g + 1 + rng.below(40);
    let low = big_g.max(2 * r + 1);
    let (low, high) = (low, (2 * big_g).max(low));
    let big_r = low + rng.below(high - low + 1);
    let big_g = big_g.max(big_r.div_ceil(2));
    match rng.below(8) {
        0 => Prices::whole(None, None, Some(g), Some(big_g)),
        1 => Prices::whole(Some(r), None, Some(g), Some(big_g)),
        2 => Prices::whole(None, Some(big_r), Some(g), Some(big_g)),
        _ => Prices::whole(Some(r), Some(big_r), Some(g), Some(big_g)),
    }
}

/// Random prices with global memory: every relation that the recurrences cover, small so that ties
/// are many, each price infinite now and then.
pub fn any_global_prices(rng: &mut Rng) -> Prices {
    loop {
        let g = (rng.below(8) > 0).then(|| 1 + rng.below(6));
        let r = (rng.below(8) > 0).then(|| g.unwrap_or(1) + rng.below(8));
        let move_price = |rng: &mut Rng| {
            let most = if rng.below(4) == 0 { 8 } else { 40 };
            (rng.below(8) > 0).then(|| 1 + rng.below(most))
        };
        let (big_r, big_g) = (move_price(rng), move_price(rng));
        if g.is_some() || big_g.is_some() {
            return Prices::whole(r, big_r, g, big_g);
        }
    }
}

pub fn every_trace(processors: u16, longest: u32, mut visit: impl FnMut(&[BlockReference])) {
    let letters = 2 * u32::from(processors);
    for length in 1..=longest {
        for code in 0..letters.pow(length) {
            let letter = |i| code / letters.pow(i) % letters;
            let each = (0..length).map(letter);
            let each = each.map(|l| reference(u16::try_from(l / 2).unwrap(), l % 2 == 1));
            visit(&each.collect::<Vec<BlockReference>>());
        }
    }
}

/// The optimum's cost and moves, with and without replication, against the oracle's.
pub fn agrees(trace: &[BlockReference], processors: u16, prices: Prices) {
    let model = SearchableMachine { processors: u32::from(processors), prices };
    for (policy, replicate) in [("optimal", true), ("optimal-no-replication", false)] {
        let found = cost(policy, prices, processors, trace);
        let Some((least, moves)) = model.optimum(trace, replicate) else {
            assert_eq!(found.0, None, "{policy} {prices} {trace:?}");
            continue;
        };
        assert_eq!(found, (Some(least), moves), "{policy} {prices} {trace:?}");
        certify(trace, processors, prices, replicate, least);
    }
}

/// Replays the placement itself through equations 4.1 and 4.2, by the library and by the oracle.
fn certify(
    trace: &[BlockReference],
    processors: u16,
    prices: Prices,
    replicate: bool,
    least: u128,
) {
    let histories = histories(trace, processors, Vec::new());
    let setup = setup(prices, processors);
    let block = histories.block(0);
    let changes = placement(block, &setup, replicate).unwrap();
    let certificate = homenode_optimal::certify(block, &changes, &prices).unwrap();
    assert_eq!(certificate.cost, Some(least), "{prices} {trace:?} {changes:?}");
    let mut sets: Vec<PlaceBits> = Vec::new();
    for t in 0..trace.len() as u64 {
        let change = changes.iter().rfind(|c| c.reference <= t).unwrap();
        let global: PlaceBits = if change.global { 1 << processors } else { 0 };
        sets.push(change.places.iter().map(|p| 1 << p).sum::<PlaceBits>() | global);
    }
    let model = SearchableMachine { processors: u32::from(processors), prices };
    let replayed = model.cost(trace, &sets);
    assert_eq!(replayed, Some((least, certificate.moves)), "{prices} {trace:?} {changes:?}");
}

/// The same prices in steps of which `times` make up one.
pub fn finer(prices: Prices, times: u64) -> Prices {
    let fine = |price: Option<u64>| price.map(|p| p * times);
    Prices {
        scale: prices.scale * times,
        remote_reference: fine(prices.remote_reference),
        remote_move: fine(prices.remote_move),
        global_reference: fine(prices.global_reference),
        global_move: fine(prices.global_move),
    }
}

/// The prices of theorem 1: 1 + s(r - 1), sR, 1 + s(g - 1), sG.
pub fn s_scaled(prices: Prices, s: u64) -> Prices {
    let one = prices.scale;
    let reference = |price: Option<u64>| price.map(|p| s * (p - one) + one);
    Prices {
        scale: one,
        remote_reference: reference(prices.remote_reference),
        remote_move: prices.remote_move.map(|p| s * p),
        global_reference: reference(prices.global_reference),
        global_move: prices.global_move.map(|p| s * p),
    }
}
