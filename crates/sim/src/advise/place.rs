//! Advice on the homes of blocks, under policies that never move them.

use homenode_advise::{DataObject, Layout, UseSurvey, text};
use homenode_base::{BlockSize, ProcId};
use homenode_machine::Prices;
use homenode_placement::{Block, Cost, PlacementSetup, PolicySpec, Shard, Tally};
use homenode_trace::TraceReader;
use rustc_hash::FxHashMap;

use super::evaluator::{LayoutEvaluator, PricedReferences, ReportPart};
use super::replicate::Replication;
use super::search::{LEAST_PART, ObjectBlocks};
use crate::error::SimResult;
use crate::placement::POLICIES;

/// Most parts of an object, each with its own home, in a sentence.
const LISTED_MAX: usize = 4;

#[derive(Debug)]
pub(super) struct HomeAdvice {
    /// `place`, or `replicate` if each node is to have a copy.
    pub(super) kind: &'static str,
    pub(super) object: usize,
    /// Steps of cost that it saves.
    pub(super) saved: u128,
    /// Blocks of the object, whether their home changes or not.
    pub(super) blocks: usize,
    pub(super) sentence: String,
    pub(super) hint: String,
}

/// Cost of a block at its present home and at its best one, and the best home.
pub(super) struct HomeChoice {
    pub(super) now: u128,
    best: u128,
    home: Home,
    pub(super) accesses: u128,
    /// Those by other processors than the best home.
    elsewhere: u128,
}

/// A processor, or `None` for global memory.
type Home = Option<ProcId>;

/// The homes that save cost under a layout, best first; empty if the policy moves blocks.
///
/// Source: the best static placement of each block, as the policy `best-static` chooses it.
pub(super) fn places(
    point: &LayoutEvaluator<'_>,
    priced: &PricedReferences<'_>,
    objects: &[DataObject],
    layout: &Layout,
    total: u128,
    tick: ReportPart<'_>,
) -> SimResult<Vec<HomeAdvice>> {
    let Some(prices) = point.prices.placement().filter(|_| point.spec.factory.assigns_homes())
    else {
        return Ok(Vec::new());
    };
    let choices = choices(point, priced.misses, layout, prices, tick)?;
    let places = ObjectBlocks::new(objects, priced.survey, layout, point.block);
    let replication = Replication::new(objects, priced, layout, point.block, prices);
    let mut found = Vec::new();
    for (object, blocks) in places.own_blocks() {
        let chosen = blocks.iter().filter_map(|&b| choices.get(&b).map(|choice| (b, choice)));
        let chosen: Vec<(u64, &HomeChoice)> = chosen.collect();
        let moved = chosen.iter().map(|(_, c)| c.now.saturating_sub(c.best)).sum::<u128>();
        // Data that one thread initialises now will be initialised by the thread that uses it.
        let remote = prices.remote_reference.unwrap_or(prices.scale) - prices.scale;
        let survey = priced.survey_of_misses;
        let initialised = initialised_elsewhere(&objects[object], survey, layout, point, &choices);
        let saved = moved + if moved > 0 { initialised * u128::from(remote) } else { 0 };
        let copies = replication.of(object, &objects[object], &choices);
        let copies =
            copies.filter(|copies| copies.saved > saved && copies.saved > total / LEAST_PART);
        if let Some(copies) = copies.filter(|_| objects[object].movable()) {
            found.push(copies);
        } else if saved > total / LEAST_PART && objects[object].movable() {
            let homes: Vec<(u64, Home)> = chosen.iter().map(|&(b, c)| (b, c.home)).collect();
            let (sentence, hint) =
                sentence_and_hint(&objects[object], &homes, priced.survey, point.block);
            let blocks = homes.len();
            found.push(HomeAdvice { kind: "place", object, saved, blocks, sentence, hint });
        }
    }
    found.sort_by_key(|placing| (std::cmp::Reverse(placing.saved), placing.object));
    Ok(found)
}

/// References that initialise an object's data in a processor other than its best home. A reference
/// to several words counts for each of them, so of a block there are at most the references that
/// other processors make.
fn initialised_elsewhere(
    object: &DataObject,
    survey: &UseSurvey,
    layout: &Layout,
    point: &LayoutEvaluator<'_>,
    choices: &FxHashMap<u64, HomeChoice>,
) -> u128 {
    let mut counts: FxHashMap<u64, u128> = FxHashMap::default();
    for word in object.extents.iter().flat_map(|extent| extent.range()) {
        let (first, references) = survey.initialisation(word);
        let block = layout.word(word) / point.block.words();
        let choice = choices.get(&block);
        if choice.is_some_and(|c| c.home.is_some_and(|home| home != first)) {
            *counts.entry(block).or_default() += u128::from(references);
        }
    }
    counts.iter().map(|(block, count)| choices[block].elsewhere.min(*count)).sum()
}

