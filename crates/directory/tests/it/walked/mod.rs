//! What holds in every walk through references to blocks.

use homenode_directory::MessageWay;
use homenode_directory::walk::{ActCause, DirectoryScene, DirectoryWalk};

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
        for act in &step.acts {
            assert_eq!(act.cause == ActCause::Message, act.message.is_some());
            if let Some(message) = act.message {
                assert_eq!(act.node, message.to);
                assert_eq!(message.way == MessageWay::Within, message.from == message.to);
                number += u64::from(message.way == MessageWay::Network);
                assert_eq!(message.number.unwrap_or(number), number);
            }
        }
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
