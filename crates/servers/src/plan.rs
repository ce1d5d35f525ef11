//! The trace that statistics describe: how many references each process makes, and to how many
//! blocks of which kind.

use serde::Serialize;

use crate::areas::{Allocator, Area};
use crate::error::ServersError;
use crate::odds::{floored, rounded};
use crate::rules::{Rules, at};
use crate::statistics::{Group, Kernel, Statistics};

/// Share of the references after which every block must have been visited.
const VISITED_BY: f64 = 0.9;
/// Standard deviations by which a count may stay below its mean.
const DEVIATIONS: f64 = 4.0;
/// Mean lengths that one loop may take.
const LOOPS: f64 = 6.0;

/// What the trace will have, for a comparison with what it has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// References, fetches included.
    pub references: u64,
    /// Processes.
    pub processes: u64,
    /// Blocks that all processes touch.
    pub distinct_blocks: u64,
    /// Blocks of data that several processes reference.
    pub shared_blocks: u64,
    /// The groups.
    pub groups: Vec<GroupPlan>,
    #[serde(skip)]
    pub(crate) kernel: KernelAreas,
    #[serde(skip)]
    pub(crate) block_bytes: u64,
}

/// What a group's processes will do.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupPlan {
    /// Its name.
    pub name: String,
    /// Its processes.
    pub processes: u64,
    /// Number of its first process.
    pub first_process: u64,
    /// References of all of them.
    pub references: u64,
    /// Blocks that they touch, the kernel's private ones included.
    pub distinct_blocks: u64,
    /// Blocks of data that several of them reference.
    pub shared_blocks: u64,
    /// Percent of the references that are fetches.
    pub code: f64,
    /// Percent that are writes.
    pub data_write: f64,
    /// Percent to shared data.
    pub shared_access: f64,
    /// Percent that are writes to shared data.
    pub shared_write: f64,
    /// Percent by the kernel.
    pub kernel: f64,
    #[serde(skip)]
    pub(crate) code_area: Area,
    #[serde(skip)]
    pub(crate) shared_area: Area,
    #[serde(skip)]
    pub(crate) private_areas: Vec<Area>,
    #[serde(skip)]
    pub(crate) kernel_areas: Vec<Area>,
}

/// The kernel's areas that processes share.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KernelAreas {
    pub(crate) code: Area,
    pub(crate) shared: Area,
}

/// Visits of all blocks of a part of an area, at equal distances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Visits {
    /// The first block.
    pub(crate) first: u64,
    /// Blocks to visit.
    pub(crate) total: u64,
    /// References for each visit.
    pub(crate) distance: u64,
    /// Blocks visited.
    pub(crate) visited: u64,
    /// References made.
    pub(crate) made: u64,
}

impl Visits {
    /// The block to visit now, if any.
    pub(crate) fn due(&self) -> Option<u64> {
        let due = self.visited < self.total && self.made >= self.visited * self.distance;
        due.then_some(self.first + self.visited)
    }

    /// Visits of `total` blocks in about `expected` references, of which each takes `least`, and
    /// one may be late by `slack`. None if these are too few.
    pub(crate) fn within(total: u64, expected: f64, least: f64, slack: f64) -> Option<Self> {
        let available = VISITED_BY * (expected - DEVIATIONS * expected.sqrt()) - slack;
        let distance = available / total.max(1) as f64;
        let enough = total == 0 || distance >= least;
        let distance = floored(distance.max(1.0));
        enough.then_some(Self { first: 0, total, distance, visited: 0, made: 0 })
    }
}

/// Visits of blocks of code, in loops: each takes the words of a block.
pub(crate) fn code_visits(
    total: u64,
    expected: f64,
    words: u64,
    loop_blocks: f64,
) -> Option<Visits> {
    let words = words as f64;
    Visits::within(total, expected, 1.5 * words, LOOPS * loop_blocks * words)
}

/// Visits of blocks of data, of one reference each.
pub(crate) fn data_visits(total: u64, expected: f64) -> Option<Visits> {
    Visits::within(total, expected, 2.0, 0.0)
}

/// A part of a whole that is divided evenly: they differ by one at most, and their sum is exact.
pub(crate) fn part(whole: u64, number: u64, of: u64) -> u64 {
    let end = |i: u64| {
        let product = u128::from(whole) * u128::from(i) / u128::from(of);
        u64::try_from(product).expect("a part is not more than the whole")
    };
    end(number + 1) - end(number)
}

/// What a process references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemoryShares {
    /// Fetches in user mode, as shares of all references of a process.
    pub(crate) user_code: f64,
    pub(crate) user_private: f64,
    pub(crate) user_shared: f64,
    pub(crate) kernel_code: f64,
    pub(crate) kernel_private: f64,
    pub(crate) kernel_shared: f64,
}

impl MemoryShares {
    pub(crate) fn of(group: &Group) -> Self {
        let [code, data, shared, kernel] =
            [group.code, group.data, group.shared_access, group.kernel].map(|share| share / 100.0);
        let kernel_shared = shared * group.kernel_shared_access / 100.0;
        let user_shared = shared - kernel_shared;
        Self {
            user_code: (1.0 - kernel) * code,
            user_private: (1.0 - kernel) * data - user_shared,
            user_shared,
            kernel_code: kernel * code,
            kernel_private: kernel * data - kernel_shared,
            kernel_shared,
        }
    }
}

