//! Deterministic traces for benchmarks and instruction counts.
#![allow(dead_code, reason = "each program uses some of these")]

use homenode_base::{Access, AccessKind, Rng};

/// A synthetic trace: its name and its references.
pub type Synthetic = (&'static str, fn(u64) -> Vec<Access>);

/// All synthetic traces.
pub const TABLE: &[Synthetic] =
    &[("matrix-sweep", matrix_sweep), ("eight-threads", eight_threads), ("random", random)];

/// `count` references of C = A * B on square matrices of doubles, one thread.
pub fn matrix_sweep(count: u64) -> Vec<Access> {
    const ORDER: u64 = 128;
    let mut rows = Vec::new();
    for step in 0..count.div_ceil(3) {
        let (k, j, i) = (step % ORDER, step / ORDER % ORDER, step / ORDER / ORDER % ORDER);
        rows.push(reference(0, 0x40_0010, 0x10_0000 + 8 * (i * ORDER + k)));
        rows.push(reference(0, 0x40_0018, 0x20_0000 + 8 * (k * ORDER + j)));
        rows.push(reference(0, 0x40_0020, 0x30_0000 + 8 * (i * ORDER + j)));
    }
    rows.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    rows
}

/// Eight threads in turns of 100 references, each over its part of a five-point stencil.
pub fn eight_threads(count: u64) -> Vec<Access> {
    const WIDTH: u64 = 66;
    let mut done = [0u64; 8];
    let mut rows = Vec::new();
    for turn in 0..count.div_ceil(100) {
        let thread = turn % 8;
        for _ in 0..100 {
            let step = &mut done[usize::try_from(thread).unwrap_or(0)];
            let (site, cell) = (*step % 6, *step / 6 % (WIDTH * 64));
            *step += 1;
            let centre = 0x10_0000 * (thread + 1) + 8 * (cell + WIDTH);
            let offset = [0, 8, -8, 8 * 66, -8 * 66, 0x40_0000][usize::try_from(site).unwrap_or(0)];
            let pc = 0x40_0100 + 8 * site;
            let thread = u16::try_from(thread).unwrap_or(0);
            rows.push(reference(thread, pc, centre.wrapping_add_signed(offset)));
        }
    }
    rows.truncate(usize::try_from(count).unwrap_or(usize::MAX));
    rows
}

/// Random references by four threads: the worst case.
pub fn random(count: u64) -> Vec<Access> {
    let mut rng = Rng::new(1);
    let one = |_| {
        let thread = u16::try_from(rng.below(4)).unwrap_or(0);
        reference(thread, 0x40_0000 + 4 * rng.below(1000), 8 * rng.below(1 << 20))
    };
    (0..count).map(one).collect()
}

fn reference(thread: u16, pc: u64, addr: u64) -> Access {
    let kind = if pc.is_multiple_of(32) { AccessKind::Write } else { AccessKind::Read };
    Access { pc, ..Access::new(thread, kind, addr, 8) }
}
