//! Context switches: when processes leave their processors, and whether they wait or are preempted.

use homenode_base::Access;
use homenode_trace::Metadata;
use rustc_hash::FxHashSet;

/// The process number of idle processors.
pub(super) const IDLE: u32 = 0;

const DEQUEUES: [&str; 7] = [
    "deactivate_task",
    "dequeue_task",
    "dequeue_task_stop",
    "dequeue_task_fair",
    "dequeue_entity",
    "dequeue_task_rt",
    "dequeue_task_dl",
];
const SCHEDULE: &str = "__schedule";
/// The function that switches from one task's stack to the other's. The recorder learns of the new
/// task a little later.
const STACK_SWITCH: &str = "__switch_to_asm";

/// Most references of a context switch after that point.
const SWITCH_REFERENCES_MAX: u32 = 256;

pub(super) struct Departure {
    pub(super) pid: u32,
    pub(super) runs_elsewhere: bool,
    pub(super) preempted: bool,
}

#[derive(Clone, Copy, Default)]
struct ProcessorState {
    pid: Option<u32>,
    /// Whether a task has left the run queue since the scheduler was last called.
    dequeued: bool,
    /// Further references that may belong to the context switch.
    switching: u32,
}

/// Follows what runs on each processor.
///
/// A task that waits is removed from its run queue in `__schedule`, a task that is preempted is not
/// (Linux 6.1, kernel/sched/core.c). If the trace has program counters and function names, this
/// distinguishes the two.
pub(super) struct Switching {
    processors: Vec<ProcessorState>,
    entry: Option<u64>,
    dequeues: FxHashSet<u64>,
    switching: FxHashSet<u64>,
}

impl Switching {
    pub(super) fn new(metadata: &Metadata) -> Self {
        let of = |name: &str| {
            let lines = metadata.lines.iter().filter(move |line| line.function == name);
            lines.map(|line| line.pc).collect::<Vec<u64>>()
        };
        Self {
            processors: Vec::new(),
            entry: of(SCHEDULE).into_iter().min(),
            dequeues: DEQUEUES.iter().flat_map(|name| of(name)).collect(),
            switching: of(STACK_SWITCH).into_iter().collect(),
        }
    }

    pub(super) fn knows_preemptions(&self) -> bool {
        self.entry.is_some() && !self.dequeues.is_empty()
    }

    /// Whether a reference from this program counter may be to the stack of the next process.
    pub(super) fn is_stack_switch(&self, pc: u64) -> bool {
        !self.switching.is_empty() && self.switching.contains(&pc)
    }

    /// Whether the processor's last reference may have been to the stack of the next process.
    pub(super) fn is_switching(&self, processor: u16) -> bool {
        self.processors
            .get(usize::from(processor))
            .is_some_and(|processor_state| processor_state.switching > 0)
    }

    pub(super) fn runs(&self, processor: u16) -> Option<u32> {
        self.processors.get(usize::from(processor)).and_then(|processor_state| processor_state.pid)
    }

    /// The next reference; if it is by another process than the processor's last one, that one has
    /// left.
    pub(super) fn reference(&mut self, access: &Access) -> Option<Departure> {
        let at = usize::from(access.thread);
        if at >= self.processors.len() {
            self.processors.resize(at + 1, ProcessorState::default());
        }
        let knows_preemptions = self.knows_preemptions();
        let switching = self.is_stack_switch(access.pc);
        let processor_state = &mut self.processors[at];
        let before = processor_state.pid.replace(access.pid).filter(|&pid| pid != access.pid);
        let preempted = knows_preemptions && !processor_state.dequeued;
        processor_state.switching = if switching {
            SWITCH_REFERENCES_MAX
        } else {
            processor_state.switching.saturating_sub(1)
        };
        if before.is_some() {
            (processor_state.dequeued, processor_state.switching) = (false, 0);
        }
        if knows_preemptions {
            if self.entry == Some(access.pc) {
                processor_state.dequeued = false;
            } else if self.dequeues.contains(&access.pc) {
                processor_state.dequeued = true;
            }
        }
        let pid = before?;
        let runs_elsewhere =
            self.processors.iter().any(|processor_state| processor_state.pid == Some(pid));
        Some(Departure { pid, runs_elsewhere, preempted })
    }
}
