//! Mixes of processes that begin at another place.

use homenode_base::Rng;
use homenode_trace::{Event, EventKind};

use crate::made::{by_thread, made, trace_of};
use crate::support::{Step, accesses, by_hand, read};

fn event(thread: u16, what: EventKind) -> Step {
    Step::Event(Event { thread, what })
}

/// Three processes, in chunks of 50 references, with the events of a mix.
fn mix() -> Vec<Step> {
    let start = EventKind::ThreadStart { stack_low: 0, stack_high: 0 };
    let mut steps: Vec<Step> = (0..3).map(|thread| event(thread, start.clone())).collect();
    for row in 0..400_u32 {
        steps.extend(by_hand(&format!("{}W{:x}", row % 3, 0x1000 + 16 * row)));
        if row % 7 == 0 {
            let number = row;
            steps.push(event(u16::try_from(row % 3).unwrap(), EventKind::SyscallEnter { number }));
        }
    }
    steps
}

#[test]
fn the_trace_from_a_place_and_then_from_its_start() {
    let mix = mix();
    let (starts, rest) = mix.split_at(3);
    let mut places = Vec::new();
    for seed in 0..20_u64 {
        let (rotated, _) = made(&trace_of(&mix), "rotate", &[&format!("seed={seed}")]).unwrap();
        let rotated = read(&rotated);
        assert_eq!(rotated[..3], *starts, "seed {seed}: threads begin first");
        let place = usize::try_from(Rng::new(seed).below(400)).unwrap();
        let is_there = |step: &Step| accesses(&rest[..=at(rest, step)]).len() == place + 1;
        let cut = rest.iter().position(|s| matches!(s, Step::Access(_)) && is_there(s)).unwrap();
        assert_eq!(rotated[3..], [&rest[cut..], &rest[..cut]].concat(), "seed {seed}");
        places.push(place / 50);
        let lengths = |steps| by_thread(steps).into_values().map(|own| own.len());
        assert!(lengths(&rotated).eq(lengths(&mix)));
    }
    assert!((0..8).all(|chunk| places.contains(&chunk)), "every chunk has a seed: {places:?}");
}

fn at(steps: &[Step], step: &Step) -> usize {
    steps.iter().position(|other| other == step).unwrap()
}

#[test]
fn threads_that_wait_for_each_other_cannot_begin_anywhere() {
    let steps = [by_hand("0W1000"), vec![event(0, EventKind::LockAcquire { addr: 64 })]].concat();
    let error = made(&trace_of(&steps), "rotate", &[]).unwrap_err().to_string();
    assert!(error.starts_with("transform rotate: its threads synchronise"), "{error}");
}

#[test]
fn a_trace_without_references_stays() {
    let steps = [event(0, EventKind::ThreadStart { stack_low: 0, stack_high: 0 })];
    let (made, _) = made(&trace_of(&steps), "rotate", &["seed=3"]).unwrap();
    assert_eq!(read(&made), steps);
}
