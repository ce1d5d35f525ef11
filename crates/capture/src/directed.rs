//! A program whose threads run when a simulation says so.
//!
//! The other half is `directed.c` of the runtime. A list of turns is put into the shared area; the
//! threads take them one after the other, and what they recorded is read when all are over.

use std::time::{Duration, Instant};

use homenode_base::Access;
use homenode_trace::{
    Batch, Event, EventKind, LiveBatch, LiveFact, LiveMark, LiveProgram, LiveTurn, NO_LIMIT_NS,
    TraceWriter,
};
use serde::Serialize;

use crate::area::SharedArea;
use crate::child::{Ending, Traced};
use crate::emulator::Emulator;
use crate::error::CaptureError;
use crate::item::{DecodedItem, ItemSink};
use crate::off_processor::OffProcessor;
use crate::options::RecordOptions;
use crate::record::{
    counts_instructions, discard, greet, make_area, metadata, note_emulator, prepare, start_error,
    system, writer_options,
};
use crate::ring::RingReader;
use crate::sink::RecordingSink;
use crate::wire::{RELEASED_AT, TAKEN_AT, TURNS_AT, TURNS_MAX, at};

/// How often the end of a list of turns is looked for before it is waited for asleep: about as long
/// as a sleep and a wake-up take, so that at most twice the time of either is lost. Not often where
/// the program has the same processor.
const LOOKS: u32 = 4000;
const LOOKS_TOGETHER: u32 = 20;
/// The program has been pinned to a processor when it takes its first lists.
const LISTS_TO_PIN: u64 = 4;
/// Longest sleep, after which it is seen whether the program has ended.
const IDLE: Duration = Duration::from_millis(1);
/// How long something is waited for when no thread can go on.
const PATIENCE: Duration = Duration::from_millis(100);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);
/// 64-bit words with a bit for each thread.
const THREAD_WORDS: usize = 64;

/// What a run came to, on the program's side.
#[derive(Clone, Debug, Serialize)]
pub struct DirectedSummary {
    /// The trace, if one was written.
    pub output: Option<String>,
    /// References of all kinds.
    pub references: u64,
    /// Largest number of threads at one time.
    pub threads: u16,
    /// Wall time.
    pub wall_time_s: f64,
    /// References per second.
    pub references_per_second: f64,
    /// Lists of turns, and turns.
    pub lists: u64,
    /// Turns of threads.
    pub turns: u64,
    /// Exit code of the program, if it ended by itself.
    pub exit_code: Option<i32>,
    /// Signal that ended it.
    pub signal: Option<i32>,
    /// How often the turn was taken from a thread that waited in code without hooks: if not 0, two
    /// runs may differ.
    pub forced_turns: u32,
    /// How often a thread came back from a wait that the runtime does not see through: if not 0,
    /// two runs may differ.
    pub outside_waits: u32,
    /// Threads that were not simulated.
    pub lost_threads: u32,
    /// Content checksum of the trace.
    pub checksum: String,
}

/// A program that runs as a simulation says.
pub struct DirectedProgram<'a> {
    options: RecordOptions,
    /// If the program runs in one.
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
    strays: u32,
    /// Keeps this thread off the program's processor, once that is known.
    off: Option<OffProcessor>,
    references: u64,
    threads: u16,
    began: Instant,
    told: Instant,
    progress: &'a mut dyn FnMut(u64) -> bool,
}

