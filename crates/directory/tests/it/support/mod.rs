//! Small machines, and references written as text.

use homenode_directory::{
    CheckError, DemandCollection, DirectoryCounts, DirectoryProtocol, DirectoryResult,
    DirectorySetup, DirectorySimulation, DirectoryTable, HomeSetup, HomeSpec, PageDemands,
};
use homenode_machine::CacheShape;
use homenode_trace::{Batch, Event, EventKind};

/// Nodes with direct-mapped caches of 1 KiB, blocks of 64 bytes and pages of 256.
pub fn setup(nodes: u16) -> DirectorySetup {
    DirectorySetup {
        check: true,
        collect_demands: DemandCollection::Whole,
        ..DirectorySetup::new(
            nodes,
            CacheShape { size_bytes: 1024, block_size_bytes: 64, associativity: 1 },
            256,
        )
    }
}

/// Reads `0 W 1000`, one reference a line or after a semicolon: thread, kind, address in
/// hexadecimal. `done` is the end of initialisation.
pub fn batch(text: &str) -> Batch {
    let mut batch = Batch::default();
    for line in text.split([';', '\n']).map(str::trim).filter(|line| !line.is_empty()) {
        if line == "done" {
            let row = u32::try_from(batch.len()).unwrap();
            batch.events.push((row, Event { thread: 0, what: EventKind::InitDone }));
            continue;
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        batch.turns.push(words[0].parse().unwrap());
        let kind = ["R", "W", "A", "I"].iter().position(|&k| k == words[1]).unwrap();
        batch.kind.push(u8::try_from(kind).unwrap());
        batch.size.push(4);
        batch.addr.push(u64::from_str_radix(words[2], 16).unwrap());
    }
    batch
}

pub fn dash() -> DirectoryTable {
    DirectoryProtocol::parse("dash").unwrap().table().blocks().unwrap()
}

/// What a table does with references, values checked.
pub fn try_run(
    setup: &DirectorySetup,
    table: DirectoryTable,
    home: &str,
    first_run: Option<&PageDemands>,
    text: &str,
) -> Result<DirectoryResult, CheckError> {
    with_homes(setup, table, home, &homes(setup.nodes, first_run), text)
}

/// What homes know of a trace that does not say when initialisation is over.
pub fn homes(nodes: u16, first_run: Option<&PageDemands>) -> HomeSetup<'_> {
    HomeSetup { seed: 7, first_run, ..HomeSetup::new(nodes) }
}

/// What a table does with references, with homes that know this.
pub fn with_homes(
    setup: &DirectorySetup,
    table: DirectoryTable,
    home: &str,
    homes: &HomeSetup<'_>,
    text: &str,
) -> Result<DirectoryResult, CheckError> {
    let homes = HomeSpec::parse(home).unwrap().build(homes).unwrap();
    let mut simulation = DirectorySimulation::new(setup, table, homes).unwrap();
    simulation.push(&batch(text))?;
    Ok(simulation.finish())
}

/// What DASH does with references, the same with and without a check of values.
pub fn run(setup: &DirectorySetup, home: &str, text: &str) -> DirectoryResult {
    let checked = try_run(setup, dash(), home, None, text).unwrap();
    let plain = DirectorySetup { check: false, ..setup.clone() };
    assert_eq!(checked, try_run(&plain, dash(), home, None, text).unwrap(), "{text}");
    checked
}

/// Counts by the names of oracles.
pub fn counts_by_name(counts: &DirectoryCounts) -> Vec<(&'static str, u64)> {
    vec![
        ("references", counts.references),
        ("writes", counts.writes),
        ("cold", counts.misses.cold),
        ("upgrades", counts.upgrades),
        ("fills", counts.fills),
        ("local_fills", counts.local_fills),
        ("write_backs", counts.write_backs),
        ("local_write_backs", counts.local_write_backs),
        ("message_bytes", counts.message_bytes),
        ("pages_moved", counts.pages_moved),
    ]
}
