//! Time accounting of processors.

use serde::Serialize;

/// The cycles of a processor by use; their sum is the length of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProcessorTime {
    /// Executing operations and instructions.
    pub busy: u64,
    /// Stalled while it had a process.
    pub delay: u64,
    /// Without a process.
    pub idle: u64,
}

/// Why a processor that has a process stalls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StallCause {
    /// A read, or a full instruction window.
    Read,
    /// A write, or a full store buffer.
    Write,
    /// A synchronisation operation, or the references before it.
    Sync,
    /// The operating system: a page that is not mapped.
    System,
}

/// The cycles of [`ProcessorTime::delay`] by cause.
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

/// The times of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ClockTime {
    /// Cycles until all processes had ended and the memory system was idle.
    pub cycles: u64,
    /// The time of each processor.
    pub processors: Vec<ProcessorTime>,
    /// The stall time of each processor.
    pub stalls: Vec<StallTime>,
    /// Context switches.
    pub switches: u64,
    /// Switches to a process that last ran on another processor.
    pub migrations: u64,
    /// Deadlocks that were broken by ending the wait of one process.
    pub deadlocks_broken: u64,
    /// What each process did, if processes restart; else empty.
    pub shares: Vec<ProcessShare>,
}

/// What a process did in a run in which processes restart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct ProcessShare {
    /// Its references in the trace.
    pub own: u64,
    /// References that it began, those of a modelled kernel's context switches among them.
    pub begun: u64,
}

impl ProcessorTime {
    /// The fraction of its processes' time that was not spent stalled; 0 if it had no process.
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

    /// How often each process performed its references; empty unless processes restart.
    pub fn rounds(&self) -> impl Iterator<Item = f64> {
        self.shares.iter().filter_map(|share| ratio(share.begun, share.own))
    }
}

/// The critical point: the number of processors, of those simulated, beyond which one more adds
/// less than 0.5 to the global system power, which is interpolated linearly between them. `None` if
/// each adds more.
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

/// The quotient of two cycle counts; `None` if `whole` is 0.
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
