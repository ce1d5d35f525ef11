//! The merge of several traces from the definition, in plain lists.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

use homenode_base::{Access, Flags};
use homenode_trace::{Event, EventKind};

use crate::support::{Step, accesses};

/// The distance of two processes whose addresses have at most 47 bits.
pub const STRIDE: u64 = 1 << 47;

/// The definition: relocates each process into a list of its own, and takes turns from the lists.
pub struct Naive {
    /// Pages that are not relocated.
    pub shared: Vec<u64>,
    /// References of a turn.
    pub quantum: usize,
    /// Whether references of a process with one thread are private.
    pub marks: bool,
}

impl Naive {
    fn stays(&self, addr: u64) -> bool {
        self.shared.contains(&(addr / 0x1000))
    }

    fn address(&self, process: usize, addr: u64) -> u64 {
        if self.stays(addr) { addr } else { addr + process as u64 * STRIDE }
    }

    fn runs(&self, addr: u64, size: u64) -> Vec<(u64, u64)> {
        let mut runs: Vec<(u64, u64)> = Vec::new();
        for page in (addr..addr + size).step_by(0x1000).filter(|&page| !self.stays(page)) {
            match runs.last_mut() {
                Some((start, size)) if *start + *size == page => *size += 0x1000,
                Some(_) | None => runs.push((page, 0x1000)),
            }
        }
        runs
    }

    fn event(&self, process: usize, base: u16, event: &Event) -> Vec<Step> {
        let at = |addr| self.address(process, addr);
        let over = process as u64 * STRIDE;
        let what = match event.what.clone() {
            EventKind::ThreadStart { stack_low: low, stack_high } => {
                vec![EventKind::ThreadStart {
                    stack_low: at(low),
                    stack_high: at(low) + (stack_high - low),
                }]
            }
            EventKind::ThreadCreate { child } => {
                vec![EventKind::ThreadCreate { child: child + base }]
            }
            EventKind::ThreadJoin { child } => vec![EventKind::ThreadJoin { child: child + base }],
            EventKind::LockAcquire { addr } => vec![EventKind::LockAcquire { addr: at(addr) }],
            EventKind::BarrierEnter { addr } => vec![EventKind::BarrierEnter { addr: at(addr) }],
            EventKind::ConditionWake { addr } => vec![EventKind::ConditionWake { addr: at(addr) }],
            EventKind::Alloc { addr, size, site } => {
                let site = if site == 0 { 0 } else { at(site) };
                vec![EventKind::Alloc { addr: at(addr), size, site }]
            }
            EventKind::Free { addr } => vec![EventKind::Free { addr: at(addr) }],
            EventKind::Map { addr, size, shared, object } => {
                let map = |(start, size)| {
                    let object = object.clone();
                    EventKind::Map { addr: start + over, size, shared, object }
                };
                self.runs(addr, size).into_iter().map(map).collect()
            }
            EventKind::Unmap { addr, size } => {
                let unmap = |(start, size)| EventKind::Unmap { addr: start + over, size };
                self.runs(addr, size).into_iter().map(unmap).collect()
            }
            other => vec![other],
        };
        let thread = event.thread + base;
        what.into_iter().map(|what| Step::Event(Event { thread, what })).collect()
    }

    fn maps(&self, thread: u16) -> Vec<Step> {
        let mut pages = self.shared.clone();
        pages.sort_unstable();
        let mut ranges: Vec<(u64, u64)> = Vec::new();
        for page in pages {
            match ranges.last_mut() {
                Some((start, size)) if *start + *size == page * 0x1000 => *size += 0x1000,
                Some(_) | None => ranges.push((page * 0x1000, 0x1000)),
            }
        }
        let map = |(addr, size)| {
            let what = EventKind::Map { addr, size, shared: true, object: String::new() };
            Step::Event(Event { thread, what })
        };
        ranges.into_iter().map(map).collect()
    }

