//! Histories against the references they were built from.

use std::collections::BTreeMap;

use crate::support::options;
use homenode_base::{Access, AccessKind, Flags, ReferenceRole, Rng};
use homenode_placement::{Histories, HistoryBuilder, HistoryOptions, PARTS, Shard};
use homenode_trace::Batch;

fn batches(accesses: &[Access], rows: usize) -> Vec<Batch> {
    let mut time = 0;
    let each = accesses.chunks(rows).map(|some| {
        let mut batch = Batch { first_time: time, ..Batch::default() };
        for a in some {
            batch.turns.push(a.thread);
            batch.kind.push(a.kind.code());
            batch.size.push(a.size);
            batch.addr.push(a.addr);
            batch.flags.push(a.flags.0);
            time += u64::from(a.kind != AccessKind::Fetch);
        }
        batch
    });
    each.collect()
}

fn build(accesses: &[Access], options: HistoryOptions) -> (Histories, Vec<Shard>) {
    let mut builder = HistoryBuilder::new(options);
    for batch in batches(accesses, 100) {
        builder.push(&batch);
    }
    builder.finish()
}

type Spelled = Vec<(u16, bool)>;

fn spelled(histories: &Histories) -> BTreeMap<u64, Spelled> {
    let block = |b: homenode_placement::Block<'_>| {
        let mut list = Spelled::new();
        for run in b.runs {
            for k in 0..run.references() {
                list.push((run.processor(), run.next_write(k) == Some(k)));
            }
        }
        (b.number, list)
    };
    histories.blocks().map(block).collect()
}

/// What the histories must say: (Time, processor, write) by block.
fn expected(accesses: &[Access], o: &HistoryOptions) -> BTreeMap<u64, Vec<(u64, u16, bool)>> {
    let mut blocks: BTreeMap<u64, Vec<(u64, u16, bool)>> = BTreeMap::new();
    let data = accesses.iter().filter(|a| a.kind != AccessKind::Fetch);
    for (time, a) in (0..).zip(data) {
        let sync = a.flags.contains(Flags::SYNC) && !o.filter.synchronisation;
        let private = a.flags.contains(Flags::PRIVATE) && o.filter.private != ReferenceRole::Shared;
        if sync || private {
            continue;
        }
        for block in o.block_size.blocks_touched(a.addr, a.size) {
            let entry = (time, a.thread % o.processors, a.kind.writes());
            blocks.entry(block).or_default().push(entry);
        }
    }
    blocks
}

fn random_accesses(rng: &mut Rng, length: usize) -> Vec<Access> {
    let mut list = Vec::new();
    let kinds = [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];
    while list.len() < length {
        let thread = u16::try_from(rng.below(6)).unwrap();
        let base = rng.below(2000);
        let pattern: Vec<AccessKind> =
            (0..1 + rng.below(4)).map(|_| kinds[usize::try_from(rng.below(4)).unwrap()]).collect();
        for _ in 0..1 + rng.below(6) {
            for &kind in &pattern {
                let size = [1, 4, 8, 64][usize::try_from(rng.below(4)).unwrap()];
                let flags =
                    Flags(u8::try_from(if rng.below(4) == 0 { rng.below(8) } else { 0 }).unwrap());
                list.push(Access { flags, ..Access::new(thread, kind, base + rng.below(9), size) });
            }
        }
    }
    list
}

#[test]
fn histories_hold_every_reference_in_order() {
    let mut rng = Rng::new(3);
    for round in 0..200u64 {
        let accesses = random_accesses(&mut rng, 600);
        let mut o = options(4 << rng.below(9), 1 + u16::try_from(rng.below(7)).unwrap());
        o.filter.private = [ReferenceRole::Private, ReferenceRole::Excluded, ReferenceRole::Shared]
            [usize::try_from(round % 3).unwrap()];
        o.filter.synchronisation = round % 2 == 0;
        o.split_periods =
            [vec![], vec![7], vec![50, 13]][usize::try_from(round % 3).unwrap()].clone();
        let expected = expected(&accesses, &o);
        let (histories, given_up) = build(&accesses, o.clone());
        assert!(given_up.is_empty());
        let plain = |list: &Vec<(u64, u16, bool)>| list.iter().map(|&(_, p, w)| (p, w)).collect();
        let without_time: BTreeMap<u64, Spelled> =
            expected.iter().map(|(b, list)| (*b, plain(list))).collect();
        assert_eq!(spelled(&histories), without_time);
        check_times(&histories, &expected, &o.split_periods);
    }
}

