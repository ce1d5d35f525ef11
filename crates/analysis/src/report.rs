//! The report on the worst blocks.

use std::collections::{BTreeMap, BTreeSet};

use homenode_placement::policy::Policy;
use homenode_placement::{Amount, Tally};
use homenode_trace::TraceReader;
use serde::Serialize;

use crate::detail::{BlockDetail, UseCounts, WordDetail};
pub use crate::detail::{BlockMisses, ByClass, SharingPattern};
use crate::identity::Object;
use crate::map::SharingMap;
use crate::objects::Names;
use crate::rank::{CostSteps, Priced, Ranking, WorstQuery, add, rank, rank_of};
use crate::source::SourceSite;
use crate::survey::{WorstSurvey, survey};
use crate::{AnalysisError, AnalysisProgress};

/// Objects and source lines listed for one block.
const LISTED_MAX: usize = 8;

/// The blocks and objects that cause the cost of a trace, under one policy at one block size on one
/// machine.
///
/// The *extra* cost is what exceeds the cost of as many local references: moves, and references to
/// other processors' or global memory. Blocks and objects are ranked by it, because a block that is
/// referenced often but always locally costs nothing that placement could save.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostReport {
    /// Block size in bytes.
    pub block_size: u64,
    /// Processors; thread i runs on processor i modulo this.
    pub processors: u16,
    /// Blocks that are referenced.
    pub blocks: u64,
    /// References simulated, one for each block touched.
    pub accesses: u64,
    /// Cost of all blocks.
    pub cost: Amount,
    /// Its extra part.
    pub extra_cost: Amount,
    /// The blocks with the greatest extra cost, greatest first.
    pub worst: Vec<WorstBlock>,
    /// The objects with the greatest extra cost, greatest first.
    pub objects: Vec<ObjectCost>,
    /// References by address and processor.
    pub map: SharingMap,
}

/// One of the worst blocks.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WorstBlock {
    /// First address, in hexadecimal.
    pub address: String,
    /// Cost of the block.
    pub cost: Amount,
    /// Its extra part.
    pub extra_cost: Amount,
    /// Extra cost as a fraction of all blocks' extra cost; absent if that is infinite or 0.
    pub share: Option<f64>,
    /// Counts of the policy.
    pub counts: Tally,
    /// How the block is shared.
    pub sharing: SharingPattern,
    /// Words of four bytes that are touched, by class.
    pub words: ByClass,
    /// References, by class of the first word they touch.
    pub references: ByClass,
    /// Its misses under infinite caches, by class.
    pub misses: BlockMisses,
    /// The threads that use it, by number.
    pub threads: Vec<ThreadUse>,
    /// The objects in it, most referenced first, at most eight.
    pub objects: Vec<ObjectUse>,
    /// The source lines that reference it, most references first, at most eight; none if the trace
    /// has no program counters.
    pub lines: Vec<LineUse>,
}

/// A thread's use of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ThreadUse {
    /// The thread.
    pub thread: u16,
    /// Its reads.
    pub reads: u64,
    /// Its writes and atomics.
    pub writes: u64,
}

/// An object's part of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ObjectUse {
    /// The object.
    #[serde(flatten)]
    pub object: Object,
    /// Its short name for people.
    pub label: String,
    /// First and last byte referenced in this block, counted from the start of the object (of the
    /// one heap block); from the start of the block where nothing is known.
    pub offsets: (u64, u64),
    /// Reads.
    pub reads: u64,
    /// Writes and atomics.
    pub writes: u64,
}

/// A source line's use of a block.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LineUse {
    /// The place.
    #[serde(flatten)]
    pub site: SourceSite,
    /// Reads made there.
    pub reads: u64,
    /// Writes and atomics made there.
    pub writes: u64,
    /// Threads that made them.
    pub threads: u32,
}

/// An object's part of the cost.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ObjectCost {
    /// The object; all heap blocks that one line allocated are one.
    #[serde(flatten)]
    pub object: Object,
    /// Its short name for people.
    pub label: String,
    /// Bytes of all its parts.
    pub bytes: u64,
    /// Cost of its blocks; a block that holds several objects is divided among them by the
    /// references to each.
    pub cost: Amount,
    /// The extra part.
    pub extra_cost: Amount,
    /// Extra cost as a fraction of all blocks' extra cost; absent if that is infinite or 0.
    pub share: Option<f64>,
    /// Reads.
    pub reads: u64,
    /// Writes and atomics.
    pub writes: u64,
    /// Processors that reference it.
    pub processors: u32,
}

