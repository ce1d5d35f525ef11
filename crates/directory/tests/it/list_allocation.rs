//! Where proxies keep what they get for their clients: in their second level, nowhere, or in a
//! separate cache; and what that means for the node's own data, for the list and for its clients.

use crate::controllers::{ListMachine, alite};
use crate::timed::{later, step};
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{
    ClockedDirectoryResult, DirectorySetupError, ListMessage, ProxyAllocation, ProxySetup, ProxyUse,
};

/// The proxy of this block is node 38 for nodes 22 to 42, the second of three clusters.
const DATA: u64 = 0x1_0000;
const PROXY: usize = 38;
const CLIENT: usize = 30;
const SEPARATE: ProxyAllocation = ProxyAllocation::Separate { bytes: 4096 };
const ALL: [ProxyAllocation; 3] =
    [ProxyAllocation::SecondLevel, ProxyAllocation::Nowhere, SEPARATE];

fn machine(allocation: ProxyAllocation) -> ListMachine {
    let mut machine = alite(64, "fixed:node=0");
    (machine.setup.check, machine.setup.cache.size_bytes) = (true, 1 << 16);
    machine.timed.proxies =
        ProxySetup { used: ProxyUse::Basic, allocation, ..ProxySetup::default() };
    machine
}

/// What nodes do, each by itself.
fn run(machine: &ListMachine, steps: &[(usize, Vec<Operation>)]) -> ClockedDirectoryResult {
    let mut all = vec![Vec::new(); 64];
    for (node, steps) in steps {
        all[*node].clone_from(steps);
    }
    machine.run(&all, 100)
}

/// Messages of this kind.
fn sent(found: &ClockedDirectoryResult, message: ListMessage) -> u64 {
    found.list_messages.unwrap().sent.of_type(message)
}

#[test]
fn the_first_read_by_a_proxy_takes_what_the_table_says() {
    // To the proxy, which looks the block up and asks home; the line goes into the proxy's cache,
    // where it has one for that, and on to the client.
    let (asked, answered) = (9 + 10 + (9 + 5 + 5), 49 + 5 + 10);
    for allocation in ALL {
        let kept = if allocation == ProxyAllocation::Nowhere { 0 } else { 21 };
        let found = run(&machine(allocation), &[(CLIENT, vec![step(OpKind::Read, DATA)])]);
        let expected = asked + answered + kept + (5 + 10) + 21;
        assert_eq!(found.time.processors[CLIENT].delay, expected, "{allocation:?}");
        assert_eq!(expected, if kept == 0 { 138 } else { 159 });
    }
}

#[test]
fn only_a_proxy_that_keeps_copies_answers_the_next_client() {
    for (allocation, reads) in ALL.into_iter().zip([1, 2, 1]) {
        let next = vec![later(OpKind::Read, 10_000, DATA)];
        let found =
            run(&machine(allocation), &[(CLIENT, vec![step(OpKind::Read, DATA)]), (31, next)]);
        assert_eq!(sent(&found, ListMessage::ProxyRead), 2, "{allocation:?}");
        assert_eq!(sent(&found, ListMessage::Read), reads, "{allocation:?}");
    }
}

#[test]
fn a_write_goes_to_each_copy_once() {
    // Two clients at the same time; a proxy that keeps a copy is one more in the list.
    for (allocation, copies) in ALL.into_iter().zip([3, 2, 3]) {
        for fair in [false, true] {
            let mut machine = machine(allocation);
            machine.timed.proxies.fair = fair;
            let read = || vec![step(OpKind::Read, DATA)];
            let write = (0, vec![later(OpKind::Write, 10_000, DATA)]);
            let found = run(&machine, &[(CLIENT, read()), (31, read()), write]);
            assert_eq!(found.list_messages.unwrap().combined, 1, "{allocation:?}");
            assert_eq!(sent(&found, ListMessage::Invalidate), copies, "{allocation:?} {fair}");
            // The proxy and home, and who gets the block from whom.
            let data = if allocation == ProxyAllocation::Nowhere { 3 } else { copies };
            assert_eq!(sent(&found, ListMessage::Data), data, "{allocation:?} {fair}");
        }
    }
}

