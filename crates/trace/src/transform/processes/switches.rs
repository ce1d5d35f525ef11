//! When processes leave their processors, and whether they do so to wait.

use homenode_base::Access;
use rustc_hash::FxHashSet;

use crate::model::Metadata;

/// Functions of Linux that take a task out of its run queue.
const DEQUEUES: [&str; 7] = [
    "deactivate_task",
    "dequeue_task",
    "dequeue_task_stop",
    "dequeue_task_fair",
    "dequeue_entity",
    "dequeue_task_rt",
    "dequeue_task_dl",
];
/// The function that chooses the next task.
const SCHEDULES: &str = "__schedule";
/// The one that goes from one task's stack to the other's. The recorder learns who runs now a
/// little later.
const BETWEEN: &str = "__switch_to_asm";

/// References that the switch makes from there on, at most.
const BETWEEN_MAX: u32 = 256;

/// A process that left a processor.
pub(super) struct Departure {
    /// Which process.
    pub(super) pid: u32,
    /// Whether it runs on another processor: another of its threads does.
    pub(super) elsewhere: bool,
    /// Whether it could have gone on.
    pub(super) gave_way: bool,
}

/// What runs on one processor.
#[derive(Clone, Copy, Default)]
struct ProcessorState {
    pid: Option<u32>,
    /// Whether a task has left the run queue since the scheduler was last called.
    dequeued: bool,
    /// References that may still be the switch's to the next process.
    between: u32,
}

/// Follows what runs on each processor.
///
/// A task that waits leaves its run queue in `__schedule`, one that has to make way does not (Linux
/// 6.1, kernel/sched/core.c). Where the trace has program counters and names of functions, this
/// tells the two apart.
pub(super) struct Switching {
    seats: Vec<ProcessorState>,
    /// The first instruction of the scheduler that makes a reference.
    entry: Option<u64>,
    dequeues: FxHashSet<u64>,
    between: FxHashSet<u64>,
}

impl Switching {
    pub(super) fn new(metadata: &Metadata) -> Self {
        let of = |name: &str| {
            let lines = metadata.lines.iter().filter(move |line| line.function == name);
            lines.map(|line| line.pc).collect::<Vec<u64>>()
        };
        Self {
            seats: Vec::new(),
            entry: of(SCHEDULES).into_iter().min(),
            dequeues: DEQUEUES.iter().flat_map(|name| of(name)).collect(),
            between: of(BETWEEN).into_iter().collect(),
        }
    }

    /// Whether processes that wait can be told from those that make way.
    pub(super) fn tells(&self) -> bool {
        self.entry.is_some() && !self.dequeues.is_empty()
    }

    /// Whether a reference from there may belong to the process that comes next.
    pub(super) fn is_between(&self, pc: u64) -> bool {
        !self.between.is_empty() && self.between.contains(&pc)
    }

    /// Whether the processor's last reference may have been on the stack of the process that comes
    /// next.
    pub(super) fn is_switching(&self, processor: u16) -> bool {
        self.seats.get(usize::from(processor)).is_some_and(|seat| seat.between > 0)
    }

    /// The process that runs on a processor.
    pub(super) fn runs(&self, processor: u16) -> Option<u32> {
        self.seats.get(usize::from(processor)).and_then(|seat| seat.pid)
    }

    /// The next reference; if it is by another process than the processor's last one, that one has
    /// left.
    pub(super) fn reference(&mut self, access: &Access) -> Option<Departure> {
        let at = usize::from(access.thread);
        if at >= self.seats.len() {
            self.seats.resize(at + 1, ProcessorState::default());
        }
        let tells = self.tells();
        let between = self.is_between(access.pc);
        let seat = &mut self.seats[at];
        let before = seat.pid.replace(access.pid).filter(|&pid| pid != access.pid);
        let gave_way = tells && !seat.dequeued;
        seat.between = if between { BETWEEN_MAX } else { seat.between.saturating_sub(1) };
        if before.is_some() {
            (seat.dequeued, seat.between) = (false, 0);
        }
        if tells {
            if self.entry == Some(access.pc) {
                seat.dequeued = false;
            } else if self.dequeues.contains(&access.pc) {
                seat.dequeued = true;
            }
        }
        let pid = before?;
        let elsewhere = self.seats.iter().any(|seat| seat.pid == Some(pid));
        Some(Departure { pid, elsewhere, gave_way })
    }
}
