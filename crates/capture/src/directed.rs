//! A program whose threads are scheduled by a simulation.
//!
//! The other half is `directed.c` of the runtime. A list of turns is written to the shared area;
//! the threads take the turns one after the other, and their records are read as they come until
//! all turns are over.

use std::time::{Duration, Instant};

use homenode_base::Access;
use homenode_trace::{
    Batch, Event, EventKind, LiveBatch, LiveFact, LiveMark, LiveProgram, LiveTurn, NO_LIMIT_NS,
    TraceWriter,
};
use serde::Serialize;

use crate::area::SharedArea;
use crate::child::{Ending, Traced};
use crate::cpu_exclusion::CpuExclusion;
use crate::drain::{ProgressReporter, greet};
use crate::emulator::Emulator;
use crate::error::CaptureError;
use crate::item::{DecodedItem, ItemSink};
use crate::options::RecordOptions;
use crate::record::{
    counts_instructions, discard, make_area, metadata, prepare, start_error, system, tool_name,
    writer_options,
};
use crate::ring::RingReader;
use crate::sink::RecordingSink;
use crate::wire::{RELEASED_AT, TAKEN_AT, TURNS_AT, TURNS_MAX, at};

/// Polls for the end of a list of turns before sleeping: they take about as long as a sleep and a
/// wake-up, so at most twice the shorter of the two is lost.
const POLLS: u32 = 4000;
/// The same while the program may be on the processor of this thread.
const POLLS_ON_SHARED_CPU: u32 = 20;
/// Number of lists within which the program pins itself to a processor.
const LISTS_TO_PIN: u64 = 4;
/// Longest sleep before a check whether the program has ended.
const IDLE: Duration = Duration::from_millis(1);
/// How long to wait for something from outside when no thread can run.
const PATIENCE: Duration = Duration::from_millis(100);
/// Number of 64-bit words with a bit for each thread.
const THREAD_WORDS: usize = 64;

/// The program's side of the result of a run.
#[derive(Clone, Debug, Serialize)]
pub struct DirectedSummary {
    /// The trace, if one was written.
    pub output: Option<String>,
    /// Number of references of all kinds.
    pub references: u64,
    /// Largest number of threads at one time.
    pub threads: u16,
    /// Wall time.
    pub wall_time_s: f64,
    /// References per second.
    pub references_per_second: f64,
    /// Number of lists of turns.
    pub lists: u64,
    /// Number of turns.
    pub turns: u64,
    /// Exit code of the program, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// How often the turn was taken from a thread that waited in code without hooks: if not 0, two
    /// runs may differ.
    pub forced_turns: u32,
    /// How often a thread returned from waiting for something outside the program: if not 0, two
    /// runs may differ.
    pub outside_waits: u32,
    /// Threads that were not simulated.
    pub lost_threads: u32,
    /// Content checksum of the trace.
    pub checksum: String,
}

/// A program that is scheduled by a simulation.
pub struct DirectedProgram<'a> {
    options: RecordOptions,
    /// `None` if the program runs natively.
    emulator: Option<Emulator>,
    /// Whether instructions between references are counted.
    gaps: bool,
    area: SharedArea,
    child: Traced,
    ring: RingReader,
    sink: RecordingSink,
    ending: Option<Ending>,
    /// Number of the last list of turns.
    list: u32,
    lists: u64,
    turns: u64,
    /// Last value of [`at::STRAYS`].
    strays: u32,
    /// Keeps this thread off the program's processor, once that is known.
    cpu_exclusion: Option<CpuExclusion>,
    references: u64,
    threads: u16,
    began: Instant,
    progress: ProgressReporter<'a>,
}

