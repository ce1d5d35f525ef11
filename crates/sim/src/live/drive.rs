//! A live program and a clock, in turns: the thread with the least simulated time runs, and the
//! clock simulates what it did until it has to know more.

use homenode_clock::LiveClock;
use homenode_clock::streams::StreamSplitter;
use homenode_trace::{LiveBatch, LiveProgram, LiveTurn};

use super::config::RunError;
use crate::error::SimError;

/// Cycles a microsecond of a machine that does not say how fast it is: one a nanosecond.
const MHZ: u64 = 1000;
/// How often a thread may have a turn and do nothing before that is waited for.
const IDLE_TURNS_MAX: u32 = 64;
/// How often nothing happens in the program before a wait of the simulation's own is broken.
const QUIET_ROUNDS_MAX: u32 = 10;

/// How far threads may run ahead, and how fast their clocks go.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    references: u32,
    pub(crate) mhz: u64,
}

impl Pace {
    /// With so many cycles of slack, where a reference takes at least so many.
    pub(crate) fn new(slack: u64, operation_cycles: u64, cycles_per_ms: Option<u64>) -> Self {
        let references = slack / operation_cycles.max(1) + 1;
        let mhz = cycles_per_ms.map_or(MHZ, |cycles| (cycles / 1000).max(1));
        Self { references: u32::try_from(references).unwrap_or(u32::MAX), mhz }
    }

    fn ns(self, cycles: u64) -> u64 {
        let ns = u128::from(cycles) * 1000 / u128::from(self.mhz);
        u64::try_from(ns).unwrap_or(u64::MAX)
    }
}

/// Runs a program on a clock up to its end.
pub(crate) fn drive<P: LiveProgram, E: Into<SimError>>(
    clock: &mut dyn LiveClock<E>,
    splitter: &mut StreamSplitter,
    (program, pace): (&mut P, Pace),
) -> Result<(), RunError<P::Error>> {
    let mut done = LiveBatch::default();
    clock.begin_live();
    let known = splitter.split_live(&done);
    clock.push_live(&known)?;
    let (mut idle_turns, mut quiet_rounds) = (0, 0);
    loop {
        let mut turn = None;
        if let Some(process) = clock.awaited_process().filter(|_| idle_turns < IDLE_TURNS_MAX) {
            turn = Some(LiveTurn {
                thread: u16::try_from(process).unwrap_or(u16::MAX),
                references: pace.references,
                timed_out: clock.take_timed_out(process),
                now_ns: pace.ns(clock.now()),
            });
        }
        program.run(turn.as_slice(), turn.is_none(), &mut done).map_err(RunError::Program)?;
        let quiet = done.rows.is_empty() && done.marks.is_empty() && done.released.is_empty();
        if !quiet {
            (idle_turns, quiet_rounds) = (0, 0);
            clock.push_live(&splitter.split_live(&done))?;
            for &thread in &done.released {
                clock.release(usize::from(thread))?;
            }
        } else if turn.is_some() {
            idle_turns += 1;
        } else {
            idle_turns = 0;
            quiet_rounds += 1;
            if quiet_rounds >= QUIET_ROUNDS_MAX {
                quiet_rounds = 0;
                clock.break_wait()?;
            }
        }
        if done.over {
            return Ok(());
        }
    }
}
