//! The run queue: ready processes, and the choice of the next one for an idle processor.

use homenode_base::Rng;
use homenode_machine::{AgingUnit, Dispatch, SchedulerModel};

struct Ready {
    process: usize,
    /// Dispatches that count for its aging.
    passed: u32,
    /// When it became ready.
    since: u64,
}

/// What has happened so far, on which the choice of a process may depend.
#[derive(Clone, Copy)]
pub struct DispatchProgress<'a> {
    /// The current cycle.
    pub now: u64,
    /// References that each process has begun; empty if the choice does not depend on them.
    pub begun: &'a [u64],
    /// References of its share that each process owes, if processes restart. One that owes none
    /// runs only where no other is ready.
    pub owed: Option<&'a [u64]>,
}

impl DispatchProgress<'_> {
    fn owes(&self, process: usize) -> bool {
        self.owed.is_none_or(|owed| owed[process] > 0)
    }
}

/// Ready processes, in the order in which they became ready.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4: a random policy and cache affinity.
pub struct RunQueue {
    scheduler: SchedulerModel,
    /// Cycles of a time slice without stalls.
    slice_cycles: u64,
    random: Rng,
    ready: Vec<Ready>,
    /// The processor on which each process ran last; at first the one with its number, modulo the
    /// number of processors.
    home: Vec<usize>,
    ran: Vec<bool>,
    switches: u64,
    migrations: u64,
}

impl RunQueue {
    /// A queue in which all processes are ready.
    #[must_use]
    pub fn new(
        scheduler: &SchedulerModel,
        operation_cycles: u64,
        seed: u64,
        processes: usize,
        processors: usize,
    ) -> Self {
        let ready = |process| Ready { process, passed: 0, since: 0 };
        let slice = scheduler.time_slice_references;
        Self {
            scheduler: *scheduler,
            slice_cycles: slice.saturating_mul(operation_cycles),
            random: Rng::new(seed),
            ready: (0..processes).map(ready).collect(),
            home: (0..processes).map(|process| process % processors).collect(),
            ran: vec![false; processes],
            switches: 0,
            migrations: 0,
        }
    }

    /// Raises the number of processes; the new ones are ready.
    pub fn grow(&mut self, processes: usize, processors: usize, now: u64) {
        for process in self.home.len()..processes {
            self.home.push(process % processors);
            self.ran.push(false);
            self.add(process, now);
        }
    }

    /// Adds a process that becomes ready now.
    pub fn add(&mut self, process: usize, now: u64) {
        self.ready.push(Ready { process, passed: 0, since: now });
    }

