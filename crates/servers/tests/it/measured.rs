//! What a trace has is what its statistics state.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;

use homenode_base::{Access, AccessKind, Flags};
use homenode_servers::{Lengths, Plan, Statistics, TABLE, write};
use homenode_trace::{Batch, Want};

use crate::small::{Made, SMALL, statistics};

/// All references of a trace.
pub fn references(made: &Made) -> Vec<Access> {
    let reader = made.reader();
    let mut found = Vec::new();
    let mut batch = Batch::default();
    for chunk in 0..reader.chunks().len() {
        reader.read_chunk(chunk, Want::ALL, &mut batch).unwrap();
        found.extend(batch.accesses());
    }
    found
}

/// Counts of some processes' references.
#[derive(Default)]
struct Counts {
    references: u64,
    code: u64,
    writes: u64,
    kernel: u64,
    blocks: BTreeSet<u64>,
    users: BTreeMap<u64, BTreeSet<u32>>,
    of_block: BTreeMap<u64, (u64, u64)>,
}

impl Counts {
    fn of(accesses: &[Access], pids: std::ops::Range<u32>, block_bytes: u64) -> Self {
        let mut found = Self::default();
        for access in accesses.iter().filter(|access| pids.contains(&access.pid)) {
            let block = access.addr / block_bytes;
            found.references += 1;
            found.blocks.insert(block);
            found.kernel += u64::from(access.flags.contains(Flags::KERNEL));
            if access.kind == AccessKind::Fetch {
                found.code += 1;
                continue;
            }
            let write = u64::from(access.kind.writes());
            found.writes += write;
            found.users.entry(block).or_default().insert(access.pid);
            let uses = found.of_block.entry(block).or_default();
            *uses = (uses.0 + 1, uses.1 + write);
        }
        found
    }

    /// References, writes and blocks of shared data.
    fn shared(&self) -> (u64, u64, u64) {
        let shared = self.users.iter().filter(|(_, users)| users.len() > 1);
        shared.fold((0, 0, 0), |(accesses, writes, blocks), (block, _)| {
            let (all, written) = self.of_block[block];
            (accesses + all, writes + written, blocks + 1)
        })
    }
}

/// Whether a share in percent is within a tenth of the printed one: several standard deviations
/// for the rarest of the small workload, and the rule by which the studies judge.
fn is_about(count: u64, of: u64, percent: f64) -> bool {
    let found = 100.0 * count as f64 / of as f64;
    (found - percent).abs() <= 0.1 * percent
}

#[test]
fn a_trace_has_all_statistics_of_each_group() {
    let statistics = statistics(SMALL);
    let plan = Plan::new(&statistics, "small.toml").unwrap();
    let accesses = references(&Made::new(&statistics));
    assert_eq!(accesses.len(), 600_000);
    let mut first = 1;
    for (group, planned) in statistics.groups.iter().zip(&plan.groups) {
        let end = first + u32::try_from(group.processes).unwrap();
        let counts = Counts::of(&accesses, first..end, 32);
        first = end;
        let all = counts.references;
        assert_eq!(all, planned.references, "{}", group.name);
        assert!(is_about(all, 600_000, group.references.unwrap()));
        assert!(is_about(counts.code, all, group.code));
        assert!(is_about(counts.writes, all, group.data_write));
        assert!(is_about(counts.kernel, all, group.kernel), "{} {all}", counts.kernel);
        let (shared, shared_writes, shared_blocks) = counts.shared();
        assert_eq!(shared_blocks, group.shared_blocks, "{}", group.name);
        assert!(is_about(shared, all, group.shared_access), "{shared} of {all}");
        assert!(is_about(shared_writes, all, group.shared_write), "{shared_writes} of {all}");
        assert_eq!(counts.blocks.len() as u64, planned.distinct_blocks, "{}", group.name);
    }
    // With the kernel's 101 private blocks, of seven processes.
    assert_eq!([1200 + 57, 2000 + 44, 500], [0, 1, 2].map(|g| plan.groups[g].distinct_blocks));
}

#[test]
fn all_groups_together_touch_the_planned_blocks() {
    let statistics = statistics(SMALL);
    let plan = Plan::new(&statistics, "small.toml").unwrap();
    let counts = Counts::of(&references(&Made::new(&statistics)), 1..9, 32);
    assert_eq!(counts.blocks.len() as u64, plan.distinct_blocks);
    assert_eq!(counts.shared().2, plan.shared_blocks);
    // 1,200 and 2,000 and 500, less the kernel's code and 20 of its shared blocks, which two
    // groups use, and the kernel's private blocks.
    assert_eq!(plan.distinct_blocks, 3700 - 50 - 20 + 101);
    assert_eq!(plan.shared_blocks, 40 + 70);
}

