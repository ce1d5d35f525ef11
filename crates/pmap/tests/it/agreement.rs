//! Where the manager and the placement engine's `ace` agree: `ace` is the same policy without
//! mappings, faults and zero-fills.

use crate::support::{Trace, histories, random_trace};
use homenode_base::{BlockSize, Rng};
use homenode_machine::Prices;
use homenode_placement::policy::PlacementSetup;
use homenode_placement::{Block, Histories, PolicySpec, TABLE, Tally, Times};
use homenode_pmap::policy::find;
use homenode_pmap::{Manager, OwnerCopy, PmapCounts};

fn ace(block: Block<'_>, processors: u16, limit: u64) -> Tally {
    let spec = PolicySpec::parse(&format!("ace:limit={limit}"), &[TABLE]).unwrap();
    let prices = Prices::whole(Some(5), Some(4496), Some(2), Some(2248));
    let setup = PlacementSetup::new(processors, BlockSize::new(4096).unwrap(), &prices.into());
    let mut tally = Tally::default();
    spec.build(&setup).unwrap().block(block, &mut tally);
    tally
}

fn managed(block: Block<'_>, name: &str, limit: u64, owner_copy: OwnerCopy) -> PmapCounts {
    Manager::new((find(name).unwrap().build)(limit), owner_copy).page(block, &[]).counts
}

/// Every page brought to a place: copied or filled.
fn brought(counts: &PmapCounts) -> u64 {
    counts.copies + counts.syncs + counts.local_zero_fills + counts.global_zero_fills
}

/// What `ace` moves, in transfers between a local and the global memory: a move from one local
/// memory to another is two of them on the ACE, a sync and a copy.
fn moved(tally: &Tally) -> u64 {
    tally.global_moves + 2 * tally.remote_moves
}

/// Whether the page is shared before it is written, and not by the write that pins it. Then `ace`
/// pays for the first global copy, and the manager does not: it does not fill global memory with
/// zeros.
fn global_copy_was_zeros(block: Block<'_>, counts: &PmapCounts) -> bool {
    let first = block.runs[0].processor();
    let second = block.runs.iter().find(|run| run.processor() != first);
    let before = block.runs.iter().take_while(|run| run.processor() == first);
    let unwritten = before.clone().all(|run| run.is_read_only());
    second.is_some() && unwritten && counts.global_zero_fills == 0
}

fn same_references(counts: &PmapCounts, tally: &Tally) {
    let found =
        [counts.local_reads, counts.local_writes, counts.global_reads, counts.global_writes];
    let expected = [tally.local_reads, tally.local_writes, tally.global_reads, tally.global_writes];
    assert_eq!(found, expected);
    assert_eq!(tally.remote_references(), 0, "the ACE has no remote references");
}

/// With the limit on writes and the owner's copy kept, the two are one policy: every reference is
/// served alike, pages are invalidated and pinned alike, and what they move differs by what is
/// free: the first placement for `ace`, global memory full of zeros for the manager.
#[test]
fn with_limit_writes_and_keep_the_manager_is_ace() {
    let mut rng = Rng::new(12);
    for round in 0..3_000u64 {
        let processors = [2, 3, 5, 70][usize::try_from(round % 4).unwrap()];
        let trace = random_trace(&mut rng, processors);
        let limit = rng.below(6);
        for block in histories(&trace, processors, Times::Visits).blocks() {
            let counts = managed(block, "limit-writes", limit, OwnerCopy::Keep);
            let tally = ace(block, processors, limit);
            same_references(&counts, &tally);
            assert_eq!(counts.invalidations, tally.invalidations);
            assert_eq!(counts.pins, tally.freezes);
            let free = u64::from(global_copy_was_zeros(block, &counts));
            assert_eq!(brought(&counts) + free, moved(&tally) + 1, "{limit} {trace:?}");
        }
    }
}

/// Pages that one processor uses, that are only read, or only written: there the manager is `ace`
/// whichever way its two open questions are answered. The answers differ only for pages that are
/// both read and written by several processors.
#[test]
fn plain_pages_tell_no_difference() {
    let mut rng = Rng::new(13);
    let mut differing = 0;
    for _ in 0..1_000 {
        let mixed = random_trace(&mut rng, 4);
        let private =
            |&(_, page, write): &(u16, u64, bool)| (u16::try_from(page).unwrap(), page, write);
        let kinds: [Trace; 3] = [
            mixed.iter().map(private).collect(),
            mixed.iter().map(|&(p, page, _)| (p, page, false)).collect(),
            mixed.iter().map(|&(p, page, _)| (p, page, true)).collect(),
        ];
        let limit = 1 + rng.below(5);
        for trace in &kinds {
            every_variant_is_ace(&histories(trace, 4, Times::Visits), limit);
        }
        differing += differences(&histories(&mixed, 4, Times::Visits), limit);
    }
    assert!(differing > 100, "{differing}");
}

const VARIANTS: [(&str, OwnerCopy); 4] = [
    ("limit", OwnerCopy::Flush),
    ("limit", OwnerCopy::Keep),
    ("limit-writes", OwnerCopy::Flush),
    ("limit-writes", OwnerCopy::Keep),
];

fn every_variant_is_ace(histories: &Histories, limit: u64) {
    for block in histories.blocks() {
        let tally = ace(block, 4, limit);
        for (name, owner_copy) in VARIANTS {
            let counts = managed(block, name, limit, owner_copy);
            same_references(&counts, &tally);
            assert_eq!((counts.invalidations, counts.pins), (tally.invalidations, tally.freezes));
        }
    }
}

/// Pages that the manager as the ACE had it and `ace` treat differently.
fn differences(histories: &Histories, limit: u64) -> usize {
    let differs = |block: &Block<'_>| {
        let counts = managed(*block, "limit", limit, OwnerCopy::Flush);
        counts.local() != ace(*block, 4, limit).local_references()
    };
    histories.blocks().filter(differs).count()
}