impl<'a> DirectedProgram<'a> {
    /// Starts a program; no thread of it runs yet. Without an output no trace is written.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn start(
        options: &RecordOptions,
        progress: &'a mut dyn FnMut(u64) -> bool,
    ) -> Result<Self, CaptureError> {
        options.check_program()?;
        if options.whole_system() {
            let (expected, found) = ("cc or qemu", options.via.clone());
            return Err(CaptureError::Option { option: "via", expected, found });
        }
        let (emulator, launch) = prepare(options)?;
        let area = make_area(options)?;
        area.set(at::DIRECTED, 1);
        let sink = if options.output.is_empty() {
            RecordingSink::unwritten()
        } else {
            let writer = TraceWriter::create(&options.output, writer_options(options))?;
            RecordingSink::new(writer)
        };
        let child = match Traced::start(&launch, Some(area.fd())) {
            Ok(child) => child,
            Err(source) => return Err(discard(options, start_error(options, source))),
        };
        Ok(Self {
            options: options.clone(),
            emulator,
            gaps: counts_instructions(options),
            area,
            child,
            ring: RingReader::new(0),
            sink,
            ending: None,
            list: 0,
            lists: 0,
            turns: 0,
            strays: 0,
            cpu_exclusion: None,
            references: 0,
            threads: 0,
            began: Instant::now(),
            progress: ProgressReporter::new(progress),
        })
    }

    /// Removes the partial trace of a failed run.
    pub fn discard(options: &RecordOptions) {
        if !options.output.is_empty() {
            // The error that led here matters more than one of the removal.
            let _ = std::fs::remove_file(homenode_trace::partial_path(options.output.as_ref()));
        }
    }

    /// Completes the trace of a program that has ended; `order` describes the order of its threads.
    ///
    /// # Errors
    /// When the trace cannot be written, or nothing ran.
    pub fn finish(self, order: &str) -> Result<DirectedSummary, CaptureError> {
        let Some(ending) = self.ending else { unreachable!("a simulation ends after its program") };
        if self.area.get(at::CLAIMED_BY) == 0 {
            let program = self.options.argv[0].clone();
            return Err(discard(&self.options, CaptureError::NotInstrumented { program }));
        }
        let wall_time_s = self.began.elapsed().as_secs_f64();
        let mut summary = DirectedSummary {
            output: None,
            references: self.references,
            threads: self.threads,
            wall_time_s,
            references_per_second: crate::record::per_second(self.references, wall_time_s),
            lists: self.lists,
            turns: self.turns,
            exit_code: ending.exit_code,
            signal: ending.signal,
            forced_turns: self.area.get(at::FORCED),
            outside_waits: self.area.get(at::OUTSIDE),
            lost_threads: self.area.get(at::LOST_THREADS),
            checksum: String::new(),
        };
        if !self.options.output.is_empty() {
            let mut metadata = metadata(&self.options, &self.area, ending, wall_time_s);
            let strays = summary.forced_turns + summary.outside_waits + summary.lost_threads;
            let repeats = if strays == 0 { "repeatable" } else { "sequentially consistent" };
            metadata.order = format!("{order} {repeats}");
            metadata.tool = tool_name(self.emulator.as_ref());
            metadata.provenance = vec!["run".to_owned()];
            summary.checksum = self.sink.finish(metadata, &self.area)?.summary.checksum;
            summary.output = Some(self.options.output.clone());
        }
        Ok(summary)
    }

    /// Writes a list of turns for the program to take.
    fn grant(&mut self, turns: &[LiveTurn]) {
        let area = &self.area;
        for (index, turn) in turns.iter().enumerate().take(TURNS_MAX) {
            let place = TURNS_AT + index * 32;
            area.set(place, turn.thread.into());
            area.set(place + 4, turn.references);
            area.set(place + 8, turn.timed_out.into());
            area.set(place + 12, turn.exact.into());
            area.swap64(place + 16, turn.now_ns);
        }
        let count = turns.len().min(TURNS_MAX);
        area.set(at::TURNS_COUNT, u32::try_from(count).unwrap_or(0));
        self.list = self.list.wrapping_add(1);
        (self.lists, self.turns) = (self.lists + 1, self.turns + count as u64);
        area.set(at::TURNS_MADE, self.list);
        if area.get(at::PROGRAM_WAITS) != 0 {
            area.wake(at::TURNS_MADE);
        }
    }

    /// Reads all records written so far.
    fn drain(&mut self, done: &mut LiveBatch) {
        let Self { ring, area, sink, references, threads, gaps, .. } = self;
        let mut taker = BatchTaker { sink, references, threads, gaps: *gaps, done };
        while ring.drain(area, &mut taker) > 0 {}
    }

    /// Notes threads that lost their turn to the watchdog, and threads that run by themselves
    /// again.
    fn note_strays(&mut self, done: &mut LiveBatch) {
        let strays = self.area.get(at::STRAYS);
        if std::mem::replace(&mut self.strays, strays) == strays {
            return;
        }
        let row = row(done);
        for thread in self.take_bits(TAKEN_AT) {
            let pauses = LiveFact::Pauses { limit_ns: NO_LIMIT_NS };
            done.marks.push((row, LiveMark::Fact(thread, pauses)));
        }
        done.released.extend(self.take_bits(RELEASED_AT));
    }

    /// Clears the bits at an offset of the shared area; returns the threads of those that were set.
    fn take_bits(&self, place: usize) -> Vec<u16> {
        let mut threads = Vec::new();
        for word in 0..THREAD_WORDS {
            let bits = self.area.swap64(place + word * 8, 0);
            let of_word = (0..64).filter(|bit| bits >> bit & 1 == 1);
            threads.extend(of_word.filter_map(|bit| u16::try_from(word * 64 + bit).ok()));
        }
        threads
    }

    /// Handles what happens rarely. Returns whether the program has ended.
    fn look_after(&mut self) -> Result<bool, CaptureError> {
        greet(&self.area, &mut self.sink);
        if self.area.get(at::FORK_FD) != 0 {
            // Refuses the child of `fork`, which runs by itself and is not simulated.
            self.area.set(at::FORK_FD, u32::MAX);
            self.area.wake(at::FORK_FD);
        }
        if self.progress.is_due() && !self.progress.report(self.references) {
            return Err(self.stop());
        }
        self.ending = self.child.ending().map_err(system("wait for the program"))?;
        Ok(self.ending.is_some())
    }

    /// Ends the program of an interrupted run.
    fn stop(&mut self) -> CaptureError {
        while self.ending.is_none() {
            self.child.end();
            self.ending = self.child.ending().ok().flatten();
            std::thread::sleep(IDLE);
        }
        let error = CaptureError::Interrupted { references: self.references };
        if self.options.output.is_empty() { error } else { discard(&self.options, error) }
    }

    /// Whether all turns of the list are over.
    fn is_done(&self) -> bool {
        self.area.get(at::TURNS_DONE) == self.list
    }

    /// Sleeps until the list may be done, or for [`IDLE`].
    fn sleep(&self) {
        self.area.set(at::DIRECTOR_WAITS, 1);
        let done = self.area.get(at::TURNS_DONE);
        if done != self.list {
            self.area.wait(at::TURNS_DONE, done, IDLE);
        }
        self.area.set(at::DIRECTOR_WAITS, 0);
    }
}

