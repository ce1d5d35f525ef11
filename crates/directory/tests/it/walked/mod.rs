//! What holds in every walk, and what is asked of several kinds.

use homenode_cache::walk::WrittenStep;
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::MessageWay;
use homenode_directory::walk::{ActCause, ControllerAct, DirectoryScene, DirectoryWalk};

/// The messages of some acts between different nodes.
pub fn messages_of<E>(acts: &[ControllerAct<E>]) -> String {
    let messages = acts.iter().filter_map(|act| act.message);
    let crossing = messages.filter(|message| message.way == MessageWay::Network);
    let list: Vec<String> = crossing.map(|m| format!("{}-{} {}", m.from, m.to, m.name)).collect();
    list.join(", ")
}

/// The steps of a walk for the clock: each process does its own, `apart` cycles after one another
/// when it is their turn.
pub fn processes(nodes: u16, steps: &[WrittenStep], apart: u32) -> Vec<Vec<Operation>> {
    let mut all = vec![Vec::new(); usize::from(nodes)];
    let mut done = vec![0; usize::from(nodes)];
    for (number, step) in (1u32..).zip(steps) {
        let own = usize::from(step.thread());
        // Locks that are always free.
        let lock = 0x9000_0000 + 64 * u64::from(number);
        all[own].push(match step {
            WrittenStep::Access(access) | WrittenStep::Begins(access) => {
                let turns = number - std::mem::replace(&mut done[own], number);
                let kind = if access.kind.writes() { OpKind::Write } else { OpKind::Read };
                let count = apart * turns;
                Operation { size: access.size, count, ..Operation::new(kind, access.addr) }
            }
            WrittenStep::Acquire(_) => Operation::new(OpKind::Acquire, lock),
            WrittenStep::Release(_) => Operation::new(OpKind::Release, lock),
        });
    }
    all
}

/// Messages are causes, at their receivers; those that cross are numbered, after `number` earlier
/// ones.
pub fn check_acts<E>(acts: &[ControllerAct<E>], number: &mut u64) {
    for act in acts {
        assert_eq!(act.cause == ActCause::Message, act.message.is_some());
        let Some(message) = act.message else { continue };
        assert_eq!(act.node, message.to);
        assert_eq!(message.way == MessageWay::Within, message.from == message.to);
        *number += u64::from(message.way == MessageWay::Network);
        assert_eq!(message.number.unwrap_or(*number), *number);
    }
}

/// What follows from one step to the next, and within one, holds in every walk.
pub fn check_links<C>(walk: &DirectoryWalk<C>, total: impl Fn(&C) -> u64) {
    let mut scenes = &walk.start;
    let mut number = 0;
    for (nth, step) in walk.steps.iter().enumerate() {
        let block = step.block.unwrap();
        let states = |scenes: &[DirectoryScene]| -> Vec<&str> {
            scenes[block].data.copies.iter().map(|copy| copy.state).collect()
        };
        assert_eq!((&states(scenes), &states(&step.scenes)), (&step.before, &step.after), "{nth}");
        assert!(!step.acts.is_empty(), "step {nth} uses no cell of the table");
        check_acts(&step.acts, &mut number);
        assert_eq!(total(step.messages.as_ref().unwrap()), number, "messages so far, step {nth}");
        let last = step.acts.iter().rfind(|act| act.block == step.block).unwrap();
        assert_eq!(last.entry.state, step.scenes[block].entry.state);
        let scene = &step.scenes[block];
        for copy in scene.data.copies.iter().chain(&scene.proxy_copies) {
            let values = copy.values.is_empty() || copy.values == scene.data.latest;
            assert!(values, "every copy has the last write");
        }
        for &position in &scene.entry.in_proxy_caches {
            let node = usize::from(scene.entry.listed[position]);
            assert_ne!(scene.proxy_copies[node].state, "I", "who is listed has a copy");
        }
        scenes = &step.scenes;
    }
}
