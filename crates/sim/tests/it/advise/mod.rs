//! Advice over whole traces: the promised saving is that of the written trace.

mod lines;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;

use homenode_base::{Access, AccessKind, Rng};
use homenode_sim::{
    AdviceConfig, AdvicePoint, AdviceProvenance, AdviceReport, SimConfig, SimError, advise, run,
};
use homenode_trace::{AddressRange, Batch, Metadata, RangeKind, TraceReader, Want};

use crate::made;

fn write_all(accesses: &[Access], ranges: Vec<AddressRange>) -> TraceReader {
    made::trace(accesses, 100, Metadata { ranges, ..Metadata::default() })
}

fn symbol(start: u64, size: u64, name: &str) -> AddressRange {
    AddressRange::new(RangeKind::Static, start, size, name)
}

/// Counters, cyclic rows, structures and a table, with some references at random.
fn program(seed: u64, longest: u8) -> TraceReader {
    let mut rng = Rng::new(seed);
    let mut accesses = Vec::new();
    for turn in 0..900u64 {
        let thread = u16::try_from(rng.below(5)).expect("a thread");
        let t = u64::from(thread);
        let write = if rng.below(2) == 0 { AccessKind::Write } else { AccessKind::Read };
        accesses.push(Access::new(thread, write, 0x1004 + 8 * t, 8));
        let row = t + 5 * rng.below(6);
        accesses.push(Access::new(thread, write, 0x2000 + 24 * row + 4 * rng.below(4), 8));
        let element = 0x3000 + 20 * (t + 5 * rng.below(4));
        accesses.push(Access::new(thread, write, element, 4));
        accesses.push(Access::new(thread, AccessKind::Read, 0x3000 + 20 * rng.below(20) + 8, 8));
        if turn % 9 == 0 {
            let size = if rng.below(2) == 0 { 4 } else { longest };
            accesses.push(Access::new(thread, write, 0x1000 + 4 * rng.below(0x900), size));
        }
    }
    write_all(
        &accesses,
        vec![
            symbol(0x1000, 4, "flag"),
            symbol(0x1004, 40, "counters"),
            symbol(0x2000, 720, "rows"),
            symbol(0x3000, 400, "elements"),
        ],
    )
}

fn config(machine: &str, policy: &str, block: u64) -> AdviceConfig {
    AdviceConfig::new(SimConfig::new(&[machine], &[policy], &[block]))
}

fn find(
    config: &AdviceConfig,
    trace: &TraceReader,
    out: Option<&Path>,
) -> Result<AdviceReport, SimError> {
    advise(config, trace, out, &mut |_, _| ControlFlow::Continue(()))
}

fn cost(config: &AdviceConfig, trace: &TraceReader) -> (u128, u64) {
    let found = run(&config.simulation, trace, &mut |_, _| ControlFlow::Continue(()));
    let outcome = &found.expect("a simulation").outcomes[0];
    (outcome.total_cost.steps.expect("a finite cost"), outcome.accesses)
}

fn all(trace: &TraceReader) -> Vec<Access> {
    let mut batch = Batch::default();
    let mut found = Vec::new();
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut batch).expect("a chunk");
        found.extend(batch.accesses());
    }
    found
}

const POINTS: [(&str, &str, u64); 12] = [
    ("cc", "migrate", 64),
    ("numa", "optimal", 128),
    ("numa", "ace", 64),
    ("numa", "delay:n=3", 256),
    ("numa", "platinum:t1=50,t2=700", 64),
    ("numa", "first-touch", 128),
    ("numa", "best-static", 64),
    ("ace", "all-global", 64),
    ("markatos", "inv", 64),
    ("markatos", "upt", 256),
    ("markatos", "inv.freez:f=50,d=700", 64),
    ("markatos", "inv.del", 1024),
];

#[test]
fn the_written_trace_has_the_predicted_cost() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.hnt");
    let mut pieces = 0;
    for (seed, (machine, policy, block)) in (0..).zip(POINTS) {
        // References of one value, and of several, which a layout may take apart.
        for longest in [8, 64] {
            let trace = program(seed, longest);
            let config = config(machine, policy, block);
            let report = find(&config, &trace, Some(&out)).unwrap();
            let point = &report.points[0];
            let steps = |cost: &homenode_placement::Amount| cost.steps.unwrap();
            let (before, accesses) = cost(&config, &trace);
            assert_eq!(
                (steps(&point.before.total_cost), point.before.accesses),
                (before, accesses)
            );
            let moved = TraceReader::open(&out).unwrap();
            let (after, accesses) = cost(&config, &moved);
            let scale = point.before.total_cost.scale as f64;
            // A trace has layouts; new homes are for the program.
            let places =
                point.advice.iter().filter(|row| ["place", "replicate"].contains(&row.kind));
            let placed: f64 = places.map(|row| row.saved * scale).sum();
            let found = steps(&point.after.total_cost) as f64 + placed;
            assert!((found - after as f64).abs() < 1e-3 * scale, "{policy}: {found} {after}");
            assert_eq!(point.after.accesses, accesses);
            let saved: f64 = point.advice.iter().map(|row| row.saved).sum();
            let difference = (before as f64 - after as f64 + placed) / scale;
            // If a reference is split, Time advances, which affects some policies.
            if longest == 8 {
                assert!((saved - difference).abs() < 1e-6, "{policy}: {saved} {difference}");
            }
            assert!(point.advice.iter().all(|row| row.saved > 0.0));
            assert!(after <= before || longest > 8, "{policy}");
            pieces += point.advice.len();
        }
    }
    assert!(pieces > 24, "{pieces} pieces of advice");
}

