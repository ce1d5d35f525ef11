//! A recording: starts the program, drains the rings, and completes the trace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use homenode_trace::{Columns, Metadata, TraceWriter, WriterOptions};

use crate::area::{RingGeometry, SharedArea};
use crate::child::{Ending, Launch, Traced};
use crate::emulator::Emulator;
use crate::error::CaptureError;
use crate::forked::ForkedChildren;
use crate::item::ItemSink;
use crate::logical::LogicalMerger;
use crate::options::{Order, RecordOptions, RecordSummary};
use crate::races::RaceDetector;
use crate::ring::{RingMerger, RingReader};
use crate::sink::{FinishedTrace, RecordingSink};
use crate::wire::{MAGIC, ORDER_DETERMINISTIC, ORDER_FREE, ORDER_LOGICAL, RINGS, VERSION, at};

/// 4 MB: small enough to stay in the caches that both processes share.
const DETERMINISTIC_RING: RingGeometry =
    RingGeometry { rings: 1, ring_blocks: 64, block_records: 4096, stack_words: 0 };
/// 1 MB a thread, which takes memory only once the thread exists.
const FREE_RINGS: RingGeometry =
    RingGeometry { rings: RINGS, ring_blocks: 16, block_records: 4096, stack_words: 0 };
/// 4 MB for call stacks of allocations, which take memory only as they are written.
const STACK_WORDS: u32 = 1 << 19;
/// Longest sleep when there is nothing to read; a full block wakes the recorder earlier.
const IDLE: Duration = Duration::from_millis(2);
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The source of items.
pub(crate) enum ItemSource {
    One(RingReader),
    Many(RingMerger),
    Logical(Box<LogicalMerger>),
}

impl ItemSource {
    /// The rings of an area, at their beginning.
    pub(crate) fn new(area: &SharedArea) -> Self {
        match area.get(at::ORDER) {
            ORDER_FREE => Self::Many(RingMerger::default()),
            ORDER_LOGICAL => Self::Logical(Box::new(LogicalMerger::new(area.get(at::QUANTUM)))),
            _ => Self::One(RingReader::new(0)),
        }
    }

    pub(crate) fn drain(
        &mut self,
        area: &SharedArea,
        all: bool,
        sink: &mut impl ItemSink,
    ) -> usize {
        match self {
            Self::One(reader) => reader.drain(area, sink),
            Self::Many(merger) => merger.drain(area, all, sink),
            Self::Logical(merger) => merger.drain(area, all, sink),
        }
    }

    /// The races among what has been drained, if they are looked for.
    pub(crate) fn races(&self) -> Option<&RaceDetector> {
        match self {
            Self::Logical(merger) => Some(merger.races()),
            Self::One(_) | Self::Many(_) => None,
        }
    }
}

