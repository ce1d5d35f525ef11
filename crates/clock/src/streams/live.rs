//! Operations of a live program: the same as those of its trace, but waits are known when they
//! begin.
//!
//! So that a replay of the run's trace has the same operations, each wait becomes the operation
//! that the events of the trace make of it when it is over ([`super::events`]).

use homenode_trace::{LiveBatch, LiveFact, LiveMark, NO_LIMIT_NS};

use super::excluded::ExcludedInstructions;
use super::forecast::ProcessForecast;
use super::operation::{OPEN, OpKind, Operation};
use super::pending::ThreadStreams;
use super::split::StreamSplitter;

#[derive(Default)]
pub(super) struct LiveProcesses {
    /// Whether the operations are those of a live program.
    pub(super) is_live: bool,
    /// Millionths of a cycle per nanosecond.
    micro_cycles_per_ns: u64,
    /// By process: whether its next acquire event already has an operation.
    pub(super) asked: Vec<bool>,
    /// By process: whether its next event of leaving a barrier already has an operation.
    pub(super) leaving: Vec<bool>,
    /// By process: whether it is at a departure with an unknown number of arrivals.
    pub(super) open: Vec<bool>,
    /// By process: whether it pauses instead, because the trace does not have its wait.
    paused: Vec<bool>,
    /// Open departures whose number of arrivals became known: see [`ThreadStreams::resolved`].
    pub(super) resolved: Vec<(usize, u32)>,
}

impl LiveProcesses {
    fn grow(&mut self, processes: usize) {
        for known in [&mut self.asked, &mut self.leaving, &mut self.open, &mut self.paused] {
            known.resize(processes, false);
        }
    }
}

impl StreamSplitter {
    /// Prepares to split a live program ([`Self::split_live`]), on processors of `mhz` MHz. All
    /// processes but the first wait for their creation.
    #[must_use]
    pub fn for_live(mut self, mhz: u64) -> Self {
        self.live.is_live = true;
        self.live.micro_cycles_per_ns = mhz * 1000;
        self.live.grow(self.operations.len());
        for process in 1..self.operations.len() {
            self.await_creation(process, 1);
        }
        self
    }

    /// Splits the next turns of a live program.
    pub fn split_live(&mut self, batch: &LiveBatch) -> ThreadStreams {
        let rows = batch.rows.len();
        let mut row = 0;
        for (at, mark) in &batch.marks {
            let until = usize::try_from(*at).map_or(rows, |at| at.min(rows));
            self.references(&batch.rows, row..until);
            row = row.max(until);
            match mark {
                LiveMark::Event(event) => {
                    self.make_room(usize::from(event.thread));
                    if let homenode_trace::EventKind::ThreadCreate { child } = event.what {
                        self.make_room(usize::from(child));
                    }
                    self.event(event);
                }
                LiveMark::Fact(thread, fact) => self.fact(usize::from(*thread), *fact),
            }
        }
        self.references(&batch.rows, row..rows);
        let mut known = self.known();
        known.resolved = std::mem::take(&mut self.live.resolved);
        known.processes = self.operations.len();
        known
    }

    fn fact(&mut self, process: usize, fact: LiveFact) {
        match fact {
            LiveFact::Asks { lock, limit_ns } => {
                self.alarm(process, limit_ns);
                self.operation(process, OpKind::Acquire, lock);
                self.live.asked[process] = true;
            }
            LiveFact::Leaves { barrier, count } => {
                if let Some(episode) = self.episodes.inside(process, barrier) {
                    let depart = Operation::new(OpKind::Depart, episode);
                    self.push(process, Operation { count, ..depart });
                    self.live.leaving[process] = true;
                }
            }
            LiveFact::Joins { child, limit_ns } => {
                self.alarm(process, limit_ns);
                let generation = self.generations.current(usize::from(child));
                self.push_generation(process, OpKind::Join, child, generation);
                self.joins[process] = true;
            }
            LiveFact::Waits { limit_ns } => {
                self.alarm_in_wait(process, limit_ns);
                if let Some(episode) = self.conditions.episode(process) {
                    let depart = Operation::new(OpKind::Depart, episode);
                    self.operations[process].push(Operation { count: OPEN, ..depart });
                    self.live.open[process] = true;
                } else {
                    self.operations[process].push(Operation::new(OpKind::Pause, 0));
                    self.live.paused[process] = true;
                }
            }
            LiveFact::Ends { thread } => self.end_wait(process, usize::from(thread)),
            LiveFact::GivesUp => {
                self.conditions.forget(process);
                self.live.open[process] = false;
                self.live.paused[process] = false;
                self.joins[process] = false;
                self.live.asked[process] = false;
            }
            LiveFact::Pauses { limit_ns } => {
                self.alarm_in_wait(process, limit_ns);
                self.operations[process].push(Operation::new(OpKind::Pause, 0));
            }
            LiveFact::Resumes { thread } => {
                self.resume(process, u64::from(thread));
            }
        }
    }