/// Simulates `policy` and reports the blocks and objects that cost most, with how they are shared.
///
/// Cost: the simulation, and one more pass over the trace.
///
/// # Errors
/// When the trace cannot be read, or `progress` asks to stop.
pub fn worst_blocks(
    trace: &TraceReader,
    query: &WorstQuery,
    policy: &mut dyn Policy,
    mut progress: AnalysisProgress<'_>,
) -> Result<CostReport, AnalysisError> {
    let names = Names::new(trace.metadata());
    let mut done = 0;
    let ranking = rank(trace, query, policy, &names, &mut progress, &mut done)?;
    done = trace.references();
    let survey = survey(trace, query, &names, &ranking, &mut progress, &mut done)?;
    Ok(CostReport {
        block_size: query.block_size.bytes(),
        processors: query.processors,
        blocks: ranking.blocks,
        accesses: ranking.tally.accesses(),
        cost: amount(query, ranking.cost),
        extra_cost: amount(query, ranking.extra),
        worst: worst(query, &names, &ranking, &survey),
        objects: objects(query, &names, &ranking, &survey),
        map: survey.map.finish(&names),
    })
}

fn amount(query: &WorstQuery, steps: CostSteps) -> Amount {
    Amount { steps, scale: query.prices.local() }
}

/// `part` as a fraction of `whole`, if both are finite and `whole` is not 0.
fn share(part: CostSteps, whole: CostSteps) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "a share is a rounded figure")]
    let share = |part: u128, whole: u128| part as f64 / whole as f64;
    Some(share(part?, whole.filter(|&steps| steps > 0)?))
}

fn worst(
    query: &WorstQuery,
    names: &Names<'_>,
    ranking: &Ranking,
    survey: &WorstSurvey,
) -> Vec<WorstBlock> {
    let describe = |(priced, detail): (&Priced, &BlockDetail)| {
        let classified = detail.classify();
        let start = priced.number * query.block_size.bytes();
        WorstBlock {
            address: format!("0x{start:x}"),
            cost: amount(query, priced.cost),
            extra_cost: amount(query, priced.extra),
            share: share(priced.extra, ranking.extra),
            counts: priced.tally,
            sharing: classified.sharing,
            words: classified.words,
            references: classified.references,
            misses: classified.misses,
            threads: threads(detail),
            objects: objects_within(start, &detail.words(), names),
            lines: lines(detail, names),
        }
    };
    ranking.worst.iter().zip(&survey.details).map(describe).collect()
}

fn threads(detail: &BlockDetail) -> Vec<ThreadUse> {
    let mut threads: BTreeMap<u16, UseCounts> = BTreeMap::new();
    for (&(_, thread), &uses) in &detail.uses {
        threads.entry(thread).or_default().merge(uses);
    }
    let row = |(thread, uses): (u16, UseCounts)| ThreadUse {
        thread,
        reads: uses.reads,
        writes: uses.writes,
    };
    threads.into_iter().map(row).collect()
}

fn lines(detail: &BlockDetail, names: &Names<'_>) -> Vec<LineUse> {
    let mut lines: BTreeMap<SourceSite, (UseCounts, BTreeSet<u16>)> = BTreeMap::new();
    for (&(pc, thread), &uses) in detail.uses.iter().filter(|((pc, _), _)| *pc != 0) {
        let (sum, threads) = lines.entry(names.site(pc)).or_default();
        sum.merge(uses);
        threads.insert(thread);
    }
    let mut lines: Vec<LineUse> = lines
        .into_iter()
        .map(|(site, (uses, threads))| LineUse {
            site,
            reads: uses.reads,
            writes: uses.writes,
            threads: u32::try_from(threads.len()).unwrap_or(u32::MAX),
        })
        .collect();
    // The sort is stable: lines with equally many references stay in order of place.
    lines.sort_by_key(|line| std::cmp::Reverse(line.reads + line.writes));
    lines.truncate(LISTED_MAX);
    lines
}

