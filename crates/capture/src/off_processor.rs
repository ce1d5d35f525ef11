//! Keeps the calling thread off the processor that a program is pinned to: two that wait for each
//! other by looking again and again must not share one. Left alone, the scheduler brings together
//! who wakes and who is woken.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// While it lives, the thread that made it stays away; then it may run where it could before.
#[derive(Debug)]
pub struct OffProcessor {
    before: CpuSet,
}

impl OffProcessor {
    /// Leaves the processor of a process that is pinned to one. `None` if the process is not (yet),
    /// or there is nowhere to go.
    #[must_use]
    pub fn of(pid: u32) -> Option<Self> {
        let pid = Pid::from_raw(i32::try_from(pid).ok()?)?;
        let theirs = sched_getaffinity(Some(pid)).ok()?;
        let before = sched_getaffinity(None).ok()?;
        let mut others = before;
        (0..CpuSet::MAX_CPU).filter(|&cpu| theirs.is_set(cpu)).for_each(|cpu| others.unset(cpu));
        if theirs.count() != 1 || others.count() == 0 {
            return None;
        }
        sched_setaffinity(None, &others).ok()?;
        Some(Self { before })
    }
}

impl Drop for OffProcessor {
    fn drop(&mut self) {
        // A thread that cannot be moved back runs on, on fewer processors.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mine() -> CpuSet {
        sched_getaffinity(None).unwrap()
    }

    #[test]
    fn a_thread_leaves_the_processor_of_a_pinned_process_and_comes_back() {
        let before = mine();
        let mut child = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let pid = Pid::from_child(&child);
        if before.count() > 1 {
            assert!(OffProcessor::of(child.id()).is_none());
        }
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).unwrap();
        let mut one = CpuSet::new();
        one.set(first);
        sched_setaffinity(Some(pid), &one).unwrap();
        let off = OffProcessor::of(child.id());
        assert_eq!(off.is_some(), before.count() > 1);
        assert_eq!(mine().is_set(first), off.is_none());
        drop(off);
        assert_eq!(mine(), before);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
