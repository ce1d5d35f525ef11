//! Deals a trace out to its processes: references and events in its order become the steps of each.

use std::ops::Range;
use std::sync::Arc;

use homenode_base::{AccessKind, Flags};
use homenode_machine::KernelModel;
use homenode_trace::{Batch, Event, EventKind, ProcessorAreas};
use rustc_hash::FxHashMap;

use super::areas::{Areas, FOLLOWS};
use super::conditions::{Conditions, wakes_of};
use super::kernel::Kernel;
use super::stream::{Dealt, Item, Step};
use super::translation::Translation;
use crate::setup::Reading;

/// System calls of Linux on x86-64 that may wait: `read`, `write`, `poll`, `select`, `pread64`,
/// `pwrite64`, `readv`, `writev`, `nanosleep`, `accept`, `sendto`, `recvfrom`, `sendmsg`,
/// `recvmsg`, `wait4`, `fsync`, `fdatasync`, `futex`, `epoll_wait`, `clock_nanosleep`, `waitid`,
/// `pselect6`, `ppoll`, `epoll_pwait`, `accept4`.
const MAY_WAIT: [u32; 25] = [
    0, 1, 7, 17, 18, 19, 20, 23, 35, 43, 44, 45, 46, 47, 61, 74, 75, 202, 230, 232, 247, 270, 271,
    281, 288,
];

/// An episode of a barrier: from the first arrival to the last departure.
struct Episode {
    number: u64,
    /// Whether somebody has left; who comes now is in the next episode.
    leaving: bool,
}

/// Instructions of a process whose references were left out, where the trace counts instructions:
/// they are among those before its next reference.
#[derive(Clone, Copy, Default)]
struct Passed {
    instructions: u32,
    /// Whether the last one was fetched, and the next reference may be its own.
    fetched: bool,
    /// Whether fetches are not left out: they are all the instructions there are.
    fetches: bool,
}

impl Passed {
    fn leave_out(&mut self, gap: u32, step: Step) {
        let own = u32::from(step != Step::Fetch || self.fetched);
        self.instructions = self.instructions.saturating_add(gap).saturating_add(own);
        self.fetched = step == Step::Fetch;
    }

    /// Instructions before a reference with this gap that is not left out.
    fn keep(&mut self, gap: u32, step: Step) -> u32 {
        let fetches = self.fetches || step == Step::Fetch;
        let before = std::mem::replace(self, Self { fetches, ..Self::default() });
        if fetches { 0 } else { before.instructions.saturating_add(gap) }
    }
}

/// Deals a trace out to its processes: thread i of the trace is process i.
pub struct Dealer {
    reading: Reading,
    private: Vec<Range<u64>>,
    translation: Option<Translation>,
    areas: Option<Areas>,
    kernel: Option<Kernel>,
    /// Whether there were references of a kernel.
    captured: bool,
    /// The processor of the traced system that each process runs on.
    recorded: Vec<usize>,
    steps: Vec<Vec<Item>>,
    /// The address space that each process was last seen in.
    pids: Vec<Option<u32>>,
    /// Whether references of several address spaces came from one thread.
    mixed: bool,
    begun: Vec<bool>,
    ended: Vec<bool>,
    /// Processes of which nothing more is taken.
    closed: Vec<bool>,
    /// Instructions of references that were left out, by process.
    passed: Vec<Passed>,
    episodes: FxHashMap<u64, Episode>,
    /// Arrivals by episode.
    arrived: Vec<u32>,
    /// The episode that a process is in, by process and barrier.
    inside: FxHashMap<(usize, u64), u64>,
    conditions: Conditions,
}

impl Dealer {
    /// For so many processes. Without translation, addresses are those of memory.
    #[must_use]
    pub fn new(
        processes: usize,
        reading: Reading,
        private: &[Range<u64>],
        translation: Option<Translation>,
    ) -> Self {
        Self {
            reading,
            private: private.to_vec(),
            translation,
            areas: None,
            kernel: None,
            captured: false,
            recorded: (0..processes).collect(),
            steps: vec![Vec::new(); processes],
            pids: vec![None; processes],
            mixed: false,
            begun: vec![false; processes],
            ended: vec![false; processes],
            closed: vec![false; processes],
            passed: vec![Passed::default(); processes],
            episodes: FxHashMap::default(),
            arrived: Vec::new(),
            inside: FxHashMap::default(),
            conditions: Conditions::new(processes),
        }
    }