impl LiveProgram for DirectedProgram<'_> {
    type Error = CaptureError;

    fn run(
        &mut self,
        turns: &[LiveTurn],
        patience: bool,
        done: &mut LiveBatch,
    ) -> Result<(), CaptureError> {
        done.clear();
        if self.ending.is_some() {
            done.over = true;
            return Ok(());
        }
        if !turns.is_empty() {
            self.grant(turns);
        }
        let asked = Instant::now();
        let polls_max = if self.cpu_exclusion.is_some() { POLLS } else { POLLS_ON_SHARED_CPU };
        let mut polls = 0;
        loop {
            // In this order, so that all records of a list that is over are read.
            let over = self.is_done();
            self.drain(done);
            if over {
                if self.cpu_exclusion.is_none() && self.lists < LISTS_TO_PIN {
                    self.cpu_exclusion = CpuExclusion::of(self.area.get(at::CLAIMED_BY));
                }
                self.note_strays(done);
                let something = !done.rows.is_empty() || !done.marks.is_empty();
                if something || !done.released.is_empty() || !patience {
                    break;
                }
            }
            polls += 1;
            if polls < polls_max && !over {
                std::hint::spin_loop();
                continue;
            }
            if self.look_after()? {
                self.drain(done);
                done.over = true;
                break;
            }
            if over {
                if asked.elapsed() > PATIENCE {
                    break;
                }
                std::thread::sleep(IDLE);
            } else {
                polls = 0;
                self.sleep();
            }
        }
        if self.progress.is_due() && !done.over {
            done.over = self.look_after()?;
        }
        Ok(())
    }
}

#[inline]
fn push(rows: &mut Batch, access: &Access, gaps: bool) {
    if gaps {
        rows.gap.push(access.gap);
    }
    rows.turns.push(access.thread);
    rows.kind.push(access.kind.code());
    rows.size.push(access.size);
    rows.addr.push(access.addr);
    rows.flags.push(access.flags.0);
}

/// Index of the next row.
fn row(done: &LiveBatch) -> u32 {
    u32::try_from(done.rows.len()).unwrap_or(u32::MAX)
}

/// Passes items on to the trace and to the simulation.
struct BatchTaker<'a> {
    sink: &'a mut RecordingSink,
    references: &'a mut u64,
    threads: &'a mut u16,
    /// Whether instructions between references are counted.
    gaps: bool,
    done: &'a mut LiveBatch,
}

impl ItemSink for BatchTaker<'_> {
    #[inline(always)]
    fn access(&mut self, access: Access) {
        if let Some(access) = self.sink.flagged(access) {
            *self.references += 1;
            push(&mut self.done.rows, &access, self.gaps);
            self.sink.write(access);
        }
    }

    fn other(&mut self, item: DecodedItem) {
        *self.threads = (*self.threads).max(note(&item, self.done));
        self.sink.other(item);
    }
}

/// Passes an item that is not a reference on to the simulation, if that uses it. Returns the number
/// of threads that follows from the start of a thread, else 0.
fn note(item: &DecodedItem, done: &mut LiveBatch) -> u16 {
    let at = row(done);
    match item {
        DecodedItem::Event(thread, what) | DecodedItem::Map { thread, what, .. } => {
            if !matches!(what, EventKind::Free { .. }) {
                let event = Event { thread: *thread, what: what.clone() };
                done.marks.push((at, LiveMark::Event(event)));
            }
        }
        DecodedItem::Fact(thread, fact) => done.marks.push((at, LiveMark::Fact(*thread, *fact))),
        DecodedItem::Start { thread, .. } => return thread.saturating_add(1),
        DecodedItem::Access(_)
        | DecodedItem::Private { .. }
        | DecodedItem::System(..)
        | DecodedItem::Alloc(_)
        | DecodedItem::Clock { .. }
        | DecodedItem::Sync(..)
        | DecodedItem::Stamp(_) => {}
    }
    0
}
