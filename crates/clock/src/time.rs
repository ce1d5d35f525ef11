//! Where the cycles of processors went.

use serde::Serialize;

/// Where the cycles of a processor went; together they are all of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessorTime {
    /// Read and write operations.
    pub busy: u64,
    /// Waiting for memory while it had a process.
    pub delay: u64,
    /// Without a process.
    pub idle: u64,
}

/// What a processor that has a process does not go on for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// A read, or the end of the instruction window.
    Read,
    /// A write, or room for one in the store buffer.
    Write,
    /// A synchronisation operation: what comes before it, and itself.
    Sync,
    /// The operating system: a page that is not mapped.
    System,
}

/// The cycles of [`ProcessorTime::delay`] by what they were lost to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StallTime {
    /// [`StallCause::Read`].
    pub read: u64,
    /// [`StallCause::Write`].
    pub write: u64,
    /// [`StallCause::Sync`].
    pub sync: u64,
    /// [`StallCause::System`].
    pub system: u64,
}

impl StallTime {
    pub(crate) fn of(&mut self, cause: StallCause) -> &mut u64 {
        match cause {
            StallCause::Read => &mut self.read,
            StallCause::Write => &mut self.write,
            StallCause::Sync => &mut self.sync,
            StallCause::System => &mut self.system,
        }
    }
}

/// What took how long, as far as processors are concerned.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockTime {
    /// Until all processes were over and the memory system was at rest.
    pub cycles: u64,
    /// Each processor.
    pub processors: Vec<ProcessorTime>,
    /// What each of them was delayed by.
    pub stalls: Vec<StallTime>,
    /// How often a processor took a process.
    pub switches: u64,
    /// How often the process had run on another processor before.
    pub migrations: u64,
    /// How often processes waited for each other in a ring, and one had to be let go.
    pub deadlocks_broken: u64,
}

impl ProcessorTime {
    /// The part of its processes' time that was not spent waiting for memory; 0 if there was none.
    ///
    /// Source: Foglia, Giorgi and Prete 2004, section 4: `(T_cpu - T_delay) / T_cpu`.
    #[must_use]
    pub fn utilisation(&self) -> f64 {
        ratio(self.busy, self.busy + self.delay).unwrap_or(0.0)
    }
}

impl ClockTime {
    /// Global system power: the sum of the processors' utilisations.
    ///
    /// Source: Foglia, Giorgi and Prete 2004, section 4.
    #[must_use]
    pub fn gsp(&self) -> f64 {
        self.processors.iter().map(ProcessorTime::utilisation).sum()
    }
}

/// The number of processors beyond which one more adds less than 0.5 to the global system power, of
/// those simulated; between two of them it is taken to grow evenly. `None` if each adds more.
///
/// Source: Foglia, Giorgi and Prete 2004, section 4.
#[must_use]
pub fn critical_point(mut powers: Vec<(u16, f64)>) -> Option<u16> {
    powers.sort_by_key(|&(processors, _)| processors);
    powers.dedup_by_key(|&mut (processors, _)| processors);
    let saturated = powers.windows(2).find(|pair| {
        let more = f64::from(pair[1].0 - pair[0].0);
        pair[1].1 - pair[0].1 < 0.5 * more
    });
    saturated.map(|pair| pair[0].0)
}

/// A part of some cycles; `None` of none.
#[must_use]
pub fn ratio(part: u64, whole: u64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "cycles stay below 2^53")]
    (whole > 0).then(|| part as f64 / whole as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_critical_point_is_where_one_more_adds_less_than_half() {
        assert_eq!(critical_point(vec![(4, 3.3), (8, 5.6), (12, 7.5)]), Some(8));
        assert_eq!(critical_point(vec![(12, 9.0), (4, 3.3), (8, 6.0)]), None);
        assert_eq!(critical_point(vec![(1, 1.0), (2, 1.5), (3, 1.99)]), Some(2));
        assert_eq!(critical_point(vec![(8, 5.0)]), None);
    }
}
