//! Worker threads and memory budgets.

use std::path::Path;

use homenode_placement::HistoryBuilder;

use crate::error::{SimError, config_error};

/// Most worker threads; more only take memory.
const THREADS_MAX: usize = 1024;

pub(crate) fn check_threads(threads: Option<usize>) -> Result<(), SimError> {
    if threads.is_none_or(|n| (1..=THREADS_MAX).contains(&n)) {
        return Ok(());
    }
    Err(config_error(format!("--threads: worker threads must be from 1 to {THREADS_MAX}")))
}

pub(crate) fn thread_pool(threads: Option<usize>) -> Result<rayon::ThreadPool, SimError> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .build()
        .map_err(|e| config_error(format!("worker threads: {e}; use fewer with --threads")))
}

/// Files with the memory of the system and of this process's control group, which inside a
/// container is the root.
const SYSTEM: &str = "/proc/meminfo";
const GROUP: &str = "/sys/fs/cgroup";

/// Bytes that this process can allocate without swapping; `None` if unknown.
pub(super) fn available_bytes() -> Option<u64> {
    let system = std::fs::read_to_string(SYSTEM).ok().and_then(|text| of_system(&text));
    let group = of_group(Path::new(GROUP));
    system.into_iter().chain(group).min()
}

fn of_system(text: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// The remainder of a control group's limit (version 2), if it has one.
fn of_group(folder: &Path) -> Option<u64> {
    let read = |file: &str| -> Option<u64> {
        std::fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok()
    };
    Some(read("memory.max")?.saturating_sub(read("memory.current")?))
}

/// Default memory budget of histories, in bytes.
const BUDGET_BYTES: u64 = 1_500_000_000;

/// The final size of histories is predicted after one in this many of the references.
const FORESEEN_AFTER: u64 = 64;

pub(crate) fn budget_bytes(requested: Option<u64>) -> u64 {
    requested.unwrap_or(BUDGET_BYTES)
}

/// The divisor of available memory that gives the budget of word events.
const EVENTS_PART: u64 = 4;

/// Memory budget of word events, in bytes; if they exceed it, the trace is read again for the rest.
pub(crate) fn events_budget_bytes(requested: Option<u64>) -> u64 {
    let part = || available_bytes().unwrap_or(0) / EVENTS_PART;
    requested.unwrap_or_else(|| part().max(BUDGET_BYTES))
}

#[derive(Clone, Copy)]
pub(crate) struct MemoryBudget {
    bytes: u64,
    references: u64,
    /// Builders that always continue, whatever memory they take.
    least: usize,
}

impl MemoryBudget {
    pub(crate) fn new(bytes: u64, references: u64, least: usize) -> Self {
        Self { bytes, references, least }
    }

    /// The number of builders that can continue after this many references without exceeding the
    /// budget at the end of the trace; the others drop their histories. `besides` is the additional
    /// memory for a given number of builders.
    pub(crate) fn keep(
        self,
        builders: &mut [HistoryBuilder],
        seen: u64,
        besides: impl Fn(usize) -> u64,
    ) -> usize {
        let mut keep = builders.len();
        if seen > self.references / FORESEEN_AFTER {
            let more = u128::from(self.references.max(seen));
            let mut bytes: u128 = builders.iter().map(|b| u128::from(b.bytes())).sum();
            let budget = |keep| u128::from(self.bytes.saturating_sub(besides(keep)));
            while keep > self.least && bytes * more > budget(keep) * u128::from(seen) {
                keep -= 1;
                bytes -= u128::from(builders[keep].bytes());
                builders[keep].give_up();
            }
        }
        let share =
            self.bytes.saturating_sub(besides(keep)) / u64::try_from(keep).unwrap_or(1).max(1);
        builders[..keep].iter_mut().for_each(|builder| builder.allow(share));
        keep
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn available_memory_is_in_kilobytes() {
        let text = "MemTotal:       24684380 kB\nMemAvailable:   23882000 kB\nCached: 1 kB\n";
        assert_eq!(of_system(text), Some(23_882_000 << 10));
        assert_eq!(of_system("MemTotal: 5 kB\n"), None);
        assert_eq!(of_system("MemAvailable: much kB\n"), None);
    }

    #[test]
    fn a_control_group_has_its_limit_less_its_usage() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(of_group(folder.path()), None);
        std::fs::write(folder.path().join("memory.current"), "1000\n").unwrap();
        std::fs::write(folder.path().join("memory.max"), "max\n").unwrap();
        assert_eq!(of_group(folder.path()), None, "no limit");
        std::fs::write(folder.path().join("memory.max"), "5000\n").unwrap();
        assert_eq!(of_group(folder.path()), Some(4000));
    }
}