    /// What the kernel had for each processor follows the processors that are simulated: a
    /// reference to the area of the processor it was made on, which is thread i for process i or
    /// what the last marker `processor N` of the process says, becomes one to the area of the
    /// processor that makes it. One to the area of another processor becomes one to the area of
    /// the processor as many further on. Where addresses are translated this has no effect.
    #[must_use]
    pub fn with_areas(mut self, areas: &ProcessorAreas) -> Self {
        self.areas = Some(Areas::new(areas)).filter(|_| self.translation.is_none());
        self
    }

    /// Makes what a kernel refers to at system calls and ticks of the timer; buffers are chosen by
    /// the seed.
    #[must_use]
    pub fn with_kernel(mut self, model: &KernelModel, seed: u64) -> Self {
        self.kernel = Some(Kernel::new(*model, self.reading, seed));
        self
    }

    /// Whether the trace has references of a kernel.
    #[must_use]
    pub fn has_kernel(&self) -> bool {
        self.captured
    }

    /// Whether a thread made references of several processes, as processors of a whole system do.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.mixed
    }

    /// Deals the next batch of the trace.
    pub fn deal(&mut self, batch: &Batch) -> Dealt {
        let mut events = batch.events.iter().peekable();
        for row in 0..batch.len() {
            while let Some((_, event)) =
                events.next_if(|(at, _)| usize::try_from(*at).is_ok_and(|at| at <= row))
            {
                self.event(event);
            }
            self.reference(batch, row);
        }
        events.for_each(|(_, event)| self.event(event));
        let dealt = self.steps.iter_mut().enumerate().filter(|(_, steps)| !steps.is_empty());
        let steps = dealt.map(|(process, steps)| (process, Arc::from(std::mem::take(steps))));
        Dealt { steps: steps.collect(), closed: Vec::new() }
    }

    fn reference(&mut self, batch: &Batch, row: usize) {
        let reading = self.reading;
        let mut flags = Flags(batch.flags.get(row).copied().unwrap_or(0));
        let step = match AccessKind::from_code(batch.kind[row]) {
            Some(AccessKind::Read) | None => Step::Read,
            Some(AccessKind::Write) => Step::Write,
            Some(AccessKind::Atomic) => Step::Atomic,
            Some(AccessKind::Fetch) => Step::Fetch,
        };
        let left_out = (step == Step::Fetch && !reading.fetches)
            || (flags.contains(Flags::PRIVATE) && !reading.private)
            || (flags.contains(Flags::SYNC) && !reading.synchronisation);
        let (process, addr) = (usize::from(batch.thread[row]), batch.addr[row]);
        let gap = batch.gap.get(row).copied();
        if left_out {
            gap.into_iter().for_each(|gap| self.passed[process].leave_out(gap, step));
            return;
        }
        let count = gap.map_or(0, |gap| self.passed[process].keep(gap, step));
        self.captured |= flags.contains(Flags::KERNEL);
        if let Some(made) = self.kernel.as_mut().and_then(|kernel| kernel.tick(process)) {
            made.into_iter().for_each(|item| self.push(process, item));
        }
        let flagged = flags.contains(Flags::PRIVATE) && reading.private_areas;
        let private = flagged || self.private.iter().any(|range| range.contains(&addr));
        flags = Flags(flags.0 & !Flags::PRIVATE.0 | if private { Flags::PRIVATE.0 } else { 0 });
        let pid = batch.pid.get(row).copied().unwrap_or(0);
        if self.pids[process] != Some(pid) {
            self.move_to(process, pid);
        }
        let size = batch.size[row].max(1);
        let mut item = Item { size, flags: flags.0, count, ..Item::step(step, addr) };
        if let Some(areas) = &self.areas
            && let Some(relative) = areas.relative(self.recorded[process], addr)
        {
            (item.addr, item.flags) = (relative, item.flags | FOLLOWS);
        }
        if let Some(translation) = &mut self.translation {
            let kernel = flags.contains(Flags::KERNEL);
            let room = u8::try_from(translation.room(addr)).unwrap_or(u8::MAX);
            item.addr = translation.address(pid, kernel, addr);
            if room < size {
                // The next page is in another frame.
                let first = Item { size: room, ..item };
                self.push(process, first);
                let rest = addr.saturating_add(u64::from(room));
                if let Some(translation) = &mut self.translation {
                    item.addr = translation.address(pid, kernel, rest);
                }
                item.size = size - room;
                (item.continues, item.count) = (true, 0);
            }
        }
        self.push(process, item);
    }

    /// A process makes references in an address space, other than the one before, if any.
    fn move_to(&mut self, process: usize, pid: u32) {
        if self.pids[process].replace(pid).is_some() {
            self.mixed = true;
        } else if let Some(translation) = &mut self.translation {
            translation.claim(process, pid);
        }
    }

    /// Takes nothing more of a process, be it that it never did.
    pub fn close(&mut self, process: usize) {
        self.closed[process] = true;
    }

    fn push(&mut self, process: usize, item: Item) {
        if self.closed[process] {
            return;
        }
        self.begun[process] = true;
        self.steps[process].extend(self.conditions.before(process, &item));
        self.steps[process].push(item);
    }

    fn step(&mut self, process: usize, step: Step, addr: u64) {
        self.push(process, Item::step(step, addr));
    }

    fn event(&mut self, event: &Event) {
        let process = usize::from(event.thread);
        if process >= self.steps.len() {
            return;
        }
        match &event.what {
            EventKind::LockAcquire { addr } => self.step(process, Step::Acquire, *addr),
            EventKind::LockRelease { addr } => self.step(process, Step::Release, *addr),
            EventKind::BarrierEnter { addr } => self.arrive(process, *addr),
            EventKind::BarrierLeave { addr } => self.depart(process, *addr),
            EventKind::ThreadCreate { child } => {
                let number = usize::from(*child);
                if self.begun.get(number) == Some(&false) {
                    self.step(number, Step::Born, 0);
                }
                self.step(process, Step::Create, u64::from(*child));
            }
            EventKind::ThreadJoin { child } => {
                self.end(usize::from(*child));
                self.step(process, Step::Join, u64::from(*child));
            }
            EventKind::ThreadExit => self.end(process),
            EventKind::SyscallEnter { number } => {
                if let Some(kernel) = &mut self.kernel {
                    let made = kernel.call(process, *number);
                    made.into_iter().for_each(|item| self.push(process, item));
                }
                if MAY_WAIT.contains(number) {
                    self.step(process, Step::Yield, 0);
                }
            }
            EventKind::Map { addr, size, shared: true, object } => {
                if let Some(translation) = &mut self.translation {
                    translation.map((process, self.pids[process]), (*addr, *size), object);
                }
            }
            EventKind::Unmap { addr, .. } => {
                if let Some(translation) = &mut self.translation {
                    translation.unmap((process, self.pids[process]), *addr);
                }
            }
            EventKind::Marker { text } => {
                if let Some(number) = text.strip_prefix("processor ") {
                    self.recorded[process] = number.parse().unwrap_or(self.recorded[process]);
                }
            }
            EventKind::ConditionWait { addr } => {
                self.conditions.wait(process, *addr);
            }
            EventKind::ConditionWake { addr } => {
                self.conditions.wake(*addr);
                self.step(process, Step::Arrive, wakes_of(*addr));
            }
            EventKind::ThreadStart { .. }
            | EventKind::Alloc { .. }
            | EventKind::Free { .. }
            | EventKind::Map { .. }
            | EventKind::SyscallExit { .. }
            | EventKind::Fork { .. }
            | EventKind::InitDone
            | EventKind::Phase { .. } => {}
        }
    }

    /// The process ends, if it has not before.
    fn end(&mut self, process: usize) {
        if self.ended.get(process) == Some(&false) {
            self.ended[process] = true;
            self.step(process, Step::Exit, 0);
        }
    }

    fn arrive(&mut self, process: usize, barrier: u64) {
        let next = self.arrived.len() as u64;
        let episode =
            self.episodes.entry(barrier).or_insert(Episode { number: next, leaving: false });
        if episode.leaving {
            *episode = Episode { number: next, leaving: false };
        }
        let number = episode.number;
        if number == next {
            self.arrived.push(0);
        }
        self.arrived[usize::try_from(number).unwrap_or(0)] += 1;
        self.inside.insert((process, barrier), number);
        self.step(process, Step::Arrive, number);
    }

    /// Who leaves waits for all that had arrived when the first one left; one that was at the
    /// barrier before the trace began waits for nobody.
    fn depart(&mut self, process: usize, barrier: u64) {
        let Some(number) = self.inside.remove(&(process, barrier)) else { return };
        if let Some(episode) = self.episodes.get_mut(&barrier)
            && episode.number == number
        {
            episode.leaving = true;
        }
        let count = self.arrived[usize::try_from(number).unwrap_or(0)];
        self.push(process, Item { count, ..Item::step(Step::Depart, number) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(thread: u16, what: EventKind) -> (u32, Event) {
        (0, Event { thread, what })
    }

    fn dealt(dealer: &mut Dealer, batch: &Batch) -> Vec<Vec<(Step, u64, u32)>> {
        let dealt = dealer.deal(batch);
        let mut all = vec![Vec::new(); dealer.steps.len()];
        for (process, steps) in dealt.steps {
            all[process] = steps.iter().map(|item| (item.step, item.addr, item.count)).collect();
        }
        all
    }

    #[test]
    fn episodes_of_a_barrier_are_told_apart() {
        let mut dealer = Dealer::new(3, Reading::default(), &[], None);
        let enter = |thread| event(thread, EventKind::BarrierEnter { addr: 64 });
        let leave = |thread| event(thread, EventKind::BarrierLeave { addr: 64 });
        // Process 0 is at the barrier again before process 1 has left it, and once alone.
        let events =
            vec![leave(2), enter(0), enter(1), leave(0), enter(0), leave(1), enter(1), leave(0)];
        let all = dealt(&mut dealer, &Batch { events, ..Batch::default() });
        let (arrive, depart) = (Step::Arrive, Step::Depart);
        let first = [(arrive, 0, 0), (depart, 0, 2), (arrive, 1, 0)];
        assert_eq!(all[0], [&first[..], &[(depart, 1, 2)]].concat());
        assert_eq!(all[1], first);
        assert_eq!(all[2], []);
    }

    #[test]
    fn children_wait_for_their_birth_and_parents_for_their_end() {
        let mut dealer = Dealer::new(3, Reading::default(), &[], None);
        let create = |child| event(0, EventKind::ThreadCreate { child });
        let events = vec![create(1), event(2, EventKind::LockAcquire { addr: 8 }), create(2)];
        let all = dealt(&mut dealer, &Batch { events, ..Batch::default() });
        assert_eq!(all[1], [(Step::Born, 0, 0)]);
        assert_eq!(all[2], [(Step::Acquire, 8, 0)], "it ran before the trace says so");
        let join = event(0, EventKind::ThreadJoin { child: 1 });
        let events = vec![event(2, EventKind::ThreadExit), join.clone(), join];
        let all = dealt(&mut dealer, &Batch { events, ..Batch::default() });
        assert_eq!(all[1], [(Step::Exit, 0, 0)]);
        assert_eq!(all[2], [(Step::Exit, 0, 0)]);
        assert_eq!(all[0], [(Step::Join, 1, 0); 2]);
    }

    #[test]
    fn a_reference_that_straddles_pages_comes_in_two_parts() {
        let mut dealer = Dealer::new(1, Reading::default(), &[], Some(Translation::new(12, 1)));
        let batch = Batch {
            thread: vec![0; 2],
            kind: vec![1; 2],
            size: vec![16; 2],
            addr: vec![0x1ff8, 0x1ff0],
            ..Batch::default()
        };
        let steps = dealer.deal(&batch).steps.remove(0).1;
        let parts: Vec<(u64, u8, bool)> =
            steps.iter().map(|item| (item.addr & 0xfff, item.size, item.continues)).collect();
        assert_eq!(parts, [(0xff8, 8, false), (0, 8, true), (0xff0, 16, false)]);
        assert_ne!(steps[1].addr, steps[0].addr + 8);
        assert_eq!(steps[2].addr + 8, steps[0].addr);
    }

    #[test]
    fn instructions_of_what_is_left_out_are_before_what_is_not() {
        let private = Flags::PRIVATE.0;
        let batch = Batch {
            thread: vec![0, 0, 1, 0, 0, 0, 0, 0, 0],
            kind: vec![0, 0, 0, 0, 3, 3, 3, 1, 0],
            size: vec![4; 9],
            addr: vec![0; 9],
            flags: vec![0, private, 0, 0, 0, 0, 0, 0, 0],
            gap: vec![5, 7, 1, 2, 0, 0, 0, 0, 3],
            ..Batch::default()
        };
        let counts = |reading, batch: &Batch| {
            let dealt = Dealer::new(2, reading, &[], None).deal(batch).steps.remove(0).1;
            dealt.iter().map(|item| item.count).collect::<Vec<_>>()
        };
        // A private reference is one instruction, with seven before it; of three fetches the last
        // is that of the store.
        let some = Reading { fetches: false, private: false, ..Reading::default() };
        assert_eq!(counts(some, &batch), [5, 10, 2, 3]);
        // Where fetches are not left out, they are what is counted from the first one on.
        assert_eq!(counts(Reading::default(), &batch), [5, 7, 2, 0, 0, 0, 0, 0]);
        // A trace that does not count instructions has references only.
        assert_eq!(counts(some, &Batch { gap: Vec::new(), ..batch }), [0; 4]);
    }

    #[test]
    fn what_is_mapped_before_the_first_reference_is_of_its_process() {
        let mut dealer = Dealer::new(3, Reading::default(), &[], Some(Translation::new(12, 1)));
        let map = |thread, addr| {
            let object = "shm".to_owned();
            event(thread, EventKind::Map { addr, size: 4096, shared: true, object })
        };
        let lock = EventKind::LockAcquire { addr: 8 };
        let unmap = EventKind::Unmap { addr: 0x3000, size: 4096 };
        let events = vec![map(0, 0x1000), map(1, 0x2000), event(1, lock), map(2, 0x3000)];
        let batch = Batch {
            thread: vec![0, 1, 2],
            kind: vec![0; 3],
            size: vec![4; 3],
            addr: vec![0x1010, 0x2010, 0x3010],
            pid: vec![7, 8, 9],
            events: [events, vec![event(2, unmap)]].concat(),
            ..Batch::default()
        };
        let steps = dealer.deal(&batch).steps;
        let addrs: Vec<u64> = steps.iter().map(|(_, steps)| steps[steps.len() - 1].addr).collect();
        assert_eq!(addrs[0], addrs[1]);
        assert_ne!(addrs[1], addrs[2], "it was unmapped");
        assert!(!dealer.is_mixed());
    }

    #[test]
    fn what_is_left_out_is_not_dealt() {
        let reading = Reading { fetches: false, private_areas: false, ..Reading::default() };
        let ranges = Range { start: 64, end: 128 };
        let mut dealer = Dealer::new(1, reading, &[ranges], None);
        let batch = Batch {
            thread: vec![0; 3],
            kind: vec![3, 0, 0],
            size: vec![4; 3],
            addr: vec![0, 32, 64],
            flags: vec![0, Flags::PRIVATE.0 | Flags::KERNEL.0, 0],
            ..Batch::default()
        };
        let steps = dealer.deal(&batch).steps.remove(0).1;
        let flags: Vec<u8> = steps.iter().map(|item| item.flags).collect();
        assert_eq!(flags, [Flags::KERNEL.0, Flags::PRIVATE.0]);
    }
}
