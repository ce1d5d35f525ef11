//! The table of latencies of `alite` in `docs/controllers.md`, worked by hand from table 1.2 of the
//! publication, without contention. The second level is looked up in 2 + 6 + 1 = 9 cycles, a
//! line of it comes in 2 + 18 + 1 = 21, both take 27; memory is looked up in 3 + 20 + 2 = 25, with
//! a line in 49. A message takes 5 to send and 5 on its way, 10 with a line.

use crate::controllers::{ListMachine, alite};
use crate::timed::step;
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{ListLatency, ListMessage, ProxySetup, ProxyUse};

const DATA: u64 = 0x1_0000;
const NODES: usize = 64;

/// An operation `cycles` cycles after the one before.
fn later(kind: OpKind, cycles: u32) -> Operation {
    Operation { count: cycles, ..step(kind, DATA) }
}

fn machine() -> ListMachine {
    alite(64, "fixed:node=0")
}

fn latency() -> ListLatency {
    ListLatency::new(machine().timed.machine)
}

/// Cycles that a node waits for the last of its steps, after what others do.
fn waits(node: usize, steps: &[Operation], others: &[(usize, Vec<Operation>)]) -> u64 {
    let delay = |steps: &[Operation]| {
        let mut all = vec![Vec::new(); NODES];
        for (other, steps) in others {
            all[*other].clone_from(steps);
        }
        all[node] = steps.to_vec();
        machine().run(&all, 100).time.processors[node].delay
    };
    delay(steps) - delay(&steps[..steps.len() - 1])
}

fn read(node: usize, others: &[(usize, Vec<Operation>)]) -> u64 {
    waits(node, &[later(OpKind::Read, 10_000)], others)
}

fn write(node: usize, before: &[Operation], others: &[(usize, Vec<Operation>)]) -> u64 {
    waits(node, &[before, &[later(OpKind::Write, 10_000)]].concat(), others)
}

#[test]
fn the_levels_of_a_node() {
    let had = step(OpKind::Read, DATA);
    assert_eq!(waits(5, &[had, had], &[]), 0, "the first level has it");
    // Another block of the same place of the first level, but not of the second.
    let other = step(OpKind::Read, DATA + 8192);
    assert_eq!(waits(5, &[had, other, had], &[]), 27);
    let wrote = step(OpKind::Write, DATA);
    assert_eq!(waits(5, &[wrote, wrote], &[]), 9, "writes go through");
    assert_eq!(waits(5, &[wrote, had], &[]), 27, "a write leaves nothing in the first level");
    assert_eq!((latency().second_level_hit(), latency().write_hit()), (27, 9));
}

#[test]
fn memory_answers() {
    for (node, expected) in [(0, 9 + 49 + 21), (1, 9 + 10 + 49 + 15 + 21), (63, 104)] {
        assert_eq!((read(node, &[]), write(node, &[], &[])), (expected, expected));
        assert_eq!(latency().clean(node != 0), expected);
        // Readers at the head of the list have nothing to do with it.
        let readers = [(7, vec![step(OpKind::Read, DATA)]), (9, vec![step(OpKind::Read, DATA)])];
        assert_eq!(read(node, &readers), expected);
    }
}

#[test]
fn an_owner_answers() {
    let wrote = vec![step(OpKind::Write, DATA)];
    for (node, owner, expected) in [
        (1, 2, 9 + 10 + (25 + 10) + (27 + 15) + 21),
        (0, 2, 9 + (25 + 10) + (27 + 15) + 21),
        (1, 0, 9 + 10 + 25 + (27 + 15) + 21),
    ] {
        let others = [(owner, wrote.clone())];
        assert_eq!((read(node, &others), write(node, &[], &others)), (expected, expected));
        assert_eq!(latency().dirty([node != 0, owner != 0, true]), expected);
    }
}

#[test]
fn a_copy_becomes_the_only_one() {
    let had = [step(OpKind::Read, DATA)];
    for (node, expected) in [(0, 9 + 25 + 9), (1, 9 + 10 + (25 + 10) + 9)] {
        assert_eq!(write(node, &had, &[]), expected);
        assert_eq!(latency().upgrade(node != 0), expected);
    }
    // The head of the list invalidates those behind it: 10 + 9 + 10, with the acknowledgement.
    let reads = |cycles| Operation { count: cycles, ..step(OpKind::Read, DATA) };
    let first = [(7, vec![reads(0)])];
    let at_head = [reads(1_000)];
    assert_eq!(write(1, &at_head, &first), 9 + 10 + (25 + 10) + 9 + (5 + 5) + (9 + 10) + 9);
    // A writer elsewhere gets the block again. Home notifies the head first, which notifies the
    // writer, whose controller stores the data before it handles that; it acknowledges to itself.
    let then_head = [(7, vec![reads(5_000)])];
    let data = 9 + 10 + (49 + 5 + 15) + 21;
    let invalidated = 9 + 10 + (49 + 10) + (9 + 10);
    assert_eq!(write(1, &[reads(0)], &then_head), data.max(invalidated) + 9 + 9);
}

#[test]
fn a_write_goes_down_the_list() {
    let reader =
        |node: usize, cycles| (node, vec![Operation { count: cycles, ..step(OpKind::Read, DATA) }]);
    let one = [reader(5, 0)];
    // The invalidation leaves before the data, which arrive after the acknowledgement.
    let data = 9 + 10 + 49 + 5 + (5 + 10) + 21;
    assert_eq!(write(1, &[], &one), data + 9);
    let three = [reader(5, 0), reader(6, 1_000), reader(7, 2_000)];
    let acknowledged = 9 + 10 + 49 + (5 + 5) + 3 * (9 + 5 + 5);
    assert_eq!(write(1, &[], &three), acknowledged.max(data) + 9);
}

#[test]
fn a_proxy_that_has_a_copy_answers() {
    let mut machine = machine();
    machine.timed.proxies = ProxySetup { used: ProxyUse::Basic, ..ProxySetup::default() };
    // Node 30 is in the second of three clusters, of nodes 22 to 42: the proxy of block 0x400.
    let proxy = 22 + (DATA / 64) % 21;
    assert_eq!(proxy, 22 + 1024 % 21);
    let mut all = vec![Vec::new(); NODES];
    all[30] = vec![later(OpKind::Read, 10_000)];
    let found = machine.run(&all, 10);
    // To the proxy, which looks the block up, asks home, and hands on what has come.
    let asked = 9 + 10 + (9 + 5) + 5;
    let come = asked + (49 + 5) + 10 + 21;
    assert_eq!(found.time.processors[30].delay, come + 5 + 10 + 21);
    let messages = found.list_messages.unwrap();
    assert_eq!(messages.sent.of_type(ListMessage::ProxyRead), 1);
    assert_eq!(
        (messages.sent.of_type(ListMessage::Read), messages.sent.of_type(ListMessage::Data)),
        (1, 2)
    );
    // The next client is served by the copy that the proxy has kept.
    all[31] = vec![later(OpKind::Read, 20_000)];
    let found = machine.run(&all, 10);
    assert_eq!(found.time.processors[31].delay, 9 + 10 + (27 + 5) + 10 + 21);
    assert_eq!(found.list_messages.unwrap().sent.of_type(ListMessage::Read), 1);
}

#[test]
fn a_lock_is_looked_up_before_its_home_answers() {
    for (node, expected) in [(0, 25), (5, 10 + 25 + 10)] {
        assert_eq!(waits(node, &[step(OpKind::Acquire, DATA)], &[]), expected, "{node}");
    }
}