    /// The groups of a process: a reference with the events before it, and the events at the end.
    fn groups(&self, process: usize, base: u16, pids: &[u32], steps: &[Step]) -> Vec<Vec<Step>> {
        let threads: Vec<u16> = accesses(steps).iter().map(|access| access.thread).collect();
        let marks = self.marks && threads.iter().all(|&thread| thread == threads[0]);
        let (mut groups, mut group) = (Vec::new(), Vec::new());
        let mut mapped: Vec<(u64, u64, bool)> = Vec::new();
        let mut pids = pids.iter();
        for step in steps {
            match step {
                Step::Event(event) => {
                    match event.what {
                        EventKind::Map { addr, size, shared, .. } => {
                            mapped.push((addr, addr + size, shared));
                        }
                        EventKind::Unmap { addr, size } => mapped.push((addr, addr + size, false)),
                        _ => {}
                    }
                    group.extend(self.event(process, base, event));
                }
                Step::Access(access) => {
                    let addr = access.addr;
                    let over = |&&(low, high, _): &&(u64, u64, bool)| low <= addr && addr < high;
                    let shared = mapped.iter().rev().find(over).is_some_and(|found| found.2);
                    let private = marks && !shared && !self.stays(addr);
                    let flag = if private { Flags::PRIVATE } else { Flags(0) };
                    let thread = access.thread + base;
                    if groups.is_empty() {
                        group.extend(self.maps(thread));
                    }
                    group.push(Step::Access(Access {
                        thread,
                        addr: self.address(process, addr),
                        pc: if access.pc == 0 { 0 } else { self.address(process, access.pc) },
                        pid: *pids.next().unwrap(),
                        flags: access.flags.union(flag),
                        ..*access
                    }));
                    groups.push(std::mem::take(&mut group));
                }
            }
        }
        if !group.is_empty() {
            groups.push(group);
        }
        groups
    }

    pub fn merge(&self, processes: &[Vec<Step>]) -> Vec<Step> {
        // The order of first references of all processes.
        let order = in_turns(
            processes.iter().enumerate().map(|(i, steps)| {
                // An event at the end takes a turn of its own, but is no reference.
                let ended = matches!(steps.last(), Some(Step::Event(_)));
                let pids = accesses(steps).into_iter().map(|access| Some((i, access.pid)));
                pids.chain(ended.then_some(None)).collect()
            }),
            self.quantum,
        );
        let mut known: Vec<(usize, u32, u32)> = Vec::new();
        let mut pids = vec![Vec::new(); processes.len()];
        let mut fresh = u32::try_from(processes.len()).unwrap();
        for (process, pid) in order.into_iter().flatten() {
            let found = known.iter().find(|&&(of, old, _)| (of, old) == (process, pid));
            let new = found.map(|&(_, _, new)| new).unwrap_or_else(|| {
                let first = known.iter().all(|&(of, _, _)| of != process);
                fresh += u32::from(!first);
                let new = if first { u32::try_from(process).unwrap() + 1 } else { fresh };
                known.push((process, pid, new));
                new
            });
            pids[process].push(new);
        }
        let mut base = 0;
        let mut all = Vec::new();
        for (process, steps) in processes.iter().enumerate() {
            all.push(self.groups(process, base, &pids[process], steps));
            base += threads(steps);
        }
        in_turns(all.into_iter(), self.quantum).concat()
    }
}

fn in_turns<T>(lists: impl Iterator<Item = Vec<T>>, quantum: usize) -> Vec<T> {
    let mut lists: Vec<_> = lists.map(|list| list.into_iter().peekable()).collect();
    let mut all = Vec::new();
    while lists.iter_mut().any(|list| list.peek().is_some()) {
        for list in &mut lists {
            all.extend(list.by_ref().take(quantum));
        }
    }
    all
}

/// One more than the highest thread, including threads that only events name.
fn threads(steps: &[Step]) -> u16 {
    let thread = |step: &Step| match step {
        Step::Access(access) => access.thread,
        Step::Event(Event { thread, what }) => match what {
            EventKind::ThreadCreate { child } | EventKind::ThreadJoin { child } => {
                (*thread).max(*child)
            }
            _ => *thread,
        },
    };
    steps.iter().map(thread).max().map_or(0, |last| last + 1)
}
