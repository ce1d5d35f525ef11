//! A forecast moves operations earlier and changes none.

use homenode_base::{Flags, ReferenceFilter, Rng};
use homenode_clock::streams::{
    OpKind, Operation, Portion, StreamForecast, StreamSplitter, ThreadStreams,
};
use homenode_trace::{Batch, ChunkOutline, Event, EventKind};

const THREADS: u16 = 5;

/// A random trace that no program could make: threads do anything at any time, except that none
/// joins itself or waits for a condition after its exit.
fn batch(rng: &mut Rng, rows: usize, over: &mut [bool]) -> Batch {
    let mut batch = Batch::default();
    for row in 0..rows {
        let busy = if rng.below(3) == 0 { THREADS } else { 2 };
        while rng.below(4) == 0 {
            let event = event(rng, over);
            batch.events.push((u32::try_from(row).unwrap_or(0), event));
        }
        batch.turns.push(u16::try_from(rng.below(u64::from(busy))).unwrap_or(0));
        batch.kind.push(u8::try_from(rng.below(3)).unwrap_or(0));
        batch.size.push(4);
        batch.addr.push(4 * rng.below(8));
        batch.flags.push(if rng.below(4) == 0 { Flags::SYNC.0 } else { 0 });
    }
    let last = u32::try_from(rows).unwrap_or(0);
    (0..rng.below(3)).for_each(|_| batch.events.push((last, event(rng, over))));
    batch
}

fn event(rng: &mut Rng, over: &mut [bool]) -> Event {
    let mut thread = || u16::try_from(rng.below(u64::from(THREADS))).unwrap_or(0);
    let (thread, child) = (thread(), thread());
    let addr = 8 * rng.below(2);
    let what = match rng.below(11) {
        0 => EventKind::ThreadCreate { child },
        1 if child != thread => EventKind::ThreadJoin { child },
        2 => EventKind::ThreadExit,
        3 => EventKind::ThreadStart { stack_low: 0, stack_high: 0 },
        4 => EventKind::LockAcquire { addr },
        5 => EventKind::LockRelease { addr },
        6 if over[usize::from(thread)] => EventKind::InitDone,
        6 => EventKind::ConditionWait { addr },
        7 => EventKind::ConditionWake { addr },
        8 => EventKind::BarrierEnter { addr },
        9 => EventKind::BarrierLeave { addr },
        _ => EventKind::SyscallEnter { number: 202 },
    };
    if let EventKind::ThreadCreate { child } = what {
        over[usize::from(child)] = false;
    }
    if let EventKind::ThreadJoin { child } = what {
        over[usize::from(child)] = true;
    }
    over[usize::from(thread)] |= matches!(what, EventKind::ThreadExit);
    Event { thread, what }
}

fn outline(batch: &Batch) -> ChunkOutline {
    ChunkOutline { turns: batch.turns.clone(), events: batch.events.clone() }
}

fn splitter() -> StreamSplitter {
    StreamSplitter::new(usize::from(THREADS), ReferenceFilter::ALL, &[], None)
}

fn forecast(batches: &[Batch]) -> StreamForecast {
    let mut forecast = StreamForecast::new(usize::from(THREADS), false);
    batches.iter().for_each(|batch| forecast.add(&outline(batch)));
    forecast
}

/// All operations of each process, in order.
fn operations(mut splitter: StreamSplitter, batches: &[Batch]) -> Vec<Vec<Operation>> {
    let mut all = vec![Vec::new(); usize::from(THREADS)];
    for streams in batches.iter().flat_map(|batch| splitter.split_in_slices(batch)) {
        for (process, operations) in &streams.operations {
            all[*process].extend_from_slice(operations);
        }
    }
    all
}