impl<'a> DirectedProgram<'a> {
    /// Starts a program, of which no thread runs yet. Without an output no trace is written.
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
            off: None,
            references: 0,
            threads: 0,
            began: Instant::now(),
            told: Instant::now(),
            progress,
        })
    }

    /// Removes what a run that failed has written.
    pub fn discard(options: &RecordOptions) {
        if !options.output.is_empty() {
            // An error of the removal is ignored in favour of the one that led here.
            let _ = std::fs::remove_file(homenode_trace::partial_path(options.output.as_ref()));
        }
    }

    /// Completes the trace of a program that has ended; `order` says in which order it ran.
    ///
    /// # Errors
    /// When the trace cannot be written, or nothing ran.
    pub fn finish(self, order: &str) -> Result<DirectedSummary, CaptureError> {
        let Some(ending) = self.ending else {
            unreachable!("a simulation is over when its program is")
        };
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
            note_emulator(&mut metadata, self.emulator.as_ref());
            metadata.provenance = vec!["run".to_owned()];
            summary.checksum = self.sink.finish(metadata, &self.area)?.summary.checksum;
            summary.output = Some(self.options.output.clone());
        }
        Ok(summary)
    }

    /// Puts down a list of turns.
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

    /// Reads all that was recorded.
    fn drain(&mut self, done: &mut LiveBatch) {
        let Self { ring, area, sink, references, threads, gaps, .. } = self;
        let mut taker = BatchTaker { sink, references, threads, gaps: *gaps, done };
        while ring.drain(area, &mut taker) > 0 {}
    }

    /// What happened to threads that the simulation does not know of.
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

    fn take_bits(&self, place: usize) -> Vec<u16> {
        let mut threads = Vec::new();
        for word in 0..THREAD_WORDS {
            let bits = self.area.swap64(place + word * 8, 0);
            let of_word = (0..64).filter(|bit| bits >> bit & 1 == 1);
            threads.extend(of_word.filter_map(|bit| u16::try_from(word * 64 + bit).ok()));
        }
        threads
    }

    /// What has to be seen to now and then. Returns whether the program has ended.
    fn look_after(&mut self) -> Result<bool, CaptureError> {
        greet(&self.area, &mut self.sink);
        if self.area.get(at::FORK_FD) != 0 {
            // A child of `fork` runs by itself, and is not simulated.
            self.area.set(at::FORK_FD, u32::MAX);
            self.area.wake(at::FORK_FD);
        }
        if self.told.elapsed() >= PROGRESS_EVERY {
            self.told = Instant::now();
            if !(self.progress)(self.references) {
                return Err(self.stop());
            }
        }
        self.ending = self.child.ending().map_err(system("wait for the program"))?;
        Ok(self.ending.is_some())
    }

    /// The run was interrupted: ends the program.
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
        let looks_max = if self.off.is_some() { LOOKS } else { LOOKS_TOGETHER };
        let mut looks = 0;
        loop {
            // First whether all is over, then what was recorded until then.
            let over = self.is_done();
            self.drain(done);
            if over {
                if self.off.is_none() && self.lists < LISTS_TO_PIN {
                    self.off = OffProcessor::of(self.area.get(at::CLAIMED_BY));
                }
                self.note_strays(done);
                let something = !done.rows.is_empty() || !done.marks.is_empty();
                if something || !done.released.is_empty() || !patience {
                    break;
                }
            }
            looks += 1;
            if looks < looks_max && !over {
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
                looks = 0;
                self.sleep();
            }
        }
        if self.told.elapsed() >= PROGRESS_EVERY && !done.over {
            done.over = self.look_after()?;
        }
        Ok(())
    }
}

/// Adds a reference.
#[inline]
fn push(rows: &mut Batch, access: &Access, gaps: bool) {
    if gaps {
        rows.gap.push(access.gap);
    }
    rows.thread.push(access.thread);
    rows.kind.push(access.kind.code());
    rows.size.push(access.size);
    rows.addr.push(access.addr);
    rows.flags.push(access.flags.0);
}

/// The number of the next row.
fn row(done: &LiveBatch) -> u32 {
    u32::try_from(done.rows.len()).unwrap_or(u32::MAX)
}

/// Takes what was recorded for the trace and for the simulation.
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

/// Notes what is no reference, if the simulation has to know it. Returns how many threads there are
/// because of it.
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
        | DecodedItem::Alloc { .. }
        | DecodedItem::Clock { .. }
        | DecodedItem::Sync(..)
        | DecodedItem::Stamp(_) => {}
    }
    0
}