/// Runs a program and writes its references to a trace.
///
/// `progress` is called at intervals with the number of references; when it returns `false`, the
/// program is ended and the trace completed with the references so far.
///
/// # Errors
/// When the options make no sense, the program cannot be started or has no runtime linked in,
/// the trace cannot be written (the program still runs to its end), or `progress` returned `false`.
pub fn record(
    options: &RecordOptions,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<RecordSummary, CaptureError> {
    options.check()?;
    let (emulator, launch) = prepare(options)?;
    let native_time_s = if options.native { Some(run_natively(options)?) } else { None };
    let area = make_area(options)?;
    let writer = TraceWriter::create(&options.output, writer_options(options))?;
    let mut sink = if options.whole_system() {
        RecordingSink::for_system(writer)
    } else {
        RecordingSink::new(writer)
    };
    let over = Arc::new(AtomicBool::new(false));
    let mut children = ForkedChildren::new(options, Arc::clone(&over));
    let begin = Instant::now();
    let mut child = match Traced::start(&launch, Some(area.fd())) {
        Ok(child) => child,
        Err(source) => return Err(discard(options, start_error(options, source))),
    };
    let patience =
        options.whole_system().then(|| Duration::from_secs(options.system.start_within_s.into()));
    let ran = run(&area, (&mut child, &mut children, patience), &mut sink, progress);
    over.store(true, Ordering::SeqCst);
    let children = children.finish();
    let (ending, cut) = ran?;
    let wall_time_s = begin.elapsed().as_secs_f64();
    let (references, threads) = (sink.references(), sink.threads());
    if let Some(error) = nothing(options, &area, (references, ending, cut)) {
        return Err(discard(options, error));
    }
    let mut metadata = metadata(options, &area, ending, wall_time_s);
    note_emulator(&mut metadata, emulator.as_ref());
    let FinishedTrace { summary, order, races } = sink.finish(metadata, &area)?;
    if cut == Cut::Asked {
        return Err(CaptureError::Interrupted { references });
    }
    Ok(RecordSummary {
        output: options.output.clone(),
        references: summary.references,
        events: summary.events,
        threads: threads.into(),
        wall_time_s,
        references_per_second: per_second(summary.references, wall_time_s),
        bytes: summary.bytes,
        exit_code: ending.exit_code,
        signal: ending.signal,
        native_time_s,
        slowdown: native_time_s.map(|native| wall_time_s / native.max(f64::EPSILON)),
        forced_turns: area.get(at::FORCED),
        outside_waits: area.get(at::OUTSIDE),
        process_numbers: area.get(at::NUMBERS),
        lost_threads: area.get(at::LOST_THREADS),
        races,
        signals: area.get(at::SIGNALS),
        order,
        checksum: summary.checksum,
        children: children?,
    })
}

/// Adds the emulator to what made a trace, if there is one.
pub(crate) fn note_emulator(metadata: &mut Metadata, emulator: Option<&Emulator>) {
    if let Some(emulator) = emulator {
        metadata.tool = format!("{}, {}", metadata.tool, emulator.version);
    }
}

/// Why nothing was recorded, if that is so.
fn nothing(
    options: &RecordOptions,
    area: &SharedArea,
    (references, ending, cut): (u64, Ending, Cut),
) -> Option<CaptureError> {
    let program = options.argv[0].clone();
    if options.whole_system() {
        return if references == 0 { no_system(options, ending, cut) } else { None };
    }
    if area.get(at::CLAIMED_BY) == 0 {
        return Some(CaptureError::NotInstrumented { program });
    }
    if options.emulated() && references == 0 && cut == Cut::No {
        return Some(CaptureError::NothingEmulated { program });
    }
    (options.seed != 0 && area.get(at::SEEDED) == 0)
        .then_some(CaptureError::OtherRelease { program })
}

/// Why nothing of a whole system was recorded.
fn no_system(options: &RecordOptions, ending: Ending, cut: Cut) -> Option<CaptureError> {
    let kernel = options.argv[0].clone();
    match (cut, ending.exit_code) {
        (Cut::Asked, _) => None,
        (Cut::NoMark, _) => {
            Some(CaptureError::NoMarkYet { kernel, limit_s: options.system.start_within_s })
        }
        (Cut::No, Some(0)) => Some(CaptureError::NoMark { kernel }),
        (Cut::No, code) => {
            let signal = ending.signal.unwrap_or_default();
            let ending = code.map_or(format!("signal {signal}"), |code| format!("code {code}"));
            Some(CaptureError::SystemFailed { kernel, ending })
        }
    }
}

/// The emulator, if one is used, and the command to start.
pub(crate) fn prepare(options: &RecordOptions) -> Result<(Option<Emulator>, Launch), CaptureError> {
    if !options.emulated() {
        return Ok((None, Launch { argv: options.argv.clone(), preload: None }));
    }
    let emulator = Emulator::for_program(options)?;
    if options.native && !emulator.native {
        return Err(CaptureError::Option {
            option: "--native",
            expected: "a program for this machine's processor",
            found: options.argv[0].clone(),
        });
    }
    let launch = emulator.launch(options)?;
    Ok((Some(emulator), launch))
}

pub(crate) fn writer_options(options: &RecordOptions) -> WriterOptions {
    WriterOptions {
        columns: Columns {
            pc: true,
            gap: counts_instructions(options),
            pid: options.whole_system(),
            flags: true,
        },
        level: options.level,
        ..WriterOptions::default()
    }
}

/// Whether gaps are counted: only an emulator counts the instructions between references, while one
/// thread runs at a time.
pub(crate) fn counts_instructions(options: &RecordOptions) -> bool {
    options.via == "qemu" && options.order == Order::Deterministic
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people")]
pub(crate) fn per_second(references: u64, seconds: f64) -> f64 {
    references as f64 / seconds.max(f64::EPSILON)
}

/// Removes the partial trace after an error.
pub(crate) fn discard(options: &RecordOptions, error: CaptureError) -> CaptureError {
    let partial = homenode_trace::partial_path(options.output.as_ref());
    // An error of the removal is ignored in favour of the one that led here.
    let _ = std::fs::remove_file(partial);
    error
}

pub(crate) fn start_error(options: &RecordOptions, source: std::io::Error) -> CaptureError {
    CaptureError::Start { program: options.argv[0].clone(), source }
}

pub(crate) fn system(action: &'static str) -> impl Fn(std::io::Error) -> CaptureError {
    move |source| CaptureError::System { action, source }
}

pub(crate) fn make_area(options: &RecordOptions) -> Result<SharedArea, CaptureError> {
    let (geometry, order) = match options.order {
        Order::Deterministic => (DETERMINISTIC_RING, ORDER_DETERMINISTIC),
        Order::Free => (FREE_RINGS, ORDER_FREE),
        Order::Logical => (FREE_RINGS, ORDER_LOGICAL),
    };
    // The plugin of the emulator sees no allocations.
    let stack_words = if options.emulated() { 0 } else { STACK_WORDS };
    let geometry = RingGeometry { stack_words, ..geometry };
    let area =
        SharedArea::new(geometry).map_err(system("make the memory shared with the program"))?;
    area.set(at::VERSION, VERSION);
    area.set(at::ORDER, order);
    area.set(at::QUANTUM, options.quantum);
    area.set(at::SEED, options.seed);
    area.set(at::RING_COUNT, geometry.rings);
    area.set(at::RING_BLOCKS, geometry.ring_blocks);
    area.set(at::BLOCK_RECORDS, geometry.block_records);
    area.set(at::STACK_WORDS, stack_words);
    area.set(at::RECORDER_PID, std::process::id());
    area.set(at::MAGIC, MAGIC);
    Ok(area)
}

/// Seconds that the uninstrumented program takes.
fn run_natively(options: &RecordOptions) -> Result<f64, CaptureError> {
    let mut argv = options.argv.clone();
    if !options.native_program.is_empty() {
        argv[0].clone_from(&options.native_program);
    }
    let begin = Instant::now();
    let start = |source| CaptureError::Start { program: argv[0].clone(), source };
    let mut child = Traced::start_quietly(&argv).map_err(start)?;
    child.wait().map_err(system("wait for the program"))?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Whether and why the recorder ended the program.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    /// `progress` asked for it.
    Asked,
    /// A whole system did not run the start mark in time.
    NoMark,
}

/// Drains the rings until the program has ended. For a whole system, `patience` is the time within
/// which recording must begin.
fn run(
    area: &SharedArea,
    (child, children, patience): (&mut Traced, &mut ForkedChildren, Option<Duration>),
    sink: &mut RecordingSink,
    progress: &mut dyn FnMut(u64) -> bool,
) -> Result<(Ending, Cut), CaptureError> {
    let mut source = ItemSource::new(area);
    let begin = Instant::now();
    let mut told = begin;
    let mut cut = Cut::No;
    loop {
        let bell = area.get(at::DOORBELL);
        if patience.is_none() {
            greet(area, sink);
        }
        children.record_next(area);
        let taken = source.drain(area, false, sink);
        if cut != Cut::No {
            child.end();
        }
        if told.elapsed() >= PROGRESS_EVERY {
            told = Instant::now();
            if !progress(sink.references()) {
                cut = Cut::Asked;
            } else if sink.references() == 0 && patience.is_some_and(|most| begin.elapsed() > most)
            {
                cut = Cut::NoMark;
            }
        }
        if taken > 0 {
            continue;
        }
        if let Some(ending) = child.ending().map_err(system("wait for the program"))? {
            while source.drain(area, true, sink) > 0 {}
            sink.note_races(source.races());
            return Ok((ending, cut));
        }
        wait(area, bell);
    }
}

/// Sleeps until the program has written more, or for [`IDLE`].
pub(crate) fn wait(area: &SharedArea, bell: u32) {
    area.set(at::RECORDER_WAITS, 1);
    area.wait(at::DOORBELL, bell, IDLE);
    area.set(at::RECORDER_WAITS, 0);
}

/// Lets the program begin, which waits until its mappings have been read.
pub(crate) fn greet(area: &SharedArea, sink: &mut RecordingSink) {
    let pid = area.get(at::CLAIMED_BY);
    if pid != 0 && area.get(at::GREETED) == 0 {
        sink.meet(pid);
        area.set(at::GREETED, 1);
        area.wake(at::GREETED);
    }
}

pub(crate) fn metadata(
    options: &RecordOptions,
    area: &SharedArea,
    ending: Ending,
    wall_time_s: f64,
) -> Metadata {
    let quantum = options.quantum;
    let strays = [at::FORCED, at::OUTSIDE, at::LOST_THREADS, at::SIGNALS];
    let strays: u32 = strays.map(|word| area.get(word)).iter().sum();
    let repeats = match (strays, area.get(at::CONNECTIONS), area.get(at::NUMBERS)) {
        (0, 0, 0) => "repeatable",
        (0, 0, _) => "repeatable but for process numbers",
        (0, ..) => "repeatable but for what clients send",
        _ => "sequentially consistent",
    };
    let order = match options.order {
        // Threads were running when a signal ended the program: how far they came, differs.
        Order::Logical if area.get(at::ENDED_BY) == 0 && area.get(at::RINGS_USED) > 1 => {
            format!("logical quantum={quantum} sequentially consistent")
        }
        Order::Logical => format!("logical quantum={quantum} {repeats}"),
        Order::Deterministic => {
            let seed = match options.seed {
                0 => String::new(),
                seed => format!(" seed={seed}"),
            };
            if options.whole_system() && options.system.repeatable {
                "emulator's, repeatable".to_owned()
            } else if options.whole_system() {
                "emulator's, sequentially consistent".to_owned()
            } else {
                format!("deterministic quantum={quantum}{seed} {repeats}")
            }
        }
        Order::Free => format!("free stamp={quantum}"),
    };
    Metadata {
        program: options.argv[0].clone(),
        arguments: options.argv[1..].to_vec(),
        tool: format!("homenode {}", env!("CARGO_PKG_VERSION")),
        method: options.via.clone(),
        order,
        // No wall time in a deterministic trace: it differs from run to run, and the trace must
        // not.
        wall_time_s: (options.order == Order::Free).then_some(wall_time_s),
        exit_code: ending.exit_code,
        exit_signal: ending.signal,
        word_size: 4,
        provenance: vec!["record".to_owned()],
        ..Metadata::default()
    }
}