#[test]
fn the_same_statistics_and_seed_give_the_same_trace() {
    let one = statistics(SMALL);
    let mut other = one.clone();
    other.trace.seed = 8;
    let checksum = |statistics: &Statistics| Made::new(statistics).summary.checksum;
    assert_eq!(checksum(&one), checksum(&one));
    assert_ne!(checksum(&one), checksum(&other));
    // On any machine: the generator has no arithmetic that libraries may round differently.
    assert_eq!(checksum(&one), "0afb1562c8d44748984b57a46b3d37b1");
}

#[test]
fn sessions_have_the_length_that_is_asked_for() {
    let mut statistics = statistics(&SMALL.replace("own_words = 30", "own_words = 0"));
    statistics.sessions.lengths = Lengths::Fixed;
    statistics.sessions.accesses = 25.0;
    let made = Made::new(&statistics);
    let kernel = 1_u64 << 46;
    let objects: Vec<u64> = references(&made)
        .iter()
        .filter(|access| access.pid == 1 && !access.flags.contains(Flags::PRIVATE))
        .filter(|access| access.kind != AccessKind::Fetch && access.addr >= kernel)
        .map(|access| access.addr / 64)
        .collect();
    let changes = objects.windows(2).filter(|pair| pair[0] != pair[1]).count();
    let mean = objects.len() as f64 / (changes + 1) as f64;
    // Twenty objects of two blocks: one session in twenty goes on with the object of the last;
    // visits of each block cut a few sessions short.
    assert!((20.0..30.0).contains(&mean), "{mean} of {}", objects.len());
}

#[test]
fn a_trace_that_is_interrupted_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("t.hnt");
    let stop = &mut |_, _| ControlFlow::Break(());
    assert_eq!(write(&statistics(SMALL), "small.toml", &path, stop).unwrap(), None);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

/// Tables 1 to 3 as printed: blocks and shared blocks of each workload, and what its groups make
/// of the shares, within a tenth of those of table 3.
#[test]
fn the_presets_have_the_statistics_of_the_paper() {
    let table_3 = [
        ("foglia-ec", 112_183, 6101, [75.49, 7.39, 1.68, 0.54]),
        ("foglia-db", 330_279, 10_515, [74.59, 9.15, 1.77, 0.53]),
        ("foglia-web", 72_550, 1108, [73.94, 6.92, 1.54, 0.49]),
    ];
    assert_eq!(TABLE.len(), table_3.len());
    for (preset, (name, distinct, shared, shares)) in TABLE.iter().zip(table_3) {
        let statistics = Statistics::parse(preset.text, preset.name).unwrap();
        let plan = Plan::new(&statistics, preset.name).unwrap();
        assert_eq!((preset.name, plan.references, plan.processes), (name, 130_000_000, 26));
        assert_eq!((plan.distinct_blocks, plan.shared_blocks), (distinct, shared), "{name}");
        let of = |value: fn(&homenode_servers::GroupPlan) -> f64| -> f64 {
            let weighted = plan.groups.iter().map(|g| value(g) * g.references as f64);
            weighted.sum::<f64>() / plan.references as f64
        };
        let made =
            [of(|g| g.code), of(|g| g.data_write), of(|g| g.shared_access), of(|g| g.shared_write)];
        for (made, printed) in made.into_iter().zip(shares) {
            assert!((made - printed).abs() <= 0.1 * printed, "{name}: {made} for {printed}");
        }
    }
}

#[test]
fn a_scaled_preset_has_the_same_shares_and_fewer_blocks() {
    let full = Statistics::parse(TABLE[0].text, "foglia-ec").unwrap();
    let scaled = full.clone().scaled(40);
    let plan = Plan::new(&scaled, "foglia-ec").unwrap();
    assert_eq!(plan.references, 3_250_000);
    assert!((112_183_u64 / 40).abs_diff(plan.distinct_blocks) < 10, "{}", plan.distinct_blocks);
    let counts = Counts::of(&references(&Made::new(&scaled)), 1..27, 32);
    assert_eq!(counts.blocks.len() as u64, plan.distinct_blocks);
    assert_eq!(counts.shared().2, plan.shared_blocks);
    assert_eq!(full.scaled(1), Statistics::parse(TABLE[0].text, "foglia-ec").unwrap());
}
