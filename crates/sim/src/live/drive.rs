//! Alternates a live program and a clock: the thread with the least simulated time runs, and the
//! clock simulates its operations until it needs more.

use homenode_clock::LiveClock;
use homenode_clock::streams::StreamSplitter;
use homenode_trace::{LiveBatch, LiveProgram, LiveTurn, ThreadTurn};

use super::config::RunError;
use crate::error::SimError;

/// Default cycles per microsecond, one per nanosecond.
const MHZ: u64 = 1000;
const TURNS_MAX: usize = 64;
/// A thread with this many buffered operations waits: counting more takes longer than a turn.
const KNOWN_MAX: usize = 256;
/// Turns without progress before the driver waits for the thread.
const IDLE_TURNS_MAX: u32 = 64;
/// Rounds without progress in the program before a deadlock of the simulation is broken.
const QUIET_ROUNDS_MAX: u32 = 10;

/// How far threads may run ahead, and the rate of their clocks.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    references: u32,
    pub(crate) mhz: u64,
}

impl Pace {
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

#[derive(Default)]
struct TurnList {
    list: Vec<LiveTurn>,
    /// Whether each thread used only a part of its last turn: then it continues only when no other
    /// thread has less simulated time.
    stopped: Vec<bool>,
    made: Vec<usize>,
    near: Vec<(usize, usize)>,
}

impl TurnList {
    /// The thread whose next operation the clock needs, then all others less than the slack ahead
    /// of it, nearest first.
    fn make<E>(&mut self, clock: &mut dyn LiveClock<E>, awaited: usize, pace: Pace) {
        let now_ns = pace.ns(clock.now());
        let turn = |process: usize, references| LiveTurn {
            thread: u16::try_from(process).unwrap_or(u16::MAX),
            references,
            exact: false,
            timed_out: false,
            now_ns,
        };
        let timed_out = clock.take_timed_out(awaited);
        self.list.push(LiveTurn { exact: true, timed_out, ..turn(awaited, pace.references) });
        self.set_stopped(awaited, false);
        if pace.references < 2 {
            return;
        }
        self.near.clear();
        let most = usize::try_from(pace.references - 1).unwrap_or(usize::MAX);
        clock.nearly_awaited(most.min(KNOWN_MAX), &mut self.near);
        self.near.sort_unstable();
        for &(known, process) in &self.near {
            let known = u32::try_from(known).unwrap_or(u32::MAX);
            let stopped = self.stopped.get(process).copied().unwrap_or(false);
            if !stopped && self.list.len() < TURNS_MAX {
                self.list.push(turn(process, pace.references.saturating_sub(known)));
            }
        }
    }

    fn note(&mut self, done: &LiveBatch) {
        self.made.fill(0);
        for ThreadTurn { thread, rows } in done.rows.turns.iter() {
            let thread = usize::from(thread);
            if self.made.len() <= thread {
                self.made.resize(thread + 1, 0);
            }
            self.made[thread] += rows.len();
        }
        for index in 0..self.list.len() {
            let turn = self.list[index];
            let thread = usize::from(turn.thread);
            let made = self.made.get(thread).copied().unwrap_or(0);
            self.set_stopped(thread, made < turn.references as usize);
        }
    }

    fn set_stopped(&mut self, thread: usize, stopped: bool) {
        if self.stopped.len() <= thread {
            self.stopped.resize(thread + 1, false);
        }
        self.stopped[thread] = stopped;
    }
}

pub(crate) fn drive<P: LiveProgram, E: Into<SimError>>(
    clock: &mut dyn LiveClock<E>,
    splitter: &mut StreamSplitter,
    program: &mut P,
    pace: Pace,
) -> Result<(), RunError<P::Error>> {
    let mut done = LiveBatch::default();
    let mut turns = TurnList::default();
    clock.begin_live();
    let known = splitter.split_live(&done);
    clock.push_live(&known)?;
    let (mut idle_turns, mut quiet_rounds) = (0, 0);
    loop {
        turns.list.clear();
        if let Some(process) = clock.awaited_process().filter(|_| idle_turns < IDLE_TURNS_MAX) {
            turns.make(clock, process, pace);
        }
        let all_wait = turns.list.is_empty();
        program.run(&turns.list, all_wait, &mut done).map_err(RunError::Program)?;
        turns.note(&done);
        let quiet = done.rows.is_empty() && done.marks.is_empty() && done.released.is_empty();
        if !quiet {
            (idle_turns, quiet_rounds) = (0, 0);
            clock.push_live(&splitter.split_live(&done))?;
            for &thread in &done.released {
                clock.release(usize::from(thread))?;
            }
        } else if !all_wait {
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
