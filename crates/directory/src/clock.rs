//! Timed simulation of any protocol.

use homenode_cache::{
    ByteMask, CacheArrays, ClockError, WordMask, boxed_for_bytes, boxed_for_geometry,
};
use homenode_clock::{Clock, ClockSetup, MemorySystem, TimedSimulation};

use crate::dash::{DashMemory, DirectoryTable};
use crate::home::HomePolicy;
use crate::linked::{ListClockSetup, ListMemory, ListTable};
use crate::lrc::{LrcMemory, PagedTable};
use crate::mesh::{ClockedDirectoryResult, DirectoryClockSetup};
use crate::protocol::CoherenceTable;
use crate::setup::{DirectorySetup, DirectorySetupError};

/// Simulates one protocol in one machine with one policy of homes, in cycles. The caches are empty
/// at cycle 0, and all processes are ready.
///
/// # Errors
/// When the configuration is invalid.
pub fn directory_clock(
    setup: &DirectorySetup,
    table: CoherenceTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
) -> Result<Box<dyn TimedSimulation<ClockedDirectoryResult, ClockError>>, DirectorySetupError> {
    let (block, geometry) = setup.geometry()?;
    let (words, ways, nodes) = (block.words(), geometry.ways, usize::from(setup.nodes));
    Ok(match table {
        CoherenceTable::Blocks(table)
            if timed.collect_waits && block.bytes() <= ByteMask::COUNT =>
        {
            // Sharing is classified byte by byte.
            boxed_for_bytes!((ways, nodes), dash, (setup, table, homes, timed))
        }
        CoherenceTable::Blocks(table) => {
            boxed_for_geometry!(
                (words, ways, nodes),
                [DirectMapped, UpTo16Ways],
                dash,
                (setup, table, homes, timed)
            )
        }
        CoherenceTable::Pages(table) => {
            boxed_for_geometry!(
                (words, ways, nodes),
                [DirectMapped],
                lrc,
                (setup, table, homes, timed)
            )
        }
        CoherenceTable::Linked(_) => return Err(DirectorySetupError::NoControllers),
    })
}

/// The same for a machine whose nodes have controllers, with a linked-list protocol.
///
/// # Errors
/// When the configuration is invalid.
pub fn linked_clock(
    setup: &DirectorySetup,
    table: ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
) -> Result<Box<dyn TimedSimulation<ClockedDirectoryResult, ClockError>>, DirectorySetupError> {
    let (block, geometry) = setup.geometry()?;
    let (words, ways, nodes) = (block.words(), geometry.ways, usize::from(setup.nodes));
    let of_proxies = timed.proxies.cache(block.bytes())?;
    let caches = if of_proxies.is_some() { 2 * nodes } else { nodes };
    Ok(boxed_for_geometry!(
        (words, ways, caches),
        [DirectMapped],
        linked,
        (setup, table, homes, timed)
    ))
}

fn dash<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &DirectorySetup,
    table: DirectoryTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
) -> Result<Clock<DashMemory<F, W, WORDS>>, DirectorySetupError> {
    let memory = DashMemory::new(setup, table, homes, timed)?;
    Ok(clock(memory, setup.nodes, &timed.clock, timed.from_init_done))
}

fn lrc<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &DirectorySetup,
    table: PagedTable,
    homes: Box<dyn HomePolicy>,
    timed: &DirectoryClockSetup,
) -> Result<Clock<LrcMemory<F, W, WORDS>>, DirectorySetupError> {
    let memory = LrcMemory::new(setup, table, homes, timed)?;
    Ok(clock(memory, setup.nodes, &timed.clock, timed.from_init_done))
}

fn linked<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &DirectorySetup,
    table: ListTable,
    homes: Box<dyn HomePolicy>,
    timed: &ListClockSetup,
) -> Result<Clock<ListMemory<F, W, WORDS>>, DirectorySetupError> {
    let memory = ListMemory::new(setup, table, homes, timed)?;
    Ok(clock(memory, setup.nodes, &timed.clock, timed.from_init_done))
}

fn clock<M: MemorySystem>(
    memory: M,
    nodes: u16,
    setup: &ClockSetup,
    from_init_done: bool,
) -> Clock<M> {
    let mut clock = Clock::new(memory, usize::from(nodes), setup);
    if from_init_done {
        clock.measure_from_init_done();
    }
    clock
}
