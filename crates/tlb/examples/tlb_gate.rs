//! Counts the misses of the six designs at seven page sizes over a small trace: the work whose
//! instructions CI counts. Prints misses, so that nothing is optimised away.

use homenode_base::{BlockSize, ReferenceFilter, Rng};
use homenode_tlb::{ProcessorShare, TABLE, TlbCounter, TlbSetup};
use homenode_trace::Batch;

/// References in one round, and rounds.
const REFERENCES: usize = 50_000;
const ROUNDS: usize = 20;

/// Eight threads that take turns every 100 references. Each walks along three arrays of its own,
/// reads a table that all share, and returns to its stack in between.
fn batch() -> Batch {
    let mut rng = Rng::new(1);
    let mut steps = [0u64; 8];
    let mut batch = Batch::default();
    for i in 0..REFERENCES {
        let thread = i / 100 % 8;
        let base = 0x100_0000 * (1 + u64::try_from(thread).unwrap_or(0));
        let step = &mut steps[thread];
        *step += 1;
        let addr = match *step % 8 {
            0 => 0x10_0000 + rng.below(1 << 16) * 8,
            1..=3 => base + 0x10_0000 * (*step % 8) + *step,
            _ => base + 0x80_0000 + *step % 16 * 8,
        };
        batch.turns.push(u16::try_from(thread).unwrap_or(0));
        batch.kind.push(0);
        batch.size.push(8);
        batch.addr.push(addr & !7);
    }
    batch
}

fn main() {
    let sizes = (7..14).filter_map(|shift| BlockSize::new(1 << shift).ok());
    let setup = TlbSetup {
        tlbs: TABLE.iter().map(|entry| entry.geometry).collect(),
        page_sizes: sizes.collect(),
        processors: 8,
        filter: ReferenceFilter::default(),
    };
    let batch = batch();
    let mut counter = TlbCounter::new(&setup, ProcessorShare::WHOLE);
    (0..ROUNDS).for_each(|_| counter.push(&batch));
    let counts = counter.finish();
    for (tlb, entry) in TABLE.iter().enumerate() {
        println!("{}: {} misses", entry.name, counts.misses(tlb, 0));
    }
}