/// The first reference of each run has the run's Time; the first write of a visit and the first
/// reference after a split begin a run.
fn check_times(
    histories: &Histories,
    expected: &BTreeMap<u64, Vec<(u64, u16, bool)>>,
    periods: &[u64],
) {
    let period = |time: u64| periods.iter().map(|p| time / p).collect::<Vec<_>>();
    for block in histories.blocks() {
        let list = &expected[&block.number];
        let mut starts = Vec::new();
        let mut position = 0usize;
        for run in block.runs {
            assert_eq!((run.time(), run.processor()), (list[position].0, list[position].1));
            starts.push(position);
            position += usize::try_from(run.references()).unwrap();
        }
        let mut written = false;
        for (i, &(time, p, write)) in list.iter().enumerate() {
            let new = i == 0 || list[i - 1].1 != p || period(list[i - 1].0) != period(time);
            written &= !new;
            let must_start = new || write && !written;
            assert!(!must_start || starts.contains(&i), "reference {i} begins no run");
            written |= write;
        }
    }
}

#[test]
fn counts_references_once_and_private_accesses_per_block() {
    let private = |kind, addr| Access { flags: Flags::PRIVATE, ..Access::new(0, kind, addr, 8) };
    let accesses = [
        Access::new(0, AccessKind::Fetch, 0, 4),
        Access::new(0, AccessKind::Read, 60, 8),
        private(AccessKind::Write, 60),
        private(AccessKind::Read, 0),
        Access { flags: Flags::SYNC, ..Access::new(1, AccessKind::Atomic, 0, 4) },
        Access::new(1, AccessKind::Atomic, 64, 4),
    ];
    let (histories, _) = build(&accesses, options(64, 2));
    assert_eq!(histories.totals.references, 4);
    assert_eq!(
        (histories.totals.outside.local_writes, histories.totals.outside.local_reads),
        (2, 1)
    );
    let expected = BTreeMap::from([(0, vec![(0, false)]), (1, vec![(0, false), (1, true)])]);
    assert_eq!(spelled(&histories), expected);
    assert_eq!(histories.block(1).runs[1].time(), 4, "fetches take no Time, left-out ones do");
    let mut o = options(64, 2);
    o.filter.private = ReferenceRole::Excluded;
    let (histories, _) = build(&accesses, o);
    assert_eq!((histories.totals.references, histories.totals.outside.accesses()), (2, 0));
}

#[test]
fn a_small_budget_means_more_shards_and_the_same_histories() {
    let mut rng = Rng::new(9);
    let accesses = random_accesses(&mut rng, 3_000);
    let (whole, _) = build(&accesses, options(16, 6));
    let mut pending = vec![Shard::default()];
    let mut parts = BTreeMap::new();
    let (mut passes, mut references, mut outside) = (0, 0, 0);
    while let Some(shard) = pending.pop() {
        let o = HistoryOptions { shard, memory_budget_bytes: 6_000, ..options(16, 6) };
        let (histories, given_up) = build(&accesses, o);
        pending.extend(given_up);
        references += histories.totals.references;
        outside += histories.totals.outside.accesses();
        passes += 1;
        for (number, list) in spelled(&histories) {
            assert!(parts.insert(number, list).is_none(), "block {number} twice");
        }
    }
    assert!(passes > 4, "{passes} passes");
    assert_eq!(parts, spelled(&whole));
    assert_eq!((references, outside), (whole.totals.references, whole.totals.outside.accesses()));
}

#[test]
fn long_runs_are_exact_beyond_every_counter() {
    let mut accesses = Vec::new();
    accesses.extend(vec![Access::new(0, AccessKind::Read, 0, 4); 200_000]);
    accesses.extend(vec![Access::new(0, AccessKind::Write, 0, 4); 70_000]);
    accesses.extend(vec![Access::new(0, AccessKind::Read, 0, 4); 70_000]);
    let (histories, _) = build(&accesses, options(64, 2));
    let runs = histories.block(0).runs;
    assert_eq!(runs.iter().map(|r| r.reads()).sum::<u64>(), 270_000);
    assert_eq!(runs.iter().map(|r| r.writes()).sum::<u64>(), 70_000);
    assert!(runs.len() < 9, "{runs:?}");
}

/// Taken part by part or at once, halved or not, every block has the same history, and no block is
/// in two parts.
#[test]
fn parts_hold_the_same_histories_as_the_whole() {
    let mut rng = Rng::new(21);
    for budget in [u64::MAX, 30_000] {
        let accesses = random_accesses(&mut rng, 5_000);
        let o = HistoryOptions { memory_budget_bytes: budget, ..options(16, 5) };
        let (whole, given_up) = build(&accesses, o.clone());
        let mut builder = HistoryBuilder::new(o);
        for batch in batches(&accesses, 100) {
            builder.push(&batch);
        }
        let (mut closed, given_up_too) = builder.close();
        assert_eq!(given_up, given_up_too);
        assert_eq!(closed.totals.references, whole.totals.references);
        assert_eq!(closed.totals.outside, whole.totals.outside);
        let mut found = BTreeMap::new();
        for part in 0..PARTS {
            let histories = closed.take(part);
            for block in histories.blocks() {
                assert!(found.insert(block.number, block.runs.to_vec()).is_none());
            }
        }
        let expected: BTreeMap<_, _> =
            whole.blocks().map(|block| (block.number, block.runs.to_vec())).collect();
        assert_eq!(found, expected);
        assert!(budget == u64::MAX || !given_up.is_empty());
    }
}