    /// Ends the wait of a process for a condition or semaphore, by an operation of another.
    fn end_wait(&mut self, by: usize, process: usize) {
        if process >= self.operations.len() {
            return;
        }
        if std::mem::take(&mut self.live.paused[process]) {
            self.resume(by, process as u64);
            return;
        }
        let depart = self.conditions.end(process);
        if std::mem::take(&mut self.live.open[process]) {
            self.live.resolved.push((process, depart.map_or(0, |depart| depart.count)));
        } else if let Some(depart) = depart {
            self.operations[process].push(depart);
        }
    }

    fn resume(&mut self, by: usize, process: u64) {
        let at = self.end_of_generation(by);
        self.operations[by].insert(at, Operation::new(OpKind::Resume, process));
    }

    /// The index at which to insert a process's next operation among its new ones. The last
    /// operation of a process that affects others may come after its exit: it goes before the wait
    /// for its next creation.
    fn end_of_generation(&self, process: usize) -> usize {
        let operations = &self.operations[process];
        let waits = self.generations.has_ended(process)
            && operations.last().is_some_and(|last| last.kind == OpKind::Begin);
        operations.len() - usize::from(waits)
    }

    /// The process ends the wait of another one, which it may do even after its exit.
    pub(super) fn wake(&mut self, process: usize, episode: u64) {
        let at = self.end_of_generation(process);
        if at < self.operations[process].len() {
            self.operations[process].insert(at, Operation::new(OpKind::Arrive, episode));
        } else {
            self.operation(process, OpKind::Arrive, episode);
        }
    }

    fn alarm(&mut self, process: usize, limit_ns: u64) {
        if limit_ns < NO_LIMIT_NS {
            self.operation(process, OpKind::Alarm, self.cycles(limit_ns));
        }
    }

    /// The same in the middle of a wait, where no departure may be inserted first.
    fn alarm_in_wait(&mut self, process: usize, limit_ns: u64) {
        if limit_ns < NO_LIMIT_NS {
            let alarm = Operation::new(OpKind::Alarm, self.cycles(limit_ns));
            self.operations[process].push(alarm);
        }
    }

    /// Converts nanoseconds to cycles, at least one.
    fn cycles(&self, ns: u64) -> u64 {
        let micro = u128::from(ns) * u128::from(self.live.micro_cycles_per_ns);
        u64::try_from(micro / 1_000_000).unwrap_or(u64::MAX).max(1)
    }

    fn grow(&mut self, processes: usize) {
        self.recorded.extend(self.recorded.len()..processes);
        self.operations.resize_with(processes, Vec::new);
        self.pids.resize(processes, None);
        self.generations.grow(processes);
        self.conditions.grow(processes);
        self.excluded.resize(processes, ExcludedInstructions::default());
        self.forecast.resize_with(processes, ProcessForecast::default);
        for known in [&mut self.begun, &mut self.closed, &mut self.joins, &mut self.begins] {
            known.resize(processes, false);
        }
    }

    /// Adds processes up to this one, if it is new.
    fn make_room(&mut self, process: usize) {
        let before = self.operations.len();
        if process < before {
            return;
        }
        self.grow(process + 1);
        self.live.grow(process + 1);
        for process in before..=process {
            self.await_creation(process, 1);
        }
    }

    pub(super) fn await_creation(&mut self, process: usize, generation: u32) {
        let begin = Operation { count: generation, ..Operation::new(OpKind::Begin, 0) };
        self.operations[process].push(begin);
        self.begins[process] = true;
    }
}

