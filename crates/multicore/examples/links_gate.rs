//! Simulates `mesi` in a machine with links on two small streams: the work whose instructions CI
//! counts. Prints the counts, so that nothing is optimised away.

#[path = "../../snoop/benches/streams/mod.rs"]
mod streams;

use homenode_clock::ClockSetup;
use homenode_clock::streams::ThreadStreams;
use homenode_machine::CachedMachine;
use homenode_multicore::{LinkClockSetup, link_clock};
use homenode_snoop::{BusResult, BusSetup, ProtocolSpec};

/// References in each stream.
const REFERENCES: usize = 200_000;
/// Bytes of a block.
const BLOCK: u64 = 64;

fn main() {
    for (stream, portions) in streams::clocked(REFERENCES) {
        let found = simulate(&portions);
        println!("{stream}: {:?} {:?}", found.counts, found.time);
    }
}

/// What happens in eight cores of `spr-2s-lines`.
fn simulate(portions: &[ThreadStreams]) -> BusResult {
    let machine = CachedMachine::parse("spr-2s-lines").expect("a machine of the table");
    let setup = BusSetup::new(streams::CLOCKED, machine.cache);
    let timed = LinkClockSetup {
        clock: ClockSetup::of(&machine, usize::from(streams::CLOCKED)),
        links: machine.links(BLOCK).expect("a machine with links"),
        page_bytes: machine.page_bytes,
    };
    let table = ProtocolSpec::parse("mesi").expect("a protocol of the table").table();
    let mut clock = link_clock(&setup, table, &timed).expect("a valid machine");
    for portion in portions {
        clock.push(portion).expect("a correct protocol");
    }
    clock.finish().expect("a correct protocol")
}