impl Plan {
    /// Plans the trace of statistics; `origin` names their file in errors.
    ///
    /// # Errors
    /// When no trace can have these statistics.
    pub fn new(statistics: &Statistics, origin: &str) -> Result<Self, ServersError> {
        let rules = Rules::new(origin);
        rules.check(statistics)?;
        let Statistics { trace, kernel, groups, .. } = statistics;
        let mut user = Allocator::user(trace.block_bytes);
        let mut kernels = Allocator::kernel(trace.block_bytes);
        let areas = KernelAreas {
            code: kernels.take(kernel.code_blocks),
            shared: kernels.take(kernel.shared_blocks),
        };
        let callers = groups.iter().filter(|g| g.kernel > 0.0).map(|g| g.processes).sum();
        let mut planned = Planned { processes: 0, callers: 0 };
        let mut plans = Vec::new();
        let mut references = group_references(trace.references, groups).into_iter();
        for group in groups {
            let blocks = private_blocks(&rules, group, kernel)?;
            let private_areas =
                (0..group.processes).map(|i| user.take(part(blocks, i, group.processes))).collect();
            let calling = if group.kernel > 0.0 { group.processes } else { 0 };
            let kernel_areas: Vec<Area> = (planned.callers..planned.callers + calling)
                .map(|i| kernels.take(part(kernel.private_blocks, i, callers)))
                .collect();
            let in_kernel: u64 = kernel_areas.iter().map(|area| area.blocks).sum();
            plans.push(GroupPlan {
                name: group.name.clone(),
                processes: group.processes,
                first_process: planned.processes,
                references: references.next().unwrap_or_default(),
                distinct_blocks: group.distinct_blocks + in_kernel,
                shared_blocks: group.shared_blocks,
                code: group.code,
                data_write: group.data_write,
                shared_access: group.shared_access,
                shared_write: group.shared_write,
                kernel: group.kernel,
                code_area: user.take(group.code_blocks),
                shared_area: user.take(group.shared_blocks - group.kernel_shared_blocks),
                private_areas,
                kernel_areas,
            });
            planned.processes += group.processes;
            planned.callers += calling;
        }
        let mut plan = Self {
            references: trace.references,
            processes: planned.processes,
            distinct_blocks: 0,
            shared_blocks: kernel.shared_blocks,
            groups: plans,
            kernel: areas,
            block_bytes: trace.block_bytes,
        };
        plan.count();
        Ok(plan)
    }

    /// Adds up the blocks of all groups, those of the kernel once.
    fn count(&mut self) {
        let shared: u64 = self.groups.iter().map(|group| group.shared_area.blocks).sum();
        self.shared_blocks = self.kernel.shared.blocks + shared;
        let own: u64 = self
            .groups
            .iter()
            .map(|group| {
                let areas = group.private_areas.iter().chain(&group.kernel_areas);
                group.code_area.blocks + areas.map(|area| area.blocks).sum::<u64>()
            })
            .sum();
        self.distinct_blocks = self.kernel.code.blocks + self.shared_blocks + own;
    }
}

/// What earlier groups have.
struct Planned {
    processes: u64,
    callers: u64,
}

/// The references of each group, whose sum is that of the trace.
fn group_references(references: u64, groups: &[Group]) -> Vec<u64> {
    let weight = |group: &Group| group.references.unwrap_or(group.processes as f64);
    let all: f64 = groups.iter().map(weight).sum();
    let (mut before, mut done) = (0.0, 0);
    let mut found = Vec::new();
    for group in groups {
        before += weight(group);
        let end = rounded(references as f64 * before / all).min(references);
        found.push(end - done);
        done = end;
    }
    if let Some(last) = found.last_mut() {
        *last += references - done;
    }
    found
}

/// The private blocks of a group's processes: what is left of the distinct ones.
fn private_blocks(rules: &Rules<'_>, group: &Group, kernel: &Kernel) -> Result<u64, ServersError> {
    let kernel_code = if group.kernel > 0.0 { kernel.code_blocks } else { 0 };
    let others = group.code_blocks + kernel_code + group.shared_blocks;
    let left = group.distinct_blocks.saturating_sub(others);
    if left >= group.processes {
        return Ok(left);
    }
    let problem = format!(
        "{} of code, {kernel_code} of the kernel's code and {} shared ones leave fewer than one \
         private block for each of {} processes",
        group.code_blocks, group.shared_blocks, group.processes
    );
    let remedy = "raise it, or lower one of the others";
    Err(rules.impossible(at(group, "distinct_blocks"), group.distinct_blocks, problem, remedy))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_add_up() {
        for (whole, of) in [(10, 3), (2, 5), (1 << 40, 26)] {
            let parts: Vec<u64> = (0..of).map(|i| part(whole, i, of)).collect();
            assert_eq!(parts.iter().sum::<u64>(), whole);
            assert!(parts.iter().max().unwrap() - parts.iter().min().unwrap() <= 1);
        }
    }

    #[test]
    fn visits_end_before_the_references_do() {
        let mut visits = Visits::within(10, 1000.0, 2.0, 0.0).unwrap();
        let mut seen = Vec::new();
        while visits.made < 900 {
            if let Some(block) = visits.due() {
                seen.push(block);
                visits.visited += 1;
            }
            visits.made += 1;
        }
        assert_eq!(seen, (0..10).collect::<Vec<_>>());
        assert_eq!(Visits::within(1000, 1000.0, 2.0, 0.0), None);
    }
}
