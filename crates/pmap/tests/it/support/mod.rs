//! Random traces, and the histories made of them.

use homenode_base::{AccessKind, BlockSize, Rng};
use homenode_placement::{Histories, HistoryBuilder, HistoryOptions, Times};
use homenode_trace::Batch;

/// References of a small trace: (processor, page, write).
pub type Trace = Vec<(u16, u64, bool)>;

/// Bursts of references by one processor after the other, mostly to one page at a time.
pub fn random_trace(rng: &mut Rng, processors: u16) -> Trace {
    let mut trace = Trace::new();
    let pages = 1 + rng.below(4);
    let (length, odds) = (rng.below(150), rng.below(10));
    while (trace.len() as u64) < length {
        let p = u16::try_from(rng.below(u64::from(processors))).unwrap();
        let page = rng.below(pages);
        for _ in 0..1 + rng.below(5) {
            let page = if rng.below(6) == 0 { rng.below(pages) } else { page };
            trace.push((p, page, rng.below(10) < odds));
        }
    }
    trace
}

/// Histories of 64-byte pages.
pub fn histories(trace: &Trace, processors: u16, times: Times) -> Histories {
    let mut batch = Batch::default();
    for &(p, page, write) in trace {
        let kind = if write { AccessKind::Write } else { AccessKind::Read };
        batch.turns.push(p);
        batch.kind.push(kind.code());
        batch.size.push(4);
        batch.addr.push(page * 64);
    }
    let options = HistoryOptions::new(BlockSize::new(64).unwrap(), processors);
    let mut builder = HistoryBuilder::new(options).with_times(times);
    builder.push(&batch);
    builder.finish().0
}
