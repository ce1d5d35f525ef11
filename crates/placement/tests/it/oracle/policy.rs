//! The slow oracle: every policy reference by reference, straight from its definition, as a list of
//! location sets; counts and cost straight from equations 4.1 and 4.2 over those sets.

use std::collections::{BTreeMap, BTreeSet};

use homenode_base::Rng;
use homenode_machine::Prices;
use homenode_placement::Tally;

/// Global memory as a place.
pub const GLOBAL: u16 = u16::MAX;

/// P_t: places in the order in which they got their copies.
pub type Places = Vec<u16>;

#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub time: u64,
    pub processor: u16,
    pub write: bool,
}

/// What a definition may use besides the references so far.
#[derive(Clone, Copy, Debug)]
pub struct World {
    pub processors: u16,
    pub global: bool,
}

/// A policy as defined: the next set of places, and whether it pins or freezes at this reference.
pub trait Definition {
    fn next(&mut self, places: &Places, r: Reference) -> (Places, bool);
}

/// An invalidation: the write takes a copy away from a processor other than the writer.
fn invalidates(before: &Places, after: &Places, writer: u16) -> bool {
    before.iter().any(|&p| p != GLOBAL && p != writer && !after.contains(&p))
}

#[derive(Default)]
pub struct Ace {
    pub limit: u64,
    pub global: bool,
    pub invalidations: u64,
    pub pinned: bool,
}

impl Ace {
    fn decide(&mut self, places: &Places, q: u16, write: bool) -> (Places, bool) {
        let mut after = places.clone();
        if !write {
            if !after.contains(&q) {
                after.push(q);
                if self.global && !after.contains(&GLOBAL) {
                    after.push(GLOBAL);
                }
            }
            return (after, false);
        }
        self.write(places, vec![q], q)
    }

    /// A write that wants to leave `after`, unless that is one invalidation too many.
    fn write(&mut self, before: &Places, after: Places, q: u16) -> (Places, bool) {
        if !invalidates(before, &after, q) {
            return (after, false);
        }
        if self.invalidations < self.limit {
            self.invalidations += 1;
            return (after, false);
        }
        self.pinned = true;
        let longest = before.iter().copied().find(|&p| p != GLOBAL).unwrap();
        let place = match (self.global, before.contains(&q)) {
            (true, _) => GLOBAL,
            (false, true) => q,
            (false, false) => longest,
        };
        (vec![place], true)
    }
}

impl Definition for Ace {
    fn next(&mut self, places: &Places, r: Reference) -> (Places, bool) {
        if self.pinned {
            (places.clone(), false)
        } else {
            self.decide(places, r.processor, r.write)
        }
    }
}

#[derive(Default)]
pub struct Delay {
    pub ace: Ace,
    pub n: u64,
    pub counters: BTreeMap<u16, u64>,
}

impl Definition for Delay {
    fn next(&mut self, places: &Places, r: Reference) -> (Places, bool) {
        if self.ace.pinned {
            return (places.clone(), false);
        }
        let counter = self.counters.entry(r.processor).or_default();
        let counted = !places.contains(&r.processor) && *counter < self.n;
        let (after, froze) = if !counted {
            self.ace.decide(places, r.processor, r.write)
        } else {
            *counter += 1;
            if r.write && places.len() > 1 {
                let keep = if places.contains(&GLOBAL) { GLOBAL } else { places[0] };
                self.ace.write(places, vec![keep], r.processor)
            } else {
                (places.clone(), false)
            }
        };
        let same: BTreeSet<&u16> = places.iter().collect();
        if r.write && same != after.iter().collect() {
            self.counters.clear();
        }
        (after, froze)
    }
}

#[derive(Default)]
pub struct Platinum {
    pub t1: u64,
    pub t2: u64,
    pub backoff: bool,
    pub to_global: bool,
    pub last: Option<(u64, u16)>,
    pub frozen_until: Option<u64>,
    pub soon: u32,
}

impl Definition for Platinum {
    fn next(&mut self, places: &Places, r: Reference) -> (Places, bool) {
        let q = r.processor;
        if self.frozen_until.is_some_and(|end| r.time < end) {
            return (places.clone(), false);
        }
        let recent = self.last.is_some_and(|(t, w)| w != q && r.time - t <= self.t1);
        let freezes = !places.contains(&q) && recent;
        let mut after = places.clone();
        if freezes {
            let soon = self.frozen_until.is_some_and(|end| r.time - end <= self.t2);
            self.soon = if soon && self.backoff { self.soon + 1 } else { 0 };
            // It defrosts at the 2^soon-th multiple of t2 after this reference.
            let mut multiples = (1..).map(|k| k * self.t2).filter(|&multiple| multiple > r.time);
            self.frozen_until = multiples.nth((1 << self.soon.min(16)) - 1);
            if self.to_global {
                after = vec![GLOBAL];
            }
        } else if r.write {
            after = vec![q];
        } else if !after.contains(&q) {
            after.push(q);
        }
        if r.write && invalidates(places, &after, q) {
            self.last = Some((r.time, q));
        }
        (after, freezes)
    }
}

