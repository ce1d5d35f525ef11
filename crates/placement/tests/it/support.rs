//! Small traces, and their histories.

use std::ops::Range;

use homenode_base::{AccessKind, BlockSize, Rng};
use homenode_placement::{Histories, HistoryBuilder, HistoryOptions, Times};
use homenode_trace::Batch;

/// References of a small trace: (processor, block, write) at Time = index.
pub type Trace = Vec<(u16, u64, bool)>;

/// A trace shorter than `lengths`, with `odds` in ten of a write, in visits that are shorter than
/// `visits[0]` or, mostly, `visits[1]`.
pub fn random_trace(
    rng: &mut Rng,
    processors: u16,
    lengths: u64,
    odds: Range<u64>,
    visits: [u64; 2],
) -> Trace {
    let mut trace = Trace::new();
    let blocks = 1 + rng.below(4);
    let (length, odds) = (rng.below(lengths), odds.start + rng.below(odds.end - odds.start));
    while (trace.len() as u64) < length {
        let p = u16::try_from(rng.below(u64::from(processors))).unwrap();
        let block = rng.below(blocks);
        let longest = if rng.below(3) == 0 { visits[0] } else { visits[1] };
        for _ in 0..1 + rng.below(longest) {
            let block = if rng.below(6) == 0 { rng.below(blocks) } else { block };
            trace.push((p, block, rng.below(10) < odds));
        }
    }
    trace
}

pub fn options(block_bytes: u64, processors: u16) -> HistoryOptions {
    HistoryOptions::new(BlockSize::new(block_bytes).unwrap(), processors)
}

pub fn histories(trace: &Trace, options: HistoryOptions, times: Times) -> Histories {
    let mut batch = Batch::default();
    for &(p, block, write) in trace {
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        batch.turns.push(p);
        batch.kind.push(kind.code());
        batch.size.push(4);
        batch.addr.push(block * options.block_size.bytes());
    }
    let mut builder = HistoryBuilder::new(options).with_times(times);
    builder.push(&batch);
    builder.finish().0
}