#[test]
fn a_forecast_changes_no_operation() {
    for seed in 0..2_000 {
        let mut rng = Rng::new(seed);
        let mut over = [false; THREADS as usize];
        let batches: Vec<Batch> = (0..1 + rng.below(6))
            .map(|_| {
                let rows = usize::try_from(rng.below(12)).unwrap_or(0);
                batch(&mut rng, rows, &mut over)
            })
            .collect();
        let plain = operations(splitter(), &batches);
        let foreseen = operations(splitter().with_forecast(forecast(&batches)), &batches);
        assert_eq!(foreseen, plain, "seed {seed}");
    }
}

/// A batch of references by these threads, with events before some of them.
fn rows(threads: &[u16], events: &[(u32, u16, EventKind)]) -> Batch {
    Batch {
        turns: threads.iter().copied().collect(),
        kind: vec![0; threads.len()],
        size: vec![4; threads.len()],
        addr: vec![0; threads.len()],
        flags: vec![0; threads.len()],
        events: events
            .iter()
            .map(|(at, thread, what)| (*at, Event { thread: *thread, what: what.clone() }))
            .collect(),
        ..Batch::default()
    }
}

#[test]
fn a_process_that_is_created_late_waits_from_the_start() {
    let create = EventKind::ThreadCreate { child: 1 };
    let batches = [rows(&[0, 0], &[]), rows(&[0, 1], &[(0, 0, create)])];
    let mut splitter = splitter().with_forecast(forecast(&batches));
    let first = splitter.split(&batches[0]);
    let of_1 = first.operations.iter().find(|(process, _)| *process == 1);
    let kinds: Vec<_> = of_1.iter().flat_map(|(_, some)| some.iter().map(|o| o.kind)).collect();
    assert_eq!(kinds, [OpKind::Begin]);
}

/// ```text
/// chunk 0   thread 0 creates 1 and joins it, 1 waits for a condition
/// chunk 1   thread 2 alone, then it wakes 1
/// chunk 2   1 goes on and ends; 0 creates it again
/// ```
#[test]
fn a_process_that_waits_is_known_to_wait() {
    let (create, join) = (EventKind::ThreadCreate { child: 1 }, EventKind::ThreadJoin { child: 1 });
    let wait = EventKind::ConditionWait { addr: 8 };
    let release = EventKind::LockRelease { addr: 16 };
    let wake = EventKind::ConditionWake { addr: 8 };
    let batches = [
        rows(&[0, 1, 2], &[(1, 0, create.clone()), (2, 1, wait), (2, 1, release)]),
        rows(&[2, 2, 2], &[(2, 2, wake)]),
        rows(&[1, 0], &[(1, 1, EventKind::ThreadExit), (1, 0, join), (1, 0, create)]),
    ];
    let mut splitter = splitter().with_forecast(forecast(&batches));
    let known: Vec<ThreadStreams> = batches.iter().map(|batch| splitter.split(batch)).collect();
    let kinds = |chunk: usize, process: usize| {
        let mut all = known[chunk].operations.iter().filter(|(of, _)| *of == process);
        let kinds = |portion: &Portion| portion.iter().map(|o| (o.kind, o.count)).collect();
        all.next().map_or(Vec::new(), |(_, portion)| kinds(portion))
    };
    use OpKind::{Begin, Create, Depart, Exit, Join, Read, Release};
    // It does nothing else until then.
    assert_eq!(kinds(0, 0), [(Read, 0), (Create, 1), (Join, 1)]);
    // Until it is woken.
    assert_eq!(kinds(0, 1), [(Begin, 1), (Read, 0), (Release, 0), (Depart, 1)]);
    assert_eq!(kinds(2, 1), [(Read, 0), (Exit, 0), (Begin, 2)]);
    assert_eq!(kinds(2, 0), [(Create, 2), (Read, 0)]);
    let closed: Vec<&[usize]> = known.iter().map(|streams| &streams.closed[..]).collect();
    assert_eq!(closed, [&[3, 4][..], &[2], &[0, 1]], "3 and 4 are not in the trace");
}