/// The best home of every block under a layout.
fn choices(
    point: &LayoutEvaluator<'_>,
    trace: &TraceReader,
    layout: &Layout,
    prices: Prices,
    tick: ReportPart<'_>,
) -> SimResult<FxHashMap<u64, HomeChoice>> {
    let best = PolicySpec::parse("best-static", POLICIES)?;
    let mut best = best.build(&PlacementSetup { prices: Some(prices), ..point.setup })?;
    let mut policy = point.spec.build(&point.setup)?;
    let mut found = FxHashMap::default();
    let mut pending = vec![Shard::default()];
    while let Some(shard) = pending.pop() {
        let (histories, given_up) = point.histories(trace, layout, shard, tick)?;
        pending.extend(given_up);
        for block in histories.blocks() {
            let [mut now, mut then] = [Tally::default(); 2];
            policy.block(block, &mut now);
            best.block(block, &mut then);
            let steps = |tally: &Tally| Cost::of(tally, &prices).total().steps;
            let accesses = u128::from(now.accesses());
            if let (Some(now), Some(best)) = (steps(&now), steps(&then)) {
                let home = home(block, &then);
                let own = block.runs.iter().filter(|run| Some(run.processor()) == home);
                let own: u128 = own.map(|run| u128::from(run.references())).sum();
                let elsewhere = accesses.saturating_sub(own);
                found.insert(block.number, HomeChoice { now, best, home, accesses, elsewhere });
            }
        }
    }
    Ok(found)
}

/// The home of a block in the best static placement: global memory, or the processor with most
/// references; the lowest-numbered one on a tie.
fn home(block: Block<'_>, tally: &Tally) -> Home {
    if tally.global_references() > 0 {
        return None;
    }
    let mut own: FxHashMap<ProcId, u64> = FxHashMap::default();
    for run in block.runs {
        *own.entry(run.processor()).or_default() += run.references();
    }
    own.into_iter().max_by_key(|&(processor, n)| (n, std::cmp::Reverse(processor))).map(|(p, _)| p)
}

fn sentence_and_hint(
    object: &DataObject,
    homes: &[(u64, Home)],
    survey: &UseSurvey,
    block: BlockSize,
) -> (String, String) {
    let mut parts: Vec<(u64, u64, Home)> = Vec::new();
    for &(number, home) in homes {
        match parts.last_mut() {
            Some((_, last, at)) if *at == home => *last = number,
            Some(_) | None => parts.push((number, number, home)),
        }
    }
    let label = object.label();
    let name =
        |home: Home| home.map_or("global memory".to_owned(), |user| text::users(survey, &[user]));
    let hint = "initialise each part in the thread that uses it (first touch), or mbind() it there";
    let sentence = match parts.as_slice() {
        [(_, _, home)] => format!("`{label}` is used most by {0}: place it with {0}.", name(*home)),
        some if some.len() <= LISTED_MAX => {
            let begin = some.first().map_or(0, |&(first, ..)| first * block.words());
            let (start, end) = match (object.extents.first(), object.extents.last()) {
                (Some(first), Some(last)) if begin < last.range().end => {
                    (first.first, last.range().end)
                }
                // An accepted layout has moved this word.
                _ => (begin, u64::MAX),
            };
            let one = |&(first, last, home): &(u64, u64, Home)| {
                let from = (first * block.words()).saturating_sub(start);
                let to = ((last + 1) * block.words()).min(end) - start;
                let bytes = BlockSize::WORD_BYTES;
                format!("bytes {}-{} with {}", from * bytes, to * bytes - 1, name(home))
            };
            let list: Vec<String> = some.iter().map(one).collect();
            format!("Place the blocks of `{label}` where they are used: {}.", list.join(", "))
        }
        some => {
            let mut users: Vec<ProcId> = some.iter().filter_map(|&(_, _, home)| home).collect();
            users.sort_unstable();
            users.dedup();
            format!(
                "`{label}` has {} parts that {} use most, each its own: place each part with its \
                 user.",
                some.len(),
                text::users(survey, &users)
            )
        }
    };
    (sentence, hint.to_owned())
}
