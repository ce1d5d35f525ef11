//! With node controllers the engine does what the slow simulator does, cycle for cycle.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

use std::collections::{BTreeMap, BTreeSet};

use crate::controllers::{ListMachine, alite};
use crate::programs::{program_text, random_programs, shrink};
use crate::slow_lists::random::{machine, named};
use crate::slow_lists::{PlainLists, PlainOutcome};
use crate::timed::{later, step};
use homenode_base::Rng;
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{ProxyAllocation, ProxySetup, ProxyUse};
use homenode_machine::CacheShape;

/// What has to happen in some of the random programs.
const OFTEN: &[&str] = &[
    "a block came for a client meanwhile",
    "a block comes back after home has forwarded a request",
    "a block comes before it is known to whom it goes next",
    "a copy has to go that is gone",
    "a copy has to go that is on its way",
    "a copy has to go that its node writes",
    "a copy with others behind it is replaced",
    "a forwarded request waits for the owner to be one",
    "a message waits to be received",
    "a message waits to leave",
    "a process waits at a barrier",
    "a process waits for a lock",
    "a processor asks the proxy cache of its node",
    "a proxy cannot serve",
    "a proxy hands a block on to one client",
    "a proxy has no frame",
    "a proxy has the block",
    "a read comes back from a proxy",
    "a read comes back that a proxy is to hand on",
    "a request is forwarded to a block that was written back",
    "a request waits",
    "a request waits at home",
    "a request waits at home once more",
    "a request waits for a frame",
    "a walk waits for a replaced copy",
    "a write-back is acknowledged before a forwarded request comes",
    "acknowledge",
    "bounce",
    "combined",
    "forwarded read",
    "forwarded write",
    "invalidation",
    "page_faults",
    "pages_moved",
    "permission",
    "proxy read",
    "replacement",
    "retried",
    "sharing write-back",
    "the first level has it",
    "the first of some clients gets a block first that is handed on",
    "the head of the list tells those behind it",
    "the last of some clients gets a block first that is handed on",
    "the others are gone before the block comes",
    "the second level's bus is in use",
    "written back",
];

/// What happened, if the two agree; else what they differ in.
fn compare(
    machine: &ListMachine,
    programs: &[Vec<Operation>],
    portion: usize,
) -> Result<BTreeMap<&'static str, u64>, String> {
    let found = named(&machine.run(programs, portion));
    let mut slow = PlainLists::new(machine, programs);
    let expected = slow.run();
    if found == expected {
        let mut seen = slow.seen;
        for (name, count) in expected.counts {
            *seen.entry(name).or_default() += count;
        }
        return Ok(seen);
    }
    Err(difference(&found, &expected))
}

/// Where the engine found something else than the slow simulator.
fn difference(found: &PlainOutcome, expected: &PlainOutcome) -> String {
    let mut lines = vec![format!("cycles {} {}", found.cycles, expected.cycles)];
    let mut counts = |of: String, one: &BTreeMap<&str, u64>, other: &BTreeMap<&str, u64>| {
        for name in one.keys().chain(other.keys()).collect::<BTreeSet<_>>() {
            let [one, other] = [one, other].map(|counts| counts.get(name).copied().unwrap_or(0));
            if one != other {
                lines.push(format!("{of}{name} {one} {other}"));
            }
        }
    };
    counts(String::new(), &found.counts, &expected.counts);
    for (node, (one, other)) in found.processors.iter().zip(&expected.processors).enumerate() {
        counts(format!("processor {node} "), one, other);
    }
    for (node, (one, other)) in found.controllers.iter().zip(&expected.controllers).enumerate() {
        if one != other {
            lines.push(format!("controller {node} {one:?} {other:?}"));
        }
    }
    lines.join("\n")
}

#[test]
fn the_clock_agrees_with_the_slow_one_in_every_count_and_cycle() {
    let mut rng = Rng::new(17);
    let mut seen = BTreeMap::<&str, u64>::new();
    for round in 0..3000 {
        let machine = machine(&mut rng);
        let (nodes, block) = (machine.setup.nodes, machine.setup.cache.block_size_bytes);
        let programs = random_programs(&mut rng, usize::from(nodes), block);
        let portion = 1 + usize::try_from(rng.below(60)).unwrap();
        match compare(&machine, &programs, portion) {
            Ok(now) => now.into_iter().for_each(|(name, n)| *seen.entry(name).or_default() += n),
            Err(difference) => {
                let small = shrink(programs, |fewer| compare(&machine, fewer, 1000).is_err());
                let smaller = compare(&machine, &small, 1000).err().unwrap_or_default();
                let text = program_text(&small);
                panic!("{round}: {machine:?}\n{difference}\n\n{text}\n{smaller}");
            }
        }
    }
    println!("{seen:#?}");
    let lacking: Vec<_> = OFTEN.iter().filter(|name| !seen.contains_key(*name)).collect();
    assert!(lacking.is_empty(), "{lacking:?} never happened");
}

