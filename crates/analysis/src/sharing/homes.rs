//! Bounds on transfers from the homes of initial values.
//!
//! The home of a word is the processor at which its initial value lies. All processors that
//! reference a word up to its first write, except the home, must load the block. Choosing homes
//! such that the fewest processors load is the vertex cover problem: a greedy cover gives an upper
//! bound of the transfers, and the best word alone a lower bound. See `docs/sharing.md`.

use rustc_hash::FxHashMap;

use super::events::WordEvent;
use super::region_processors::FEW;
use crate::last_write::LastWrite;

#[derive(Clone, Copy, Debug, Default)]
struct InitialValue {
    /// The processors that reference it up to and including its first write; one bit each.
    users: u64,
    home: u16,
    last: LastWrite<u32>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct RefinedBounds {
    /// Transfers that are necessary in addition to those for new values.
    pub additional: u64,
    pub sufficient: u64,
}

/// Bounds for a block of few processors; `without_new` has a bit for each that never references a
/// new value.
pub(crate) fn refine(
    events: &[WordEvent],
    procs: usize,
    without_new: u64,
) -> Option<RefinedBounds> {
    if procs > FEW {
        return None;
    }
    let mut words = initial_users(events);
    let mut shared: Vec<u64> =
        words.values().map(|word| word.users).filter(|users| users.count_ones() > 1).collect();
    // The order of a hash map must not affect the result, not even through ties of the cover.
    shared.sort_unstable();
    let needing = shared.iter().map(|users| u64::from((users & without_new).count_ones()));
    let additional = needing.max().unwrap_or(0).saturating_sub(1);
    let loaders = greedy_cover(&shared);
    for word in words.values_mut() {
        let spared = word.users & !loaders;
        let home = if spared == 0 { word.users } else { spared }.trailing_zeros();
        word.home = u16::try_from(home).unwrap_or(0);
    }
    Some(RefinedBounds { additional, sufficient: loads(events, procs, &mut words) })
}

fn initial_users(events: &[WordEvent]) -> FxHashMap<u32, InitialValue> {
    let mut words: FxHashMap<u32, InitialValue> = FxHashMap::default();
    for event in events {
        let word = words.entry(event.word).or_default();
        if word.last.at == 0 {
            word.users |= 1 << event.processor;
            if event.access.writes() {
                word.last.at = 1;
            }
        }
    }
    words
}

/// Processors such that at most one of each set is not among them, chosen greedily: the one in most
/// sets first, the lowest-numbered of several.
fn greedy_cover(sets: &[u64]) -> u64 {
    let mut chosen = 0u64;
    loop {
        let mut uses = [0usize; FEW];
        for set in sets.iter().map(|set| set & !chosen).filter(|set| set.count_ones() > 1) {
            let mut rest = set;
            while rest != 0 {
                uses[rest.trailing_zeros() as usize] += 1;
                rest &= rest - 1;
            }
        }
        let most = (0..FEW).max_by_key(|&proc| (uses[proc], std::cmp::Reverse(proc)));
        match most.filter(|&proc| uses[proc] > 0) {
            Some(proc) => chosen |= 1 << proc,
            None => return chosen,
        }
    }
}

/// Transfers if each is deferred until the processor references a new value, or an initial value
/// whose home is another processor.
fn loads(events: &[WordEvent], procs: usize, words: &mut FxHashMap<u32, InitialValue>) -> u64 {
    let mut loaded_at = vec![0u32; procs];
    let (mut loads, mut now, mut present) = (0, 0, None);
    for word in words.values_mut() {
        word.last = LastWrite::default();
    }
    for event in events {
        let proc = event.processor;
        if present != Some(proc) {
            (now, present) = (now + 1, Some(proc));
        }
        let Some(word) = words.get_mut(&event.word) else { continue };
        let loaded = &mut loaded_at[usize::from(proc)];
        if word.last.by_others(proc) > *loaded || (*loaded == 0 && word.home != proc) {
            loads += 1;
            *loaded = now;
        }
        if event.access.writes() {
            word.last.write(proc, now);
        }
    }
    loads
}