#[test]
fn the_layout_is_one_to_one_and_loses_no_reference() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.hnt");
    for seed in 0..8 {
        let trace = program(seed, 64);
        let report = find(&config("cc", "migrate", 64), &trace, Some(&out)).unwrap();
        assert!(!report.points[0].advice.is_empty());
        let moved = TraceReader::open(&out).unwrap();
        moved.verify().unwrap();
        let bytes = |accesses: &[Access]| -> Vec<(u16, AccessKind, u64)> {
            let mut list = Vec::new();
            for a in accesses {
                let each = (0..u64::from(a.size)).map(|i| (a.thread, a.kind, a.addr + i));
                list.extend(each);
            }
            list
        };
        let (old, new) = (bytes(&all(&trace)), bytes(&all(&moved)));
        assert_eq!(old.len(), new.len());
        let (mut there, mut back) = (BTreeMap::new(), BTreeMap::new());
        for (from, to) in old.iter().zip(&new) {
            assert_eq!((from.0, from.1), (to.0, to.1));
            assert_eq!(*there.entry(from.2).or_insert(to.2), to.2, "a byte goes to one place");
            assert_eq!(*back.entry(to.2).or_insert(from.2), from.2, "a place has one byte");
        }
        assert!(there.iter().any(|(from, to)| from != to));
        let provenance = moved.metadata().provenance.join(" ");
        assert!(provenance.contains("advise --machine cc --policy migrate --block-size 64"));
    }
}

#[test]
fn named_ranges_move_with_their_data() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.hnt");
    let trace = program(3, 8);
    let report = find(&config("cc", "migrate", 64), &trace, Some(&out)).unwrap();
    let moved = TraceReader::open(&out).unwrap();
    let owner = |ranges: &[AddressRange], addr: u64| {
        let holds = |r: &&AddressRange| r.start <= addr && addr < r.start + r.size;
        ranges.iter().rfind(holds).map(|r| r.name.clone())
    };
    let mut names = BTreeSet::new();
    for (old, new) in all(&trace).iter().zip(&all(&moved)) {
        let name = owner(&trace.metadata().ranges, old.addr);
        assert_eq!(name, owner(&moved.metadata().ranges, new.addr), "{:#x}", old.addr);
        if old.addr != new.addr {
            names.extend(name);
        }
    }
    let named = report.points[0].advice.iter().filter(|row| row.object_kind.is_some());
    assert!(named.clone().count() > 1);
    assert!(named.clone().all(|row| names.contains(&row.object)));
}

#[test]
fn advice_is_the_same_on_any_number_of_threads_and_in_any_memory() {
    for (machine, policy, block) in [POINTS[0], POINTS[4], POINTS[10]] {
        let trace = program(5, 64);
        let mut one = config(machine, policy, block);
        let said = |config: &AdviceConfig| {
            let mut report = find(config, &trace, None).unwrap();
            if let AdviceProvenance::Priced(provenance) = &mut report.provenance {
                provenance.notes.clear();
            }
            serde_json::to_string(&report).unwrap()
        };
        one.simulation.threads = Some(1);
        let expected = said(&one);
        one.simulation.threads = Some(3);
        assert_eq!(said(&one), expected);
        for budget in [30_000, 100_000] {
            one.simulation.memory_budget_bytes = Some(budget);
            assert_eq!(said(&one), expected, "{policy} in {budget} bytes");
        }
    }
}

fn only(trace: &TraceReader, machine: &str, policy: &str, block: u64) -> AdvicePoint {
    find(&config(machine, policy, block), trace, None).expect("advice").points.remove(0)
}

/// Rows of 24 bytes, assigned to four threads in turn.
#[test]
fn cyclic_rows_are_grouped() {
    let mut accesses = Vec::new();
    for turn in 0..10 {
        for row in 0..64u64 {
            let thread = u16::try_from(row % 4).unwrap();
            let kind = if turn == 0 { AccessKind::Write } else { AccessKind::Atomic };
            let word = |i: u64| Access::new(thread, kind, 0x1000 + 24 * row + 8 * i, 8);
            accesses.extend((0..3).map(word));
        }
    }
    let trace = write_all(&accesses, vec![symbol(0x1000, 64 * 24, "rows")]);
    let point = only(&trace, "markatos", "inv", 256);
    assert_eq!(point.advice[0].kind, "group");
    assert_eq!(point.after.mcpr, Some(1.0));
    assert_eq!(point.extra_bytes, 4 * 512 - 64 * 24);
}

