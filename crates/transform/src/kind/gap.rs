//! The gap perturbation: single processors pause, as page moves would make them.

use homenode_base::{Access, Rng};
use homenode_trace::{Event, Metadata};

use crate::entry::{Entry, Transform};
use crate::output::TransformOutput;
use crate::param::{SEED, TransformParam};
use crate::queue::Queue;

/// A saved reference is emitted next with this chance in [`OF`] (thesis section 4.3: 2/3).
const SAVED: u64 = 2;
const OF: u64 = 3;

/// The gap perturbation of thesis section 4.3.
///
/// At each reference, with a chance of one in 30,000, a gap begins for one processor: for the next
/// 4,000 references of the trace its own are saved in a queue. Once the gap has ended, as long as
/// there are saved references, the next one to be emitted is a saved one with a chance of 2/3 and a
/// fresh one otherwise.
///
/// # Deviations
/// Where the thesis is silent: the processor is chosen among those that have made a reference so
/// far, each with the same chance; there is one gap at a time, and none begins while references are
/// saved; saved references are emitted in order, and a fresh one by the same processor is queued
/// after them, so that every thread's own order is kept. References saved when the trace ends are
/// emitted at its end.
/// Events stay between the same references of their thread, a fetch counts as a reference, and
/// threads stand for processors.
pub const ENTRY: Entry = Entry {
    name: "gap",
    summary: "hold the references of one thread back for a while, at random",
    source: "Bolosky 1993, section 4.3",
    params: &[
        SEED,
        TransformParam {
            name: "every",
            default: "30000",
            form: "N",
            doc: "a gap begins with a chance of one in N references",
        },
        TransformParam {
            name: "length",
            default: "4000",
            form: "N",
            doc: "references that a gap lasts; 0 changes nothing",
        },
    ],
    pieces: false,
    several: false,
    build: |values, _| {
        let seed = values.count("seed", 0..=u64::MAX)?.unwrap_or(0);
        Ok(Box::new(Gap {
            rng: Rng::new(seed),
            every: values.count("every", 1..=u64::MAX)?.unwrap_or(1),
            length: values.count("length", 0..=1 << 24)?.unwrap_or(0),
            threads: Vec::new(),
            is_known: Vec::new(),
            held: None,
            left: 0,
            saved: Queue::default(),
        }))
    },
};

struct Gap {
    rng: Rng,
    every: u64,
    length: u64,
    /// Threads in the order of their first references.
    threads: Vec<u16>,
    is_known: Vec<bool>,
    /// The thread in a gap, or with saved references after one.
    held: Option<u16>,
    /// References until the gap ends.
    left: u64,
    saved: Queue,
}

impl Gap {
    fn add_thread(&mut self, thread: u16) {
        let place = usize::from(thread);
        if place >= self.is_known.len() {
            self.is_known.resize(place + 1, false);
        }
        if !self.is_known[place] {
            self.is_known[place] = true;
            self.threads.push(thread);
        }
    }
}

impl Transform for Gap {
    fn access(&mut self, access: &Access, out: &mut TransformOutput) {
        self.add_thread(access.thread);
        // After a gap, saved references may be emitted before this one.
        while self.held.is_some() && self.left == 0 {
            if self.saved.is_empty() {
                self.held = None;
            } else if self.rng.below(OF) < SAVED {
                self.saved.emit(out);
            } else {
                break;
            }
        }
        if self.held.is_none() && self.length > 0 && self.rng.below(self.every) == 0 {
            let threads = u64::try_from(self.threads.len()).unwrap_or(u64::MAX);
            let chosen = usize::try_from(self.rng.below(threads)).unwrap_or(0);
            self.held = Some(self.threads[chosen]);
            self.left = self.length;
        }
        if self.held == Some(access.thread) {
            self.saved.access(access);
            if self.left == 0 {
                self.saved.emit(out);
            }
        } else {
            out.access(access);
        }
        self.left = self.left.saturating_sub(1);
    }

    fn event(&mut self, event: &Event, out: &mut TransformOutput) {
        if self.held == Some(event.thread) {
            self.saved.event(event, out);
        } else {
            out.event(event.clone());
        }
    }

    fn finish(&mut self, out: &mut TransformOutput) {
        while !self.saved.is_empty() {
            self.saved.emit(out);
        }
    }

    fn metadata(&self, metadata: &mut Metadata) {
        if self.length > 0 {
            metadata.order = format!("{}, perturbed by gaps", metadata.order);
        }
    }
}
