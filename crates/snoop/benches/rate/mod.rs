//! The time that work takes.

use std::sync::OnceLock;
use std::time::Instant;

/// Seconds that this thread has had a processor: on Linux that leaves out what other programs take.
/// Elsewhere seconds since the first call.
fn seconds() -> f64 {
    static START: OnceLock<Instant> = OnceLock::new();
    let start = START.get_or_init(Instant::now);
    let statistics = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = statistics.and_then(|text| text.split(' ').next()?.parse::<f64>().ok());
    nanoseconds.map_or_else(|| start.elapsed().as_secs_f64(), |ns| ns / 1e9)
}

/// Millions of references per second, the best of three.
pub fn rate(references: usize, mut work: impl FnMut()) -> f64 {
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let start = seconds();
        work();
        best = best.min(seconds() - start);
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate is a rounded figure")]
    let rate = references as f64 / best / 1e6;
    rate
}