/// A matrix of 32 rows and 16 columns of eight bytes. Four threads have four columns each, and read
/// the column beside theirs.
#[test]
fn columns_of_a_matrix_are_gathered() {
    let at = |row: u64, column: u64| 0x1000 + 8 * (16 * row + column);
    let mut accesses = Vec::new();
    for _ in 0..8 {
        for thread in 0..4u16 {
            let low = 4 * u64::from(thread);
            for row in 0..32 {
                for column in low..low + 4 {
                    let beside = at(row, (column + 1) % 16);
                    accesses.push(Access::new(thread, AccessKind::Read, beside, 8));
                    accesses.push(Access::new(thread, AccessKind::Write, at(row, column), 8));
                }
            }
        }
    }
    let trace = write_all(&accesses, vec![symbol(0x1000, 32 * 16 * 8, "matrix")]);
    let point = only(&trace, "cc", "migrate", 64);
    let row = &point.advice[0];
    assert_eq!((row.kind, row.stride, row.count), ("group", Some(32), Some(128)));
}

/// Elements whose first word all threads write and whose others all threads read.
#[test]
fn hot_fields_are_split_off() {
    let mut rng = Rng::new(1);
    let mut accesses = Vec::new();
    for turn in 0..6000u64 {
        let thread = u16::try_from(rng.below(4)).unwrap();
        let element = 0x1000 + 32 * rng.below(32);
        if turn % 4 == 0 {
            accesses.push(Access::new(thread, AccessKind::Atomic, element, 4));
        }
        accesses.push(Access::new(thread, AccessKind::Read, element + 4 + 4 * rng.below(7), 4));
    }
    let trace = write_all(&accesses, vec![symbol(0x1000, 1024, "nodes")]);
    let point = only(&trace, "cc", "migrate", 64);
    let row = &point.advice[0];
    assert_eq!((row.kind, row.stride, row.count), ("split", Some(32), Some(32)));
    assert!(row.saved_share.unwrap() > 0.5);
}

/// Thread 0 touches everything first, and then three others use a third of it each.
#[test]
fn data_are_placed_with_their_users() {
    let mut accesses = Vec::new();
    let write = |t, word: u64| Access::new(t, AccessKind::Write, 0x1_0000 + 4 * word, 4);
    accesses.extend((0..768).map(|word| write(0, word)));
    for turn in 0..3000u64 {
        let thread = u16::try_from(1 + turn % 3).unwrap();
        accesses.push(write(thread, 256 * (turn % 3) + turn / 3 % 256));
    }
    let trace = write_all(&accesses, vec![symbol(0x1_0000, 3072, "grid")]);
    let point = only(&trace, "numa", "first-touch", 1024);
    let row = &point.advice[0];
    assert_eq!((row.kind, row.object.as_str(), row.blocks), ("place", "grid", 3));
    assert!(row.sentence.contains("bytes 1024-2047 with thread 2"), "{}", row.sentence);
    // With the best homes only references that initialise in thread 0 are remote; the advice lets
    // the others initialise.
    let best = cost(&config("numa", "best-static", 1024), &trace);
    assert_eq!(point.after.total_cost.steps, Some(best.0 - 768 * 101));
    assert_eq!(best.0 - 768 * 101, 768 + 3000);
    // Blocks that move need no advice on homes.
    assert!(only(&trace, "numa", "ace", 1024).advice.is_empty());
}

/// A name for nearly all of memory, of which one line is used.
#[test]
fn huge_objects_are_not_moved() {
    let write_one = |i: u64| {
        let thread = u16::try_from(i % 4).unwrap();
        Access::new(thread, AccessKind::Write, 0x1000 + 8 * (i % 4), 8)
    };
    let accesses: Vec<Access> = (0..400).map(write_one).collect();
    let trace = write_all(&accesses, vec![symbol(0x1000, u64::MAX, "everything")]);
    let point = only(&trace, "cc", "migrate", 64);
    assert!(point.advice.is_empty());
    assert_eq!(point.before.false_sharing.blocks, 1);
}

#[test]
fn incomparable_configurations_are_errors() {
    let trace = program(1, 8);
    let problem = |config: &AdviceConfig, out| find(config, &trace, out).unwrap_err().to_string();
    let infinite = problem(&config("cc", "first-touch", 64), None);
    assert!(infinite.contains("choose a policy that moves blocks"), "{infinite}");
    let mut two = config("cc", "migrate", 64);
    two.simulation.block_sizes.push(128);
    assert_eq!(find(&two, &trace, None).unwrap().points.len(), 2);
    assert!(problem(&two, Some(Path::new("x"))).contains("at a time, not 2 combinations"));
}