#[test]
fn a_proxy_that_reads_itself_answers_with_its_own_copy() {
    let own = (PROXY, vec![step(OpKind::Read, DATA)]);
    let client = (CLIENT, vec![later(OpKind::Read, 10_000, DATA)]);
    let found = run(&machine(ProxyAllocation::Nowhere), &[own.clone(), client.clone()]);
    assert_eq!(sent(&found, ListMessage::Read), 1, "the copy is in its second level");
    // With a cache of its own the proxy's processor is one of its clients.
    let found = run(&machine(SEPARATE), &[own, client]);
    assert_eq!((sent(&found, ListMessage::Read), sent(&found, ListMessage::ProxyRead)), (1, 1));
    // It looks its second level up, then the proxy cache, which asks home; the line goes into both.
    let first = 9 + (9 + 5 + 5) + (49 + 5 + 10) + 21 + 21;
    assert_eq!(found.time.processors[PROXY].delay, first);
    // The response counts from when the proxy cache has been looked up, before it asks home; that
    // of the client from when it begins to send its request.
    let responses = (5 + 5) + (49 + 5 + 10) + (5 + 5) + (27 + 5 + 10);
    assert_eq!((found.timing.read, found.timing.read_cycles), (2, responses));
    let then = vec![later(OpKind::Read, 10_000, DATA)];
    let found = run(&machine(SEPARATE), &[(CLIENT, vec![step(OpKind::Read, DATA)]), (PROXY, then)]);
    assert_eq!(found.time.processors[PROXY].delay, 9 + 27 + 21);
}

#[test]
fn clients_data_displace_nothing_where_the_second_level_does_not_keep_them() {
    // Only one block finds room in the second level; the proxy cache has room for both.
    let other = DATA + 21 * 64;
    for (allocation, misses) in ALL.into_iter().zip([3, 2, 2]) {
        let mut machine = machine(allocation);
        machine.setup.cache.size_bytes = 64;
        machine.timed.machine.first_level_bytes = 64;
        let own = vec![step(OpKind::Read, other), later(OpKind::Read, 20_000, other)];
        let client = vec![later(OpKind::Read, 10_000, DATA)];
        let found = run(&machine, &[(PROXY, own), (CLIENT, client)]);
        assert_eq!(found.counts.misses.total(), misses, "{allocation:?}");
    }
}

#[test]
fn a_proxy_cache_replaces_copies_as_any_cache_does() {
    // The next block of the same proxy and the same place of its cache, which has one.
    let other = DATA + 21 * 64;
    let machine = machine(ProxyAllocation::Separate { bytes: 64 });
    let client = vec![step(OpKind::Read, DATA), later(OpKind::Read, 10_000, other)];
    let found = run(&machine, &[(CLIENT, client)]);
    // The client's copy was behind the proxy's, and goes with it.
    assert_eq!(sent(&found, ListMessage::Invalidate), 1);
    assert_eq!(sent(&found, ListMessage::Acknowledge), 1);
}

#[test]
fn a_proxy_cache_consists_of_a_power_of_two_of_blocks() {
    let cache = |bytes, block| {
        let allocation = ProxyAllocation::Separate { bytes };
        ProxySetup { allocation, ..ProxySetup::default() }.cache(block)
    };
    assert_eq!(cache(4096, 64).unwrap().unwrap().sets, 64);
    for (bytes, block) in [(0, 64), (32, 64), (100, 64), (192, 64)] {
        let expected = DirectorySetupError::ProxyCache { bytes, block };
        assert_eq!(cache(bytes, block).unwrap_err(), expected);
    }
    assert_eq!(ProxySetup::default().cache(64), Ok(None));
}
