//! Waits of a live program: what ends them, and when.

use std::convert::Infallible;

use homenode_clock::streams::{OPEN, OpKind, Operation, Portion, ThreadStreams};
use homenode_clock::{
    Clock, ClockSetup, LiveClock, MemoryReference, MemorySystem, ReferenceCounts, Requester,
    Requesters,
};
use homenode_machine::{Dispatch, ProcessorModel, SchedulerModel};

/// Every reference hits.
#[derive(Default)]
struct AllHits {
    references: u64,
}

impl MemorySystem for AllHits {
    type Access = MemoryReference;
    type Event = ();
    type Error = Infallible;

    fn block_shift(&self) -> u32 {
        6
    }

    fn try_hit(&mut self, _: &MemoryReference) -> bool {
        true
    }

    fn try_access(&mut self, _: &MemoryReference) -> bool {
        true
    }

    fn access(&self, reference: &MemoryReference) -> MemoryReference {
        *reference
    }

    fn same_block(one: &MemoryReference, other: &MemoryReference) -> bool {
        one.block == other.block
    }

    fn needs_request(&mut self, _: &MemoryReference) -> bool {
        false
    }

    fn perform(&mut self, _: u64, _: &MemoryReference) -> Result<(), Infallible> {
        Ok(())
    }

    fn request(&mut self, _: Requester, _: &MemoryReference, _: &mut Requesters<'_, Self>) {}

    fn event(&mut self, (): (), _: &mut Requesters<'_, Self>) -> Result<(), Infallible> {
        Ok(())
    }

    fn advance(&mut self, _: &mut Requesters<'_, Self>) -> Result<(), Infallible> {
        Ok(())
    }

    fn next_advance(&self, _: u64) -> Option<u64> {
        None
    }

    fn undisturbed_until(&self, _: u64) -> u64 {
        u64::MAX
    }

    fn at_rest_from(&self) -> u64 {
        0
    }

    fn count(&mut self, counted: ReferenceCounts) {
        self.references += counted.references;
    }
}

/// A live clock with one process per processor.
fn clock(processors: usize) -> Clock<AllHits> {
    let processor = ProcessorModel {
        operation_cycles: 1,
        instruction_cycles: 0,
        window_instructions: 8,
        issue_width: None,
        misses_max: 2,
        store_buffer_words: 2,
        blocking: true,
    };
    let scheduler = SchedulerModel {
        policy: Dispatch::Affinity,
        time_slice_references: 1_000,
        aging: 8,
        wait_cycles: 0,
        restart: false,
    };
    let setup = ClockSetup { processor, scheduler, seed: 1, processes: processors };
    let mut clock = Clock::new(AllHits::default(), processors, &setup);
    clock.begin_live();
    clock
}

fn of(kind: OpKind, addr: u64) -> Operation {
    Operation { size: 4, ..Operation::new(kind, addr) }
}

fn push(clock: &mut Clock<AllHits>, process: usize, operations: &[Operation]) -> Option<usize> {
    let operations = vec![(process, Portion::new(operations.to_vec()))];
    let Ok(()) = clock.push_live(&ThreadStreams { operations, ..ThreadStreams::default() });
    clock.awaited_process()
}

#[test]
fn a_pause_ends_when_it_is_resumed_or_times_out() {
    let mut clock = clock(2);
    push(&mut clock, 0, &[of(OpKind::Alarm, 50), of(OpKind::Pause, 0)]);
    push(&mut clock, 1, &[of(OpKind::Pause, 0)]);
    assert_eq!(clock.awaited_process(), Some(0), "it timed out");
    assert!(clock.now() >= 50 && clock.now() < 55, "{}", clock.now());
    assert_eq!([clock.take_timed_out(0), clock.take_timed_out(0)], [true, false]);
    let resumes = [of(OpKind::Read, 0), of(OpKind::Resume, 1), of(OpKind::Pause, 0)];
    assert_eq!(push(&mut clock, 0, &resumes), Some(1));
    assert!(!clock.take_timed_out(1));
    // Resumed before it pauses: it continues at once.
    push(&mut clock, 1, &[of(OpKind::Resume, 0), of(OpKind::Resume, 0)]);
    assert_eq!(push(&mut clock, 1, &[of(OpKind::Pause, 0)]), Some(0));
    assert_eq!(push(&mut clock, 0, &[of(OpKind::Pause, 0)]), Some(0));
    // No process continues, and that is no deadlock: only the program can end a pause.
    assert_eq!(push(&mut clock, 0, &[of(OpKind::Pause, 0)]), None);
    let Ok(broken) = clock.break_wait();
    assert!(!broken);
    let Ok(()) = clock.release(0);
    assert_eq!(clock.awaited_process(), Some(0));
    // A release before the pause ends the pause at once.
    let Ok(()) = clock.release(0);
    assert_eq!(push(&mut clock, 0, &[of(OpKind::Arrive, 3), of(OpKind::Pause, 0)]), Some(0));
    let Ok((memory, time)) = clock.finish();
    assert_eq!((memory.references, time.deadlocks_broken), (1, 0));
}

#[test]
fn an_open_departure_waits_for_the_resolved_number_of_arrivals() {
    let depart = Operation { count: OPEN, ..of(OpKind::Depart, 7) };
    for resolved_first in [true, false] {
        let mut clock = clock(2);
        let resolved = ThreadStreams { resolved: vec![(0, 2)], ..ThreadStreams::default() };
        if resolved_first {
            // The number may be known before the process reaches its wait.
            let operations = vec![(0, Portion::new(vec![depart]))];
            let Ok(()) = clock.push_live(&ThreadStreams { operations, ..resolved });
        } else {
            push(&mut clock, 0, &[depart]);
            assert_eq!(push(&mut clock, 1, &[of(OpKind::Arrive, 7)]), Some(1));
            let Ok(()) = clock.push_live(&resolved);
        }
        let rest = if resolved_first { 2 } else { 1 };
        let mut arrivals = vec![of(OpKind::Arrive, 7); rest];
        arrivals.push(of(OpKind::Pause, 0));
        assert_eq!(push(&mut clock, 1, &arrivals), Some(0), "{resolved_first}");
    }
}

#[test]
fn a_timed_out_wait_leaves_the_queue_of_the_lock() {
    let mut clock = clock(2);
    push(&mut clock, 0, &[of(OpKind::Acquire, 64), of(OpKind::Alarm, 90), of(OpKind::Pause, 0)]);
    push(&mut clock, 1, &[of(OpKind::Alarm, 20), of(OpKind::Acquire, 64)]);
    assert_eq!(clock.awaited_process(), Some(1));
    assert!(clock.take_timed_out(1));
    assert!(clock.now() < 30);
    push(&mut clock, 1, &[of(OpKind::Pause, 0)]);
    assert!(clock.take_timed_out(0));
    // No process waits for the lock any more: its owner releases and acquires it again.
    let again = [of(OpKind::Release, 64), of(OpKind::Acquire, 64), of(OpKind::Read, 0)];
    assert_eq!(push(&mut clock, 0, &again), Some(0));
    let Ok((memory, _)) = clock.finish();
    assert_eq!(memory.references, 1);
}

#[test]
fn a_process_that_appears_later_waits_for_its_creation() {
    let mut clock = clock(1);
    let begin = Operation { count: 1, ..of(OpKind::Begin, 0) };
    let create = Operation { count: 1, ..of(OpKind::Create, 1) };
    let parts = vec![(0, Portion::new(vec![create])), (1, Portion::new(vec![begin]))];
    let added = ThreadStreams { operations: parts, processes: 2, ..ThreadStreams::default() };
    let Ok(()) = clock.push_live(&added);
    assert_eq!(clock.awaited_process(), Some(0));
    assert_eq!(push(&mut clock, 0, &[of(OpKind::Pause, 0)]), Some(1), "it has the processor");
    let Ok((_, time)) = clock.finish();
    assert_eq!(time.deadlocks_broken, 0);
}
