//! How long a release takes under protocols of pages, worked by hand: node 1 of two, one hop from
//! the pages' home. A hop takes 6 cycles, a header 4 of a path and each word 2, a look-up 10.

use crate::timed::{dash_mesh, later, step};
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::DirectoryProtocol;
use homenode_machine::NetworkContention;

/// Two pages whose lines have frames of their own.
const PAGES: [u64; 2] = [0x1_0000, 0x1_1000];
const LOCK: u64 = 0x4_0000;

/// Cycles for which node 1 waits for a release, after it has written these words.
fn waits(protocol: &str, contention: NetworkContention, words: &[u64]) -> u64 {
    let written = words.iter().map(|&addr| later(OpKind::Write, 10_000, addr));
    let steps: Vec<Operation> = written.chain([later(OpKind::Release, 10_000, LOCK)]).collect();
    let delay = |steps: &[Operation]| {
        let mut machine = dash_mesh(2, "fixed:node=0");
        machine.timed.machine.network.contention = contention;
        let table = DirectoryProtocol::parse(protocol).unwrap().table();
        let programs = [vec![step(OpKind::Read, 0x10)], steps.to_vec()];
        machine.try_run(table, &programs, 100).unwrap().time.processors[1].delay
    };
    delay(&steps) - delay(&steps[..words.len()])
}

/// Each write-back has one word. Under `lrc` they leave at 0 and 6 and have arrived at 12 and 18;
/// the acknowledgements are there at 22 and 28. `modified` of each page then takes 10 cycles to the
/// home, which is done with the first at 42 and with the second, looked up after it, at 52; its
/// answer takes 10. In one trip write-backs and `modified` leave at 0, 6, 10 and 16: the second
/// `modified` has arrived at 26, as the look-up of the first, which came at 16, is done.
#[test]
fn a_release_of_two_pages() {
    let waits = |protocol| waits(protocol, NetworkContention::Ends, &PAGES);
    assert_eq!(waits("lrc"), 62);
    assert_eq!(waits("lrc-one-trip"), 46);
}

/// Without queues the write-back of a whole line of 16 words, which takes 36 cycles of a path, has
/// arrived at 42, and `modified` at 10. It is looked up by 20 and waits for the write-back.
#[test]
fn a_message_that_overtakes_its_write_back_waits_at_home() {
    let line: Vec<u64> = (0..16).map(|word| PAGES[0] + 4 * word).collect();
    let waits = |protocol| waits(protocol, NetworkContention::None, &line);
    assert_eq!(waits("lrc-one-trip"), 42 + 10);
    // The acknowledgement, `modified` with its look-up, and the answer.
    assert_eq!(waits("lrc"), 42 + 10 + 20 + 10);
}