/// In a block whose proxy is node 1.
const DATA: u64 = 0x1040;

/// `alite` with eight nodes, data at home in node 0, two sets of a line each, and these buffers and
/// proxies.
fn small(buffer_reads: Option<u64>, used: ProxyUse, fair: bool) -> ListMachine {
    let mut machine = alite(8, "fixed:node=0");
    machine.setup.cache = CacheShape { size_bytes: 128, block_size_bytes: 64, associativity: 1 };
    machine.timed.machine.first_level_bytes = 64;
    machine.timed.buffer_reads = buffer_reads;
    machine.timed.proxies = ProxySetup { used, clusters: 1, fair, ..ProxySetup::default() };
    machine
}

/// The two agree, and these things happen so often.
fn happens(machine: &ListMachine, programs: &[Vec<Operation>], expected: &[(&str, u64)]) {
    let seen = compare(machine, programs, 100).unwrap();
    for &(name, times) in expected {
        assert_eq!(seen.get(name).copied().unwrap_or(0), times, "{name} in {seen:#?}");
    }
}

/// All nodes read the data, one after the other or at once; then the last one does this.
fn readers(apart: u32, last: &[Operation]) -> Vec<Vec<Operation>> {
    let mut programs: Vec<_> =
        (0..8u32).map(|node| vec![later(OpKind::Read, 100 + node * apart, DATA)]).collect();
    programs[7].extend(last);
    programs
}

#[test]
fn a_list_grows_and_goes_when_its_head_writes() {
    let machine = small(None, ProxyUse::None, false);
    let programs = readers(1000, &[step(OpKind::Write, DATA)]);
    happens(&machine, &programs, &[("data", 7), ("permission", 1), ("invalidate", 7)]);
    let tail = [later(OpKind::Write, 9000, DATA)];
    let mut programs = readers(1000, &[]);
    programs[3].extend(tail);
    let own = ("a copy has to go that its node writes", 1);
    happens(&machine, &programs, &[("exclusive", 1), ("acknowledge", 1), own]);
}

#[test]
fn a_copy_that_is_replaced_takes_those_behind_it_along() {
    let machine = small(None, ProxyUse::None, false);
    // Another block of the same set.
    let programs = readers(1000, &[step(OpKind::Read, DATA + 128)]);
    happens(&machine, &programs, &[("invalidate", 7), ("acknowledge", 1), ("replacement", 0)]);
    let wrote = [step(OpKind::Write, DATA), step(OpKind::Read, DATA + 128)];
    let programs = readers(1000, &wrote);
    happens(&machine, &programs, &[("write-back", 1), ("written back", 1)]);
}

#[test]
fn reads_go_back_from_a_full_buffer_and_are_combined_by_proxies() {
    let programs = readers(0, &[]);
    happens(&small(Some(8), ProxyUse::None, false), &programs, &[("bounce", 0)]);
    happens(&small(Some(1), ProxyUse::None, false), &programs, &[("bounce", 48), ("combined", 0)]);
    for fair in [false, true] {
        let of_proxies = [("proxy read", 6), ("combined", 5), ("follower", 5), ("bounce", 0)];
        happens(&small(None, ProxyUse::Basic, fair), &programs, &of_proxies);
        let reacts = [("bounce", 7), ("combined", 4), ("a read comes back from a proxy", 1)];
        happens(&small(Some(1), ProxyUse::Reactive, fair), &programs, &reacts);
    }
}

#[test]
fn proxies_hand_blocks_on_or_keep_them_in_caches_of_their_own() {
    let (relayed, kept) = (ProxyAllocation::Nowhere, ProxyAllocation::Separate { bytes: 64 });
    // Neither home nor the proxy reads; at last home writes.
    let mut programs = readers(0, &[]);
    (programs[0], programs[1]) = (vec![later(OpKind::Write, 9000, DATA)], Vec::new());
    for fair in [false, true] {
        let mut machine = small(None, ProxyUse::Basic, fair);
        for (allocation, copies) in [(relayed, 6), (kept, 7)] {
            machine.timed.proxies.allocation = allocation;
            let expected = [("proxy read", 6), ("combined", 5), ("read", 1), ("data", 7)];
            happens(&machine, &programs, &expected);
            let walk = ("a copy has to go that is on its way", 0);
            happens(&machine, &programs, &[("invalidate", copies), ("acknowledge", 1), walk]);
        }
    }
    // The proxy's processor waits for what clients get, or is one of them.
    programs[1].push(later(OpKind::Read, 150, DATA));
    let mut machine = small(None, ProxyUse::Basic, false);
    machine.timed.proxies.allocation = relayed;
    happens(&machine, &programs, &[("a request waits", 1), ("read", 2), ("answered", 7)]);
    machine.timed.proxies.allocation = kept;
    happens(&machine, &programs, &[("combined", 6), ("read", 1), ("answered", 7)]);
}