/// The objects whose words are touched. `start` is the block's first address.
fn objects_within(
    start: u64,
    words: &BTreeMap<u64, WordDetail>,
    names: &Names<'_>,
) -> Vec<ObjectUse> {
    const WORD_BYTES: u64 = homenode_base::BlockSize::WORD_BYTES;
    // By start of the range: two heap blocks of one line are listed each with its offsets.
    let mut parts: BTreeMap<(usize, u64), (UseCounts, u64, u64)> = BTreeMap::new();
    for (&number, word) in words {
        let first = number * WORD_BYTES;
        // An object may begin within the word.
        let found = (first..=first + (WORD_BYTES - 1)).find_map(|addr| names.segment(addr));
        let (group, origin) =
            found.map_or((crate::objects::UNKNOWN, start), |s| (s.group, s.start));
        let low = first.saturating_sub(origin);
        let part = parts.entry((group, origin)).or_insert((UseCounts::default(), low, low));
        part.0.merge(word.uses);
        part.2 = (first + (WORD_BYTES - 1)).saturating_sub(origin);
    }
    let row = |((group, _), (uses, low, high)): ((usize, u64), (UseCounts, u64, u64))| ObjectUse {
        object: names.object_of(group).clone(),
        label: names.object_of(group).label(),
        offsets: (low, high),
        reads: uses.reads,
        writes: uses.writes,
    };
    let mut parts: Vec<ObjectUse> = parts.into_iter().map(row).collect();
    parts.sort_by_key(|part| std::cmp::Reverse(part.reads + part.writes));
    parts.truncate(LISTED_MAX);
    parts
}

fn objects(
    query: &WorstQuery,
    names: &Names<'_>,
    ranking: &Ranking,
    survey: &WorstSurvey,
) -> Vec<ObjectCost> {
    let costs = divide(ranking, survey);
    let row = |(group, (cost, extra)): (usize, (CostSteps, CostSteps))| {
        let found = &survey.groups[group];
        ObjectCost {
            object: names.object_of(group).clone(),
            label: names.object_of(group).label(),
            bytes: names.bytes_of(group),
            cost: amount(query, cost),
            extra_cost: amount(query, extra),
            share: share(extra, ranking.extra),
            reads: found.uses.reads,
            writes: found.uses.writes,
            processors: found.processors(),
        }
    };
    let used = |group: usize| survey.groups[group].uses.all() > 0 || costs[group].0 != Some(0);
    let all = costs.iter().copied().enumerate().filter(|&(group, _)| used(group));
    let mut rows: Vec<ObjectCost> = all.map(row).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(rank_of(row.extra_cost.steps)));
    rows.truncate(query.count);
    rows
}

/// Cost and extra cost of every object, the blocks with several objects divided among them.
fn divide(ranking: &Ranking, survey: &WorstSurvey) -> Vec<(CostSteps, CostSteps)> {
    let mut costs = ranking.groups.clone();
    for (block, parts) in &survey.mixed {
        let Some(&(cost, extra)) = ranking.mixed.get(block) else { continue };
        let weights: Vec<(usize, u64)> = parts.iter().map(|(&g, &n)| (g, n)).collect();
        let pieces = split(cost, &weights).into_iter().zip(split(extra, &weights));
        for (&(group, _), (cost, extra)) in weights.iter().zip(pieces) {
            costs[group].0 = add(costs[group].0, cost);
            costs[group].1 = add(costs[group].1, extra);
        }
    }
    costs
}

/// Divides an amount in proportion to weights, exactly: the remainder of rounding goes to the
/// largest weight.
fn split(steps: CostSteps, weights: &[(usize, u64)]) -> Vec<CostSteps> {
    let Some(steps) = steps else { return vec![None; weights.len()] };
    let whole: u128 = weights.iter().map(|&(_, weight)| u128::from(weight)).sum();
    let part = |weight: u64| steps.saturating_mul(u128::from(weight)) / whole.max(1);
    let mut parts: Vec<u128> = weights.iter().map(|&(_, weight)| part(weight)).collect();
    let rest = steps - parts.iter().sum::<u128>();
    let heaviest = (0..weights.len()).max_by_key(|&i| (weights[i].1, std::cmp::Reverse(i)));
    if let Some(heaviest) = heaviest {
        parts[heaviest] += rest;
    }
    parts.into_iter().map(Some).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn splitting_loses_nothing() {
        let parts = split(Some(100), &[(0, 1), (4, 1), (7, 1)]);
        assert_eq!(parts, [Some(34), Some(33), Some(33)]);
        assert_eq!(split(Some(7), &[(0, 0), (1, 5)]), [Some(0), Some(7)]);
        assert_eq!(split(None, &[(0, 1)]), [None]);
        assert!(split(Some(7), &[]).is_empty());
    }

    #[test]
    fn shares_of_nothing_and_of_infinity_are_absent() {
        assert_eq!(share(Some(1), Some(4)), Some(0.25));
        assert_eq!(share(Some(0), Some(0)), None);
        assert_eq!(share(None, None), None);
    }
}
