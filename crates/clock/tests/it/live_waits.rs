//! Waits of a live program: what ends them, and when.

use homenode_clock::streams::{OPEN, OpKind, Operation, Portion, ThreadStreams};
use homenode_clock::{Clock, LiveClock};

use crate::fixed_latency::{FixedLatency, operation as of, setup};

/// A live clock with one process per processor, on which every reference hits.
fn clock(processors: usize) -> Clock<FixedLatency> {
    let mut clock = Clock::new(FixedLatency::all_hits(), processors, &setup(processors, true));
    clock.begin_live();
    clock
}

fn push(
    clock: &mut Clock<FixedLatency>,
    process: usize,
    operations: &[Operation],
) -> Option<usize> {
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
    assert_eq!((memory.counted.references, time.deadlocks_broken), (1, 0));
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
    assert_eq!(memory.counted.references, 1);
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
