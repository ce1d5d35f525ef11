//! Another legal interleaving of the threads.

mod precedence;

use std::collections::VecDeque;

use homenode_base::{Access, Rng};
use homenode_trace::{Event, EventKind, Metadata};

use crate::entry::{Entry, Transform};
use crate::output::TransformOutput;
use crate::param::{SEED, TransformParam};
use precedence::{OrderRules, Precedence};

/// Schedules the threads of a trace again in turns of random length, like a recording with another
/// seed, but without the program: the records of each thread, and the order of all synchronisation
/// in the trace, stay as they are.
///
/// A turn has 1 to less than two quanta of references, a quantum on average. Threads take turns in
/// a queue; one whose next record must wait for another thread's is skipped. The file
/// `precedence.rs` has the rules. The recorded order obeys them, so there is always a thread that
/// can continue. The beginnings of the computation and of phases are barriers of all threads.
///
/// Cost: O(1) a reference, and O(threads) when a turn ends. Memory is proportional to the window.
pub const ENTRY: Entry = Entry {
    name: "reinterleave",
    summary: "run the threads in other turns, keeping the order of all synchronisation",
    source: "docs/sensitivity.md",
    params: &[
        SEED,
        TransformParam {
            name: "quantum",
            default: "100",
            form: "Q",
            doc: "average references of a turn; 1 gives turns of exactly one",
        },
        TransformParam {
            name: "window",
            default: "1000000",
            form: "N",
            doc: "references and events to choose from: how far threads can drift apart; 1 \
                  changes nothing",
        },
    ],
    pieces: false,
    several: false,
    build: |values, _| {
        let seed = values.count("seed", 0..=u64::MAX)?.unwrap_or(0);
        Ok(Box::new(Reinterleave {
            rng: Rng::new(seed),
            quantum: values.count("quantum", 1..=1 << 40)?.unwrap_or(1),
            window: values.count("window", 1..=1 << 28)?.unwrap_or(1),
            held: 0,
            rules: OrderRules::default(),
            pending: Vec::new(),
            done: Vec::new(),
            waiting: VecDeque::new(),
            turn: None,
        }))
    },
};

enum DelayedRecord {
    Access(Access),
    Event(Box<EventKind>),
}

#[derive(Default)]
struct DelayedThread {
    records: VecDeque<DelayedRecord>,
    /// Conditions of records, each with the number of the record in the whole trace.
    before: VecDeque<(u64, Precedence)>,
}

struct Reinterleave {
    rng: Rng,
    quantum: u64,
    window: u64,
    held: u64,
    rules: OrderRules,
    pending: Vec<DelayedThread>,
    done: Vec<u64>,
    /// Threads that do not have the turn, in queue order.
    waiting: VecDeque<u16>,
    /// The thread that has the turn, and the references left of it.
    turn: Option<(u16, u64)>,
}

impl Reinterleave {
    fn add_thread(&mut self, thread: u16) {
        while self.pending.len() <= usize::from(thread) {
            self.pending.push(DelayedThread::default());
            self.done.push(0);
        }
        if self.rules.is_new(thread) {
            self.waiting.push_back(thread);
        }
    }

    fn push(&mut self, thread: u16, record: DelayedRecord, out: &mut TransformOutput) {
        let own = &mut self.pending[usize::from(thread)];
        let number = self.done[usize::from(thread)] + own.records.len() as u64;
        let fresh = self.rules.take_conditions(&self.done);
        own.before.extend(fresh.map(|before| (number, before)));
        own.records.push_back(record);
        self.held += 1;
        while self.held >= self.window {
            self.emit(out);
        }
    }

    fn is_ready(&self, thread: u16) -> bool {
        let own = &self.pending[usize::from(thread)];
        let number = self.done[usize::from(thread)];
        let mut first = own.before.iter().take_while(|(of, _)| *of == number);
        !own.records.is_empty() && first.all(|(_, before)| before.is_past(&self.done))
    }

    fn emit(&mut self, out: &mut TransformOutput) {
        let (thread, left) = match self.turn {
            Some((thread, left)) if self.keeps_turn(thread, left) => (thread, left),
            _ => self.next_turn(),
        };
        let own = &mut self.pending[usize::from(thread)];
        let number = self.done[usize::from(thread)];
        while own.before.front().is_some_and(|(of, _)| *of == number) {
            own.before.pop_front();
        }
        let Some(record) = own.records.pop_front() else { return };
        self.done[usize::from(thread)] += 1;
        let is_access = match record {
            DelayedRecord::Access(access) => {
                out.access(&access);
                true
            }
            DelayedRecord::Event(what) => {
                out.event(Event { thread, what: *what });
                false
            }
        };
        self.held -= 1;
        self.turn = Some((thread, left - u64::from(is_access)));
    }

    /// Whether a thread keeps the turn. Events after its last reference belong to the turn.
    fn keeps_turn(&self, thread: u16, left: u64) -> bool {
        let next = self.pending[usize::from(thread)].records.front();
        self.is_ready(thread) && (left > 0 || matches!(next, Some(DelayedRecord::Event(_))))
    }

    /// Gives the turn to the first thread in the queue that is ready.
    fn next_turn(&mut self) -> (u16, u64) {
        self.waiting.extend(self.turn.take().map(|(thread, _)| thread));
        let place = self.waiting.iter().position(|&thread| self.is_ready(thread));
        let place = place.expect("the oldest record of all waits for nothing that is still held");
        let thread = self.waiting.remove(place).expect("a place in the queue");
        (thread, 1 + self.rng.below(2 * self.quantum - 1))
    }

    fn drain(&mut self, out: &mut TransformOutput) {
        while self.held > 0 {
            self.emit(out);
        }
    }
}

impl Transform for Reinterleave {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        self.add_thread(access.thread);
        self.rules.access(access);
        self.push(access.thread, DelayedRecord::Access(*access), out);
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if matches!(event.what, EventKind::InitDone | EventKind::Phase { .. }) {
            self.drain(out);
            out.event(event.clone());
            return;
        }
        self.add_thread(event.thread);
        self.rules.event(event.thread, &event.what);
        self.push(event.thread, DelayedRecord::Event(Box::new(event.what.clone())), out);
    }

    fn finish(&mut self, out: &mut TransformOutput) {
        self.drain(out);
    }

    fn metadata(&self, metadata: &mut Metadata) {
        if self.window > 1 {
            metadata.order = format!("{}, reinterleaved", metadata.order);
        }
    }
}
