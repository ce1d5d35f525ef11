//! The memory system of the machine on a bus: caches, the bus that they snoop on, and memory.
//!
//! A transaction changes all caches when it is granted the bus, by their states at that time. While
//! memory has still to send a block, no other transaction on it is granted. Processors, processes
//! and their synchronisation are in [`homenode_clock`].
//!
//! Source: Foglia, Giorgi and Prete 2004, section 4 and table 4.

mod arbiter;
mod memory;
mod prices;

use homenode_cache::{CacheArrays, ClockError, WordMask, boxed_for_geometry};
use homenode_clock::{Clock, ClockSetup, TimedSimulation};
use homenode_machine::{BusCycles, BusModel};

use crate::clocked::BusResult;
use crate::setup::{BusSetup, BusSetupError};
use crate::table::ProtocolTable;
use memory::BusMemory;

/// Timing parameters, and how processes are scheduled.
#[derive(Clone, Copy, Debug)]
pub struct BusClockSetup {
    /// Processors and processes.
    pub clock: ClockSetup,
    /// Arbitration and split transactions.
    pub bus: BusModel,
    /// Cycles of each transaction.
    pub cycles: BusCycles,
}

/// Simulates one protocol on one machine with a bus, in cycles. The caches are empty at cycle 0,
/// and all processes are ready.
///
/// # Errors
/// When the machine is invalid.
pub fn bus_clock(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &BusClockSetup,
) -> Result<Box<dyn TimedSimulation<BusResult, ClockError>>, BusSetupError> {
    let (block, ways) = setup.geometry()?;
    Ok(boxed_for_geometry!(
        (block.words(), ways, setup.caches()),
        [UpTo8Ways],
        clock,
        (setup, table, timed)
    ))
}

fn clock<F: CacheArrays<W>, W: WordMask, const WORDS: usize>(
    setup: &BusSetup,
    table: ProtocolTable,
    timed: &BusClockSetup,
) -> Result<Clock<BusMemory<F, W, WORDS>>, BusSetupError> {
    let memory = BusMemory::new(setup, table, timed)?;
    Ok(Clock::new(memory, usize::from(setup.processors), &timed.clock))
}

#[cfg(test)]
mod tests {
    use super::*;
    use homenode_base::{BlockSize, Flags, Rng};
    use homenode_cache::{IndexedSets, UpTo8Ways};
    use homenode_clock::streams::{OpKind, Operation, ThreadStreams};
    use homenode_machine::{CacheShape, CachedMachine, Dispatch};

    use crate::protocol::TABLE;

    /// A process that refers to each of its blocks several times, shares some of them with the
    /// others, and sometimes takes a lock.
    fn process(rng: &mut Rng, number: usize, length: usize) -> Vec<Operation> {
        let mut operations = Vec::new();
        while operations.len() < length {
            let shared = rng.below(3) == 0;
            let block =
                if shared { rng.below(12) } else { 16 * (1 + number as u64) + rng.below(12) };
            let writes = [0, 20, 60][usize::try_from(rng.below(3)).unwrap()];
            for _ in 0..1 + rng.below(30) {
                let write = rng.below(100) < writes;
                let kind = if write { OpKind::Write } else { OpKind::Read };
                let flags = if shared { 0 } else { Flags::PRIVATE.0 };
                let addr = (1 << 16) + block * 32 + 4 * rng.below(8);
                operations.push(Operation { size: 4, flags, ..Operation::new(kind, addr) });
            }
            if rng.below(20) == 0 {
                operations.push(Operation::new(OpKind::Acquire, 8));
                operations.push(Operation::new(OpKind::Release, 8));
            }
        }
        operations
    }

    /// The same simulation with caches whose hits cannot be rolled back has the same result.
    #[test]
    fn processors_that_run_ahead_change_nothing() {
        let machine = CachedMachine::parse("bus-smp").unwrap();
        for seed in 0..60 {
            let mut rng = Rng::new(seed);
            let processes: Vec<_> = (0..5).map(|number| process(&mut rng, number, 3000)).collect();
            let shape = CacheShape {
                size_bytes: 128 << rng.below(4),
                block_size_bytes: 32,
                associativity: 2,
            };
            let setup = BusSetup::new(2 + u16::try_from(rng.below(3)).unwrap(), shape);
            let mut clock_setup = ClockSetup::of(&machine, processes.len());
            clock_setup.scheduler.time_slice_references = 400;
            clock_setup.scheduler.restart = rng.below(2) == 0;
            if rng.below(2) == 0 {
                clock_setup.scheduler.policy = Dispatch::Affinity;
            }
            let cycles = machine.cycles(BlockSize::new(32).unwrap()).unwrap().unwrap();
            let bus = machine.bus().unwrap().model;
            let timed = BusClockSetup { clock: clock_setup, bus, cycles };
            for entry in TABLE {
                let table = || crate::ProtocolSpec::parse(entry.name).unwrap().table();
                let ahead = clock::<UpTo8Ways<u64>, u64, 1>(&setup, table(), &timed).unwrap();
                let strict = clock::<IndexedSets<u64>, u64, 1>(&setup, table(), &timed).unwrap();
                let results = [run(ahead, &processes, seed), run(strict, &processes, seed)];
                assert_eq!(results[0], results[1], "seed {seed}, {}", entry.name);
            }
        }
    }

    fn run<F: CacheArrays<u64>>(
        mut clock: Clock<BusMemory<F, u64, 1>>,
        processes: &[Vec<Operation>],
        seed: u64,
    ) -> BusResult {
        if seed % 3 == 0 {
            clock.measure_from_init_done();
        }
        let mut processes = processes.to_vec();
        let middle = processes[0].len() / 2;
        processes[0].insert(middle, Operation::new(OpKind::InitDone, 0));
        for portion in ThreadStreams::portions(&processes, 1000) {
            clock.push(&portion).unwrap();
        }
        TimedSimulation::finish(Box::new(clock)).unwrap()
    }
}
