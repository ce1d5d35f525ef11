//! Selections: contents, beginning and end, compared with a slow search in random traces.

use std::collections::BTreeMap;

use crate::made::{made, written};
use crate::support::{Step, accesses, read, small_chunks};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{Event, EventKind, Metadata, SourceLine, TraceReader};
use homenode_transform::TransformError;

/// Functions with their program counters; `0` is in none.
const FUNCTIONS: [(&str, u64); 4] =
    [("main", 10), ("shop::fill(int)", 20), ("void shop::fill<int>(long)", 30), ("late", 40)];

fn trace_of(steps: &[Step]) -> TraceReader {
    let line = |(name, pc): (&str, u64)| SourceLine {
        pc,
        function: name.to_owned(),
        file: String::new(),
        line: 0,
    };
    let lines = FUNCTIONS.map(line).to_vec();
    written("t.hnt", steps, small_chunks(64), Metadata { lines, ..Metadata::default() })
}

fn selected(trace: &TraceReader, words: &[(&str, &str)]) -> Result<Vec<Step>, TransformError> {
    let words: Vec<String> = words.iter().map(|(name, value)| format!("{name}={value}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    Ok(read(&made(trace, "select", &words)?.0))
}

struct Sample {
    steps: Vec<Step>,
    released: Option<usize>,
}

impl Sample {
    fn random(rng: &mut Rng) -> Self {
        let mut sample = Self { steps: Vec::new(), released: None };
        let threads = 2 + rng.below(4);
        for _ in 0..rng.below(150) {
            sample.reference(rng, 0);
        }
        let mut holder = None;
        for _ in 0..rng.below(300) {
            let thread = u16::try_from(rng.below(threads)).unwrap();
            match rng.below(24) {
                0 => sample.event(thread, EventKind::Marker { text: "m".to_owned() }),
                1 => sample.event(thread, EventKind::Alloc { addr: 64, size: 64, site: 1 }),
                2 => sample.event(thread, EventKind::ThreadCreate { child: thread }),
                3 => match std::mem::take(&mut holder) {
                    None => {
                        sample.event(thread, EventKind::LockAcquire { addr: 8 });
                        holder = Some(thread);
                    }
                    Some(holder) => sample.event(holder, EventKind::LockRelease { addr: 8 }),
                },
                4 => sample.barrier(rng, threads),
                _ => sample.reference(rng, thread),
            }
        }
        sample
    }

    fn event(&mut self, thread: u16, what: EventKind) {
        self.steps.push(Step::Event(Event { thread, what }));
    }

    fn reference(&mut self, rng: &mut Rng, thread: u16) {
        let kind = AccessKind::from_code(u8::try_from(rng.below(4)).unwrap()).unwrap();
        // The last function is rare, so that it begins anywhere.
        let most = if rng.below(40) == 0 { 5 } else { 4 };
        let pc = 10 * rng.below(most);
        let addr = 8 * self.steps.len() as u64;
        self.steps.push(Step::Access(Access { pc, ..Access::new(thread, kind, addr, 4) }));
    }

    /// Some threads arrive one by one, then leave, while others continue.
    fn barrier(&mut self, rng: &mut Rng, threads: u64) {
        let members = 1 + rng.below(threads);
        let addr = 0x100 + 8 * rng.below(2);
        for leave in [false, true] {
            for member in 0..members {
                let thread = u16::try_from(member).unwrap();
                if leave && members > 1 && self.released.is_none() {
                    self.released = Some(self.steps.len());
                }
                let what = if leave {
                    EventKind::BarrierLeave { addr }
                } else {
                    EventKind::BarrierEnter { addr }
                };
                self.event(thread, what);
                if members < threads && rng.below(2) == 0 {
                    self.reference(rng, u16::try_from(threads - 1).unwrap());
                }
            }
        }
    }

    fn at_reference(&self, fits: impl Fn(&Access, usize) -> bool) -> Option<usize> {
        let mut before = 0;
        let at = self.steps.iter().position(|step| match step {
            Step::Access(access) => {
                let found = fits(access, before);
                before += usize::from(access.kind != AccessKind::Fetch);
                found
            }
            Step::Event(_) => false,
        })?;
        let events =
            self.steps[..at].iter().rev().take_while(|step| matches!(step, Step::Event(_)));
        Some(at - events.count())
    }

    fn find(&self, place: &str) -> Option<usize> {
        let data: Vec<Access> = accesses(&self.steps);
        let data: Vec<&Access> = data.iter().filter(|a| a.kind != AccessKind::Fetch).collect();
        let first = data.first().map(|access| access.thread);
        match place {
            "first-thread" => self.at_reference(|access, _| {
                access.kind != AccessKind::Fetch && Some(access.thread) != first
            }),
            "first-barrier" => self.released,
            "time:20%" => self.at_reference(|_, before| before >= data.len() / 5),
            "function:late" => self.at_reference(|access, _| access.pc == 40),
            "function:shop::fill" => self.at_reference(|access, _| [20, 30].contains(&access.pc)),
            _ => self.steps.iter().position(
                |step| matches!(step, Step::Event(e) if matches!(e.what, EventKind::Marker { .. })),
            ),
        }
    }

    fn kept_before(&self, at: usize) -> Vec<Step> {
        let before = &self.steps[..at];
        let stays = |step: &&Step| match step {
            Step::Event(event) => {
                matches!(event.what, EventKind::Alloc { .. } | EventKind::ThreadCreate { .. })
            }
            Step::Access(_) => false,
        };
        let open = before.iter().enumerate().filter(|(at, step)| {
            let Step::Event(event) = step else { return false };
            let ending = if let EventKind::BarrierEnter { addr } = event.what {
                EventKind::BarrierLeave { addr }
            } else if let EventKind::LockAcquire { addr } = event.what {
                EventKind::LockRelease { addr }
            } else {
                return false;
            };
            let ending = Step::Event(Event { thread: event.thread, what: ending });
            !before[*at..].contains(&ending)
        });
        let open = open.map(|(_, step)| step);
        before.iter().filter(stays).chain(open).cloned().collect()
    }
}

#[test]
fn a_selection_begins_where_a_slow_search_finds_its_place() {
    let mut rng = Rng::new(11);
    let mut found = BTreeMap::new();
    for _ in 0..150 {
        let sample = Sample::random(&mut rng);
        let trace = trace_of(&sample.steps);
        for place in [
            "first-thread",
            "first-barrier",
            "time:20%",
            "function:late",
            "function:shop::fill",
            "mark:m",
        ] {
            let made = selected(&trace, &[("from", place)]);
            let Some(at) = sample.find(place).filter(|_| !accesses(&sample.steps).is_empty())
            else {
                assert!(made.is_err(), "{place}");
                continue;
            };
            if accesses(&sample.steps[at..]).is_empty() {
                assert!(made.unwrap_err().to_string().contains("nothing is left"), "{place}");
                continue;
            }
            let mut expected = sample.kept_before(at);
            expected.extend_from_slice(&sample.steps[at..]);
            assert_eq!(made.unwrap(), expected, "{place}");
            let until = selected(&trace, &[("until", place)]);
            if !accesses(&sample.steps[..at]).is_empty() {
                assert_eq!(until.unwrap(), sample.steps[..at], "{place}");
            }
            *found.entry(place).or_insert(0) += 1;
        }
        // The part before first-thread is the serial start.
        let serial = trace.serial_start().unwrap();
        let alone = sample.find("first-thread").map(|at| {
            let before = accesses(&sample.steps[..at]);
            before.iter().filter(|access| access.kind != AccessKind::Fetch).count() as u64
        });
        assert_eq!(serial, alone);
    }
    assert!(found.len() == 6 && found.values().all(|&times| times > 40), "{found:?}");
}

#[test]
fn a_selection_lies_between_two_places() {
    let reference = |thread| Step::Access(Access::new(thread, AccessKind::Read, 64, 4));
    let round = || {
        let event = |thread, what| Step::Event(Event { thread, what });
        let (enter, leave) =
            (EventKind::BarrierEnter { addr: 8 }, EventKind::BarrierLeave { addr: 8 });
        let arrivals = [event(0, enter.clone()), event(1, enter)];
        let departures = [event(0, leave.clone()), event(1, leave)];
        [&[reference(0)][..], &arrivals, &departures, &[reference(1)]].concat()
    };
    let all = [round(), round(), round()].concat();
    let trace = trace_of(&all);
    // From the first release of a barrier to the next one, with the threads at the barrier.
    let made = selected(&trace, &[("from", "first-barrier"), ("until", "first-barrier")]).unwrap();
    assert_eq!(made, all[1..9]);
    // A second thread begins at only one place.
    let words = [("from", "first-thread"), ("until", "first-thread")];
    let error = selected(&trace, &words).unwrap_err().to_string();
    assert!(error.contains("until=first-thread: after the beginning, no second"), "{error}");
}

#[test]
fn a_place_that_the_trace_lacks_is_explained() {
    let one = |thread| Step::Access(Access::new(thread, AccessKind::Read, 64, 4));
    let mark = |text: &str| {
        Step::Event(Event { thread: 0, what: EventKind::Marker { text: text.to_owned() } })
    };
    let alone = trace_of(&[one(0), mark("sorted"), one(0)]);
    for (place, expected) in [
        ("first-thread", "from=first-thread: no second thread begins"),
        ("first-barrier", "no barrier is passed by several threads; give first-thread, time:P% or"),
        ("mark:sort", "from=marker:sort: the trace has no such event; it has marker:sorted"),
        ("function:shop::fil", "no reference is in such a function; near in name are shop::fill, "),
        ("function:late", "from=function:late: no reference is in this function"),
        ("function:", "expected first-thread, first-barrier, time:P%, function:NAME"),
        ("time:20", "from=time:20: expected first-thread"),
        ("time:100%", "expected first-thread"),
        ("time:100%", "or marker:TEXT; P is below 100, as no reference is at 100 %"),
        ("time:1.234%", "expected first-thread"),
    ] {
        let error = selected(&alone, &[("from", place)]).unwrap_err().to_string();
        assert!(error.contains(expected), "{place}: {error}");
    }
    let half = selected(&alone, &[("from", "time:50.5%")]).unwrap();
    assert_eq!(accesses(&half).len(), 1);
    assert_eq!(alone.serial_start().unwrap(), None);
}

#[test]
fn a_lock_released_by_a_waiting_owner_belongs_to_the_next_one() {
    let event = |thread, what| Step::Event(Event { thread, what });
    let lock = EventKind::LockAcquire { addr: 8 };
    let one = |thread| Step::Access(Access::new(thread, AccessKind::Read, 64, 4));
    let all = [
        event(0, lock.clone()),
        one(0),
        event(0, EventKind::ConditionWait { addr: 16 }),
        event(1, lock),
        one(1),
        one(1),
    ];
    let made = selected(&trace_of(&all), &[("time", "2-")]).unwrap();
    assert_eq!(made, [all[3].clone(), all[5].clone()]);
}

#[test]
fn the_kernel_and_single_processes_can_be_kept_or_left_out() {
    let made = |(pid, flags)| Access {
        pid,
        flags: Flags(flags),
        gap: 1,
        ..Access::new(0, AccessKind::Read, 64, 4)
    };
    let rows = [(0, 4), (7, 5), (7, 0), (9, 8), (9, 1)];
    let trace = trace_of(&rows.map(|row| Step::Access(made(row))));
    let kept = |words: &[(&str, &str)]| {
        let rows = accesses(&selected(&trace, words).unwrap()).into_iter();
        rows.map(|access| (access.pid, access.flags.0, access.gap)).collect::<Vec<_>>()
    };
    assert_eq!(kept(&[("kernel", "only")]), [(0, 4, 1), (7, 5, 1), (9, 8, 3)]);
    assert_eq!(kept(&[("kernel", "without")]), [(7, 0, 5), (9, 1, 3)]);
    assert_eq!(kept(&[("pids", "7")]), [(7, 5, 3), (7, 0, 1)]);
    assert_eq!(kept(&[("pids", "1-"), ("kernel", "without")]), [(7, 0, 5), (9, 1, 3)]);
    let error = selected(&trace, &[("kernel", "yes")]).unwrap_err().to_string();
    assert!(error.contains("kernel=yes: expected only or without"), "{error}");
}