    /// Whether no process is ready.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ready.is_empty()
    }

    /// The number of context switches.
    #[must_use]
    pub fn switches(&self) -> u64 {
        self.switches
    }

    /// The number of switches to a process that last ran on another processor.
    #[must_use]
    pub fn migrations(&self) -> u64 {
        self.migrations
    }

    /// Assigns processes to idle processors, which are given in ascending order: (processor,
    /// process) pairs. Under cache affinity, processes whose last processor is idle are assigned
    /// first.
    pub fn assign(&mut self, idle: &[usize], so_far: DispatchProgress<'_>) -> Vec<(usize, usize)> {
        let mut assigned = Vec::new();
        for pass in [true, false] {
            for &processor in idle {
                let taken = assigned.iter().any(|&(other, _)| other == processor);
                if taken || (pass && self.scheduler.policy == Dispatch::Random) {
                    continue;
                }
                if let Some(at) = self.choose(processor, pass, so_far) {
                    assigned.push((processor, self.take(at, processor)));
                }
            }
        }
        assigned
    }

    /// Position in the queue of the next process for this processor.
    fn choose(
        &mut self,
        processor: usize,
        only_own: bool,
        so_far: DispatchProgress<'_>,
    ) -> Option<usize> {
        let owing = self.ready.iter().filter(|r| so_far.owes(r.process)).count();
        let all = owing == 0;
        let may = |r: &Ready| all || so_far.owes(r.process);
        let count = if all { self.ready.len() } else { owing };
        if count == 0 {
            return None;
        }
        match self.scheduler.policy {
            Dispatch::Random => {
                let number = usize::try_from(self.random.below(count as u64)).unwrap_or(0);
                (0..self.ready.len()).filter(|&at| may(&self.ready[at])).nth(number)
            }
            Dispatch::Affinity => {
                let is_own = |r: &Ready| may(r) && self.home[r.process] == processor;
                let own = self.ready.iter().position(is_own);
                let preferred = own.map(|own| self.ready[own].process);
                let is_aged = |r: &Ready| may(r) && self.is_aged(r, preferred, so_far);
                let aged = self.ready.iter().position(is_aged);
                let any = if only_own { None } else { self.ready.iter().position(may) };
                aged.or(own).or(any)
            }
        }
    }

    /// Whether a ready process comes before the one that a processor prefers.
    fn is_aged(
        &self,
        ready: &Ready,
        preferred: Option<usize>,
        so_far: DispatchProgress<'_>,
    ) -> bool {
        let SchedulerModel { aging, aging_unit, time_slice_references, .. } = self.scheduler;
        let DispatchProgress { now, begun, .. } = so_far;
        match aging_unit {
            AgingUnit::Dispatches | AgingUnit::HomeDispatches => ready.passed >= aging,
            AgingUnit::SlicesWaited => {
                now - ready.since >= self.slice_cycles.saturating_mul(aging.into())
            }
            AgingUnit::SlicesBehind => preferred.is_some_and(|preferred| {
                let credit = time_slice_references.saturating_mul(aging.into());
                begun[ready.process].saturating_add(credit) < begun[preferred]
            }),
        }
    }

    fn take(&mut self, at: usize, processor: usize) -> usize {
        let process = self.ready.remove(at).process;
        let all = self.scheduler.aging_unit == AgingUnit::Dispatches;
        for (place, ready) in self.ready.iter_mut().enumerate() {
            let counts = if all { place < at } else { self.home[ready.process] == processor };
            ready.passed += u32::from(counts);
        }
        self.switches += 1;
        self.migrations += u64::from(self.ran[process] && self.home[process] != processor);
        (self.home[process], self.ran[process]) = (processor, true);
        process
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLICE: u64 = 10;

    fn affinity(aging: u32, aging_unit: AgingUnit) -> SchedulerModel {
        SchedulerModel {
            policy: Dispatch::Affinity,
            time_slice_references: SLICE,
            aging,
            aging_unit,
            wait_cycles: 0,
            restart: false,
        }
    }

    /// A queue without stalls: each process that is taken runs for a time slice.
    struct Replay {
        queue: RunQueue,
        now: u64,
        begun: Vec<u64>,
    }

    impl Replay {
        fn new(scheduler: &SchedulerModel, processes: usize, processors: usize) -> Self {
            Self {
                queue: RunQueue::new(scheduler, 2, 1, processes, processors),
                now: 0,
                begun: vec![0; processes],
            }
        }

        /// These processors are idle for a moment: the processes that they take.
        fn slice(&mut self, idle: &[usize]) -> Vec<usize> {
            let so_far = DispatchProgress { now: self.now, begun: &self.begun, owed: None };
            let taken: Vec<usize> =
                self.queue.assign(idle, so_far).into_iter().map(|(_, process)| process).collect();
            self.now += 2 * SLICE;
            for &process in &taken {
                self.begun[process] += SLICE;
                self.queue.add(process, self.now);
            }
            taken
        }
    }

    #[test]
    fn a_process_is_passed_over_at_most_aging_times() {
        // Processes 0 and 2 are at home on processor 0, process 1 on processor 1, which is busy.
        let mut replay = Replay::new(&affinity(3, AgingUnit::Dispatches), 3, 2);
        let taken: Vec<usize> = (0..6).flat_map(|_| replay.slice(&[0])).collect();
        assert_eq!(taken, [0, 2, 0, 2, 1, 0], "process 1 was passed over three times");
        assert_eq!((replay.queue.switches, replay.queue.migrations), (6, 0));
    }

    #[test]
    fn dispatches_by_other_processors_age_a_process_in_one_unit_alone() {
        // Two processes on processor 0, one on each of the others, which take it again each slice.
        let processors: Vec<usize> = (0..20).collect();
        let migrations = |unit| {
            let mut replay = Replay::new(&affinity(8, unit), 21, 20);
            (0..9).for_each(|_| drop(replay.slice(&processors)));
            replay.queue.migrations
        };
        assert_eq!(migrations(AgingUnit::HomeDispatches), 0);
        assert_eq!(migrations(AgingUnit::SlicesWaited), 0);
        assert_eq!(migrations(AgingUnit::SlicesBehind), 0);
        assert!(migrations(AgingUnit::Dispatches) > 8);
    }

    #[test]
    fn a_process_leaves_a_home_whose_queue_is_long() {
        // Processes 0, 2, 4 and 6 are at home on processor 0; processor 1 has process 1 alone.
        let of = |unit| {
            let mut replay = Replay::new(&affinity(2, unit), 8, 2);
            // 3, 5 and 7 end: they are taken and do not return.
            replay.queue.ready.retain(|r| r.process == 1 || r.process % 2 == 0);
            [(); 4].map(|()| replay.slice(&[0, 1]))
        };
        let second = [vec![0, 1], vec![2, 4], vec![6, 0], vec![1, 2]];
        assert_eq!(of(AgingUnit::HomeDispatches), second, "two had gone before 4");
        let third = [vec![0, 1], vec![2, 1], vec![4, 6], vec![0, 1]];
        assert_eq!(of(AgingUnit::SlicesWaited), third, "4 and 6 had waited for two slices");
        let alone = [vec![0, 1], vec![2, 1], vec![4, 1], vec![6, 1]];
        assert_eq!(of(AgingUnit::SlicesBehind), alone, "6 is three slices behind only then");
    }

    #[test]
    fn a_process_that_has_run_less_by_more_than_aging_slices_comes_first() {
        // Processes 0 and 2 share processor 0: each gets half of what process 1 gets.
        let mut replay = Replay::new(&affinity(2, AgingUnit::SlicesBehind), 3, 2);
        let taken = [(); 9].map(|()| replay.slice(&[0, 1]));
        let own = [vec![0, 1], vec![2, 1]];
        assert_eq!(taken[..6], [own.clone(), own.clone(), own].concat());
        assert_eq!(taken[6..], [vec![0, 2], vec![0, 1], vec![0, 2]], "2 had run half of 1");
        let most = replay.begun.iter().max().unwrap() - replay.begun.iter().min().unwrap();
        assert!(most <= 3 * SLICE, "{:?}", replay.begun);
    }

    #[test]
    fn processes_that_have_done_their_share_fill_processors_that_no_other_needs() {
        for policy in [Dispatch::Affinity, Dispatch::Random] {
            let scheduler = SchedulerModel { policy, ..affinity(8, AgingUnit::HomeDispatches) };
            let mut queue = RunQueue::new(&scheduler, 2, 1, 4, 2);
            let so_far = DispatchProgress { now: 0, begun: &[0; 4], owed: Some(&[0, 5, 0, 5]) };
            let mut first = queue.assign(&[0, 1], so_far);
            first.sort_unstable_by_key(|&(_, process)| process);
            assert_eq!(first.iter().map(|&(_, process)| process).collect::<Vec<_>>(), [1, 3]);
            assert_eq!(queue.assign(&[0], so_far).len(), 1, "no other is ready");
        }
    }

    #[test]
    fn processes_go_home_if_they_can() {
        let mut queue = RunQueue::new(&affinity(8, AgingUnit::HomeDispatches), 2, 1, 2, 2);
        let mut assign = |idle: &[usize], back: Option<usize>| {
            back.into_iter().for_each(|process| queue.add(process, 0));
            queue.assign(idle, DispatchProgress { now: 0, begun: &[0, 0], owed: None })
        };
        assert_eq!(assign(&[1], None), [(1, 1)], "not the oldest");
        assert_eq!(assign(&[0, 1], Some(1)), [(0, 0), (1, 1)]);
        assert_eq!(assign(&[0], Some(1)), [(0, 1)], "another processor if its own is busy");
        assert_eq!((queue.switches, queue.migrations), (4, 1));
    }
}
