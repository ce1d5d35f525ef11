//! Random machines and traces, and an engine's counts by the oracle's names.

use std::collections::BTreeMap;

use homenode_base::Rng;
use homenode_snoop::{BusCounts, CoherenceCounts, MissCounts};

use super::{Machine, Ref};

/// The counts by the oracle's names, without those that are 0.
pub fn named(counts: &BusCounts) -> BTreeMap<String, u64> {
    let t = &counts.transactions;
    let mut all = vec![
        ("references".to_owned(), counts.references),
        ("kernel references".to_owned(), counts.kernel.references),
        ("read_block_memory".to_owned(), t.read_block_memory),
        ("read_block_cache".to_owned(), t.read_block_cache),
        ("read_invalidate_memory".to_owned(), t.read_invalidate_memory),
        ("read_invalidate_cache".to_owned(), t.read_invalidate_cache),
        ("invalidate".to_owned(), t.invalidate),
        ("write".to_owned(), t.write),
        ("update_block".to_owned(), t.update_block),
    ];
    let mut part = |prefix: &str, m: &MissCounts, s: &CoherenceCounts| {
        for (name, value) in [
            ("cold", m.cold),
            ("replacement", m.replacement),
            ("invalidation_true", m.invalidation_true),
            ("invalidation_false", m.invalidation_false),
            ("invalidation_passive", m.invalidation_passive),
            ("removal", m.removal),
            ("coherence_true", s.true_sharing),
            ("coherence_false", s.false_sharing),
            ("coherence_passive", s.passive),
        ] {
            all.push((format!("{prefix}{name}"), value));
        }
    };
    part("", &counts.misses, &counts.coherence);
    part("kernel ", &counts.kernel.misses, &counts.kernel.coherence);
    if let Some(misses) = counts.context_switch_misses {
        all.push(("context switch cold".to_owned(), misses.cold));
        all.push(("context switch replacement".to_owned(), misses.replacement));
    }
    let origin = counts.coherence_origin;
    all.extend([
        ("origin user_page".to_owned(), origin.user_page),
        ("origin kernel_page".to_owned(), origin.kernel_page),
        ("origin processor_area".to_owned(), origin.processor_area),
        ("origin other".to_owned(), origin.other),
    ]);
    all.into_iter().filter(|&(_, value)| value > 0).collect()
}

/// References to a few hundred words that processors share in various ways.
pub fn random_trace(rng: &mut Rng, length: usize) -> Vec<Ref> {
    let words = 20 + rng.below(400);
    let writes = 5 + rng.below(50);
    let flags = rng.below(3);
    let threads = if rng.below(4) == 0 { 70 } else { 6 };
    let fetches = rng.below(2) == 0;
    let one = |_| {
        let word = if rng.below(2) == 0 { rng.below(words) } else { rng.below(24) };
        // Every other 64 bytes are private, if anything is; a few references disagree.
        let private = flags > 0 && ((word / 16) % 2 == 1) != (flags > 1 && rng.below(40) == 0);
        let write = rng.below(100) < writes;
        let kernel = flags > 0 && rng.below(4) == 0;
        Ref {
            thread: u16::try_from(rng.below(threads)).unwrap(),
            write,
            fetch: !write && fetches && rng.below(3) == 0,
            addr: 0x1_0000 + word * 4 + if rng.below(20) == 0 { rng.below(4) } else { 0 },
            size: [1, 2, 4, 4, 4, 8, 8, 16, 64][usize::try_from(rng.below(9)).unwrap()],
            private,
            kernel,
            user_page: private && kernel && rng.below(2) == 0,
            of_processor: false,
        }
    };
    (0..length).map(one).collect()
}

/// A machine with small caches, so that all events are frequent.
pub fn random_machine(rng: &mut Rng, protocol: &'static str) -> Machine {
    let block = 16 << rng.below(7);
    let ways = [1, 2, 3, 4, 8, 16, 17, 24][usize::try_from(rng.below(8)).unwrap()];
    let sets = 1 << rng.below(4);
    let split = rng.below(3) == 0;
    let other_ways = [1, 2, 3, 8, 9, 20][usize::try_from(rng.below(6)).unwrap()];
    let instructions = block * other_ways as u64 * (1 << rng.below(3));
    Machine {
        protocol,
        instructions: split.then_some((instructions, other_ways)),
        processors: match rng.below(5) {
            0 => {
                if split {
                    32
                } else {
                    64
                }
            }
            1 => 17,
            _ => usize::try_from(1 + rng.below(6)).unwrap(),
        },
        size: block * ways as u64 * sets,
        block,
        ways,
        torrellas: rng.below(3) == 0,
        private_kernel: protocol.starts_with("pscr") && rng.below(2) == 0,
    }
}
