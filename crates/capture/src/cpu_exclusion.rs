//! Keeps the calling thread off the processor that a program is pinned to: two threads that poll
//! for each other must not share one. The scheduler would move a thread that is woken to the
//! processor of its waker.

use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Excludes the processor from those of the thread until it is dropped.
#[derive(Debug)]
pub struct CpuExclusion {
    before: CpuSet,
}

impl CpuExclusion {
    /// Excludes the processor that a process is pinned to. `None` if the process is not pinned to
    /// one (yet), or the thread may use no other.
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

impl Drop for CpuExclusion {
    fn drop(&mut self) {
        // If this fails, the thread continues on fewer processors.
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
            assert!(CpuExclusion::of(child.id()).is_none());
        }
        let first = (0..CpuSet::MAX_CPU).find(|&cpu| before.is_set(cpu)).unwrap();
        let mut one = CpuSet::new();
        one.set(first);
        sched_setaffinity(Some(pid), &one).unwrap();
        let off = CpuExclusion::of(child.id());
        assert_eq!(off.is_some(), before.count() > 1);
        assert_eq!(mine().is_set(first), off.is_none());
        drop(off);
        assert_eq!(mine(), before);
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