#[cfg(test)]
mod tests {
    use homenode_base::ReferenceFilter;
    use homenode_trace::{Event, EventKind};

    use super::*;

    fn of(streams: &ThreadStreams, process: usize) -> Vec<(OpKind, u64, u32)> {
        let own = streams.operations.iter().filter(|(of, _)| *of == process);
        own.flat_map(|(_, all)| all.iter().map(|o| (o.kind, o.addr, o.count))).collect()
    }

    fn event(thread: u16, what: EventKind) -> (u32, LiveMark) {
        (0, LiveMark::Event(Event { thread, what }))
    }

    fn live(processes: usize, marks: Vec<(u32, LiveMark)>) -> (StreamSplitter, ThreadStreams) {
        let splitter = StreamSplitter::new(processes, ReferenceFilter::ALL, &[], None);
        let mut splitter = splitter.for_live(100);
        let streams = splitter.split_live(&LiveBatch { marks, ..LiveBatch::default() });
        (splitter, streams)
    }

    #[test]
    fn an_announced_wait_becomes_no_second_operation_when_it_is_over() {
        let asks = LiveFact::Asks { lock: 8, limit_ns: NO_LIMIT_NS };
        let leaves = LiveFact::Leaves { barrier: 64, count: 2 };
        let (_, streams) = live(
            2,
            vec![
                (0, LiveMark::Fact(0, asks)),
                event(0, EventKind::LockAcquire { addr: 8 }),
                event(0, EventKind::BarrierEnter { addr: 64 }),
                (0, LiveMark::Fact(0, leaves)),
                event(1, EventKind::BarrierEnter { addr: 64 }),
                event(0, EventKind::BarrierLeave { addr: 64 }),
                event(0, EventKind::LockAcquire { addr: 8 }),
            ],
        );
        let expected = [
            (OpKind::Acquire, 8, 0),
            (OpKind::Arrive, 0, 0),
            (OpKind::Depart, 0, 2),
            (OpKind::Acquire, 8, 0),
        ];
        assert_eq!(of(&streams, 0), expected);
        assert_eq!(of(&streams, 1), [(OpKind::Begin, 0, 1), (OpKind::Arrive, 0, 0)]);
    }

    #[test]
    fn an_ended_process_wakes_others_before_its_next_creation() {
        let resumes = LiveMark::Fact(0, LiveFact::Resumes { thread: 1 });
        let wakes = event(0, EventKind::ConditionWake { addr: 8 });
        let (_, streams) = live(2, vec![event(0, EventKind::ThreadExit), (0, resumes), wakes]);
        let expected = [
            (OpKind::Exit, 0, 0),
            (OpKind::Resume, 1, 0),
            (OpKind::Arrive, !8, 0),
            (OpKind::Begin, 0, 2),
        ];
        assert_eq!(of(&streams, 0), expected);
    }

    #[test]
    fn the_number_of_wakes_is_resolved_when_the_process_is_woken() {
        let waits = LiveFact::Waits { limit_ns: 50 };
        let (mut splitter, streams) = live(
            1,
            vec![
                event(0, EventKind::ThreadCreate { child: 2 }),
                event(2, EventKind::ConditionWait { addr: 8 }),
                event(2, EventKind::LockRelease { addr: 16 }),
                (0, LiveMark::Fact(2, waits)),
            ],
        );
        let open = [(OpKind::Alarm, 5, 0), (OpKind::Depart, !8, OPEN)];
        assert_eq!(of(&streams, 2)[2..], open);
        assert_eq!((streams.processes, &streams.resolved[..]), (3, &[][..]));
        let woken = vec![
            event(0, EventKind::ConditionWake { addr: 8 }),
            (0, LiveMark::Fact(0, LiveFact::Ends { thread: 2 })),
            event(2, EventKind::LockAcquire { addr: 16 }),
        ];
        let streams = splitter.split_live(&LiveBatch { marks: woken, ..LiveBatch::default() });
        assert_eq!(streams.resolved, [(2, 1)]);
        assert_eq!(of(&streams, 2), [(OpKind::Acquire, 16, 0)]);
    }
}
