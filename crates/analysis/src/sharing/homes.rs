//! Where the initial values of a block's words had best be.
//!
//! Of the processors that reference a word up to its first write, all but one must have loaded the
//! block; whose home the word is decides which one need not. To choose homes such that the fewest
//! processors load is to cover the edges of a graph by vertices, so the cover is a greedy one: it
//! gives a number of transfers that is enough. One word alone gives a number that is necessary.

use rustc_hash::FxHashMap;

use super::block::VisitStamp;
use super::collect::WordEvent;
use super::region_processors::FEW;

/// A word before its first write, and after.
#[derive(Clone, Copy, Debug, Default)]
struct HomeWord {
    /// Who references it up to and including its first write; one bit a processor.
    early: u64,
    home: u16,
    last: VisitStamp,
}

/// Bounds on the transfers that a block's trace needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refined {
    /// That many are necessary beside those for news.
    pub more: u64,
    /// That many are enough.
    pub enough: u64,
}

/// Bounds for a block of few processors; `idle` has a bit for each that never needs news.
pub(crate) fn refine(events: &[WordEvent], procs: usize, idle: u64) -> Option<Refined> {
    if procs > FEW {
        return None;
    }
    let mut words = early(events);
    let mut shared: Vec<u64> =
        words.values().map(|word| word.early).filter(|early| early.count_ones() > 1).collect();
    // No hash map's order may reach a result, not even through ties.
    shared.sort_unstable();
    let idlers = shared.iter().map(|early| u64::from((early & idle).count_ones()));
    let more = idlers.max().unwrap_or(0).saturating_sub(1);
    let loaders = cover(&shared);
    for word in words.values_mut() {
        let spared = word.early & !loaders;
        let home = if spared == 0 { word.early } else { spared }.trailing_zeros();
        word.home = u16::try_from(home).unwrap_or(0);
    }
    Some(Refined { more, enough: loads(events, procs, &mut words) })
}

/// Who references each word up to its first write.
fn early(events: &[WordEvent]) -> FxHashMap<u32, HomeWord> {
    let mut words: FxHashMap<u32, HomeWord> = FxHashMap::default();
    for event in events {
        let word = words.entry(event.word).or_default();
        if word.last.at == 0 {
            word.early |= 1 << event.processor;
            if event.doing.writes() {
                word.last.at = 1;
            }
        }
    }
    words
}

/// Lanes such that at most one of each set is not among them: the one in most sets first.
fn cover(sets: &[u64]) -> u64 {
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

/// Transfers if each is put off until news or a foreign initial value is referenced.
fn loads(events: &[WordEvent], procs: usize, words: &mut FxHashMap<u32, HomeWord>) -> u64 {
    let mut loaded_at = vec![0u32; procs];
    let (mut loads, mut now, mut present) = (0, 0, None);
    for word in words.values_mut() {
        word.last = VisitStamp::default();
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
        if event.doing.writes() {
            word.last.write(proc, now);
        }
    }
    loads
}