pub struct Static;

impl Definition for Static {
    fn next(&mut self, places: &Places, _: Reference) -> (Places, bool) {
        (places.clone(), false)
    }
}

pub fn static_place(
    policy: &str,
    world: World,
    prices: &Prices,
    block: u64,
    trace: &[Reference],
) -> u16 {
    let below = |n: u64| u16::try_from(n % u64::from(world.processors)).unwrap();
    match policy {
        "first-touch" => trace[0].processor,
        "round-robin" => below(block),
        "all-global" => GLOBAL,
        "random" | "random:seed=9" => {
            let seed = if policy == "random" { 0 } else { 9 };
            let mut rng = Rng::new(seed ^ block.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            below(rng.below(u64::from(world.processors)))
        }
        _ => {
            let everywhere = (0..world.processors).chain(world.global.then_some(GLOBAL));
            let cost = |p: &u16| {
                let sets = vec![vec![*p]; trace.len()];
                infinite_last(prices, trace, &sets, *p)
            };
            everywhere.min_by_key(cost).unwrap()
        }
    }
}

/// References of infinite price, then the rest of the cost.
fn infinite_last(prices: &Prices, trace: &[Reference], sets: &[Places], start: u16) -> (u64, u128) {
    let each = trace.iter().zip(sets).map(|(r, set)| {
        assert_eq!(set, &vec![start]);
        reference_price(prices, set, r.processor)
    });
    each.fold((0, 0), |(infinite, sum), price| match price {
        Some(p) => (infinite, sum + u128::from(p)),
        None => (infinite + 1, sum),
    })
}

/// Equation 4.1, one term.
pub fn reference_price(prices: &Prices, places: &Places, q: u16) -> Option<u64> {
    if places.contains(&q) {
        Some(prices.scale)
    } else if places.contains(&GLOBAL) {
        prices.global_reference
    } else {
        prices.remote_reference
    }
}

/// Runs a definition over one block: counts, and the cost by equations 4.1 and 4.2.
pub fn interpret(
    definition: &mut dyn Definition,
    prices: &Prices,
    trace: &[Reference],
    start: u16,
) -> (Tally, Option<u128>) {
    let mut tally = Tally::default();
    let mut cost = Some(0u128);
    let mut before: Places = vec![start];
    for &r in trace {
        let (after, froze) = definition.next(&before, r);
        assert!(!after.is_empty() && (!r.write || after.len() == 1), "{after:?} at {r:?}");
        let reference = reference_price(prices, &after, r.processor);
        let added = after.iter().filter(|p| !before.contains(p)).count() as u64;
        let global = before.contains(&GLOBAL) || after.contains(&GLOBAL);
        let price = if global { prices.global_move } else { prices.remote_move };
        let moving = if added == 0 { Some(0) } else { price.map(|p| p * added) };
        cost = cost.and_then(|c| Some(c + u128::from(reference?) + u128::from(moving?)));
        count_event(&mut tally, r, &before, &after, froze);
        *if global { &mut tally.global_moves } else { &mut tally.remote_moves } += added;
        before = after;
    }
    (tally, cost)
}

/// The counters other than moves, from their definitions.
fn count_event(tally: &mut Tally, r: Reference, before: &Places, after: &Places, froze: bool) {
    let counter = match (after.contains(&r.processor), after.contains(&GLOBAL), r.write) {
        (true, _, false) => &mut tally.local_reads,
        (true, _, true) => &mut tally.local_writes,
        (false, true, false) => &mut tally.global_reads,
        (false, true, true) => &mut tally.global_writes,
        (false, false, false) => &mut tally.remote_reads,
        (false, false, true) => &mut tally.remote_writes,
    };
    *counter += 1;
    let stays = before.iter().any(|p| after.contains(p));
    if !r.write && stays {
        let new = after.iter().filter(|&&p| p != GLOBAL && !before.contains(&p));
        tally.replications += new.count() as u64;
    }
    tally.invalidations += u64::from(r.write && invalidates(before, after, r.processor));
    let same: BTreeSet<&u16> = before.iter().collect();
    tally.faults += u64::from(froze || same != after.iter().collect());
    tally.freezes += u64::from(froze);
}
