//! A recording from the start of the program to the complete trace.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use homenode_trace::{Columns, Metadata, TraceWriter, WriterOptions};

use crate::area::{RingGeometry, SharedArea};
use crate::child::{Ending, Launch, Traced};
use crate::drain::{ProgressReporter, RecordedProcess, drain_until_over};
use crate::emulator::Emulator;
use crate::error::CaptureError;
use crate::forked::ForkedChildren;
use crate::options::{Order, RecordOptions, RecordSummary};
use crate::sink::{FinishedTrace, RecordingSink};
use crate::wire::{MAGIC, ORDER_DETERMINISTIC, ORDER_FREE, ORDER_LOGICAL, RINGS, VERSION, at};

/// 4 MB, which stays in the caches that both processes share.
const DETERMINISTIC_RING: RingGeometry =
    RingGeometry { rings: 1, ring_blocks: 64, block_records: 4096, stack_words: 0 };
/// 1 MB a thread; the kernel allocates a ring only when its thread exists.
const FREE_RINGS: RingGeometry =
    RingGeometry { rings: RINGS, ring_blocks: 16, block_records: 4096, stack_words: 0 };
/// 4 MB for call stacks of allocations; the kernel allocates pages as they are written.
const STACK_WORDS: u32 = 1 << 19;

/// Runs a program and writes its references to a trace.
///
/// `progress` is called at intervals with the number of references; when it returns `false`, the
/// program is ended and the trace completed with the references so far.
///
/// # Errors
/// When the options are invalid, the program cannot be started or has no runtime linked in, the
/// trace cannot be written (the program still runs to its end), or `progress` returned `false`.
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
    let tool = tool_name(emulator.as_ref());
    let mut children = ForkedChildren::new(options, &tool, Arc::clone(&over));
    let begin = Instant::now();
    let mut child = match Traced::start(&launch, Some(area.fd())) {
        Ok(child) => child,
        Err(source) => return Err(discard(options, start_error(options, source))),
    };
    let mut program = RunningProgram::new(&mut child, options, progress);
    let drained = drain_until_over(&area, &mut program, &mut children, &mut sink);
    over.store(true, Ordering::SeqCst);
    let children = children.finish();
    drained?;
    let RunningProgram { ending, cut, .. } = program;
    let wall_time_s = begin.elapsed().as_secs_f64();
    let (references, threads) = (sink.references(), sink.threads());
    let forks = sink.forks();
    if let Some(error) = recorded_nothing(options, &area, references, ending, cut) {
        return Err(discard(options, error));
    }
    let mut metadata = metadata(options, &area, ending, wall_time_s);
    metadata.tool = tool;
    if forks != 0 && !options.emulated() {
        metadata.provenance.push(format!("child processes not recorded: {forks}"));
    }
    let FinishedTrace { summary, order, races, not_hooked } = sink.finish(metadata, &area)?;
    if cut == Cut::Asked {
        return Err(CaptureError::Interrupted { references });
    }
    let children = children?;
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
        not_hooked,
        signals: area.get(at::SIGNALS),
        order,
        checksum: summary.checksum,
        unrecorded_children: if options.emulated() { children.unrecorded } else { forks },
        executions: area.get(at::EXECUTIONS) + children.executions,
        unseen: area.get64(at::UNSEEN),
        emulator_failed: area.get(at::EMULATOR_FAILED) != 0,
        children: children.names,
    })
}

/// What the metadata name as the tool: homenode, and the emulator with its processor.
pub(crate) fn tool_name(emulator: Option<&Emulator>) -> String {
    let mut tool = format!("homenode {}", env!("CARGO_PKG_VERSION"));
    if let Some(emulator) = emulator {
        tool = format!("{tool}, {}", emulator.version);
        if !emulator.processor.is_empty() {
            tool = format!("{tool} -cpu {}", emulator.processor);
        }
    }
    tool
}

/// Why nothing was recorded; `None` if something was.
fn recorded_nothing(
    options: &RecordOptions,
    area: &SharedArea,
    references: u64,
    ending: Ending,
    cut: Cut,
) -> Option<CaptureError> {
    let program = options.argv[0].clone();
    if options.whole_system() {
        return if references == 0 { system_not_recorded(options, ending, cut) } else { None };
    }
    if area.get(at::CLAIMED_BY) == 0 {
        return Some(CaptureError::NotInstrumented { program });
    }
    if options.emulated() && references == 0 && cut == Cut::No {
        return Some(if area.get(at::EMULATOR_FAILED) == 0 {
            CaptureError::NothingEmulated { program }
        } else {
            CaptureError::EmulatorFailed { program }
        });
    }
    (options.seed != 0 && area.get(at::SEEDED) == 0)
        .then_some(CaptureError::OtherRelease { program })
}

/// Why nothing of a whole system was recorded.
fn system_not_recorded(options: &RecordOptions, ending: Ending, cut: Cut) -> Option<CaptureError> {
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

/// Whether gaps are counted: only an emulator counts the instructions between references, and only
/// while one thread runs at a time.
pub(crate) fn counts_instructions(options: &RecordOptions) -> bool {
    options.via == "qemu" && options.order == Order::Deterministic
}

#[expect(clippy::cast_precision_loss, reason = "a rate to be read, not computed with")]
pub(crate) fn per_second(references: u64, seconds: f64) -> f64 {
    references as f64 / seconds.max(f64::EPSILON)
}

/// Removes the partial trace after an error.
pub(crate) fn discard(options: &RecordOptions, error: CaptureError) -> CaptureError {
    let partial = homenode_trace::partial_path(options.output.as_ref());
    // The error that led here matters more than one of the removal.
    let _ = std::fs::remove_file(partial);
    error
}

pub(crate) fn start_error(options: &RecordOptions, source: std::io::Error) -> CaptureError {
    CaptureError::start(&options.argv[0], source)
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
    let stack_words = if options.whole_system() { 0 } else { STACK_WORDS };
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

/// Runs the uninstrumented program; returns its wall time in seconds.
fn run_natively(options: &RecordOptions) -> Result<f64, CaptureError> {
    let mut argv = options.argv.clone();
    if !options.native_program.is_empty() {
        argv[0].clone_from(&options.native_program);
    }
    let begin = Instant::now();
    let start = |source| CaptureError::start(&argv[0], source);
    let mut child = Traced::start_quietly(&argv).map_err(start)?;
    child.wait().map_err(system("wait for the program"))?;
    Ok(begin.elapsed().as_secs_f64())
}

/// Why the recorder ended the program, if it did.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Cut {
    No,
    /// `progress` returned `false`.
    Asked,
    /// A whole system did not run the start mark in time.
    NoMark,
}

struct RunningProgram<'a> {
    child: &'a mut Traced,
    progress: ProgressReporter<'a>,
    began: Instant,
    /// Of a whole system, the time within which recording must begin.
    start_within: Option<Duration>,
    cut: Cut,
    ending: Ending,
}

impl<'a> RunningProgram<'a> {
    fn new(
        child: &'a mut Traced,
        options: &RecordOptions,
        progress: &'a mut dyn FnMut(u64) -> bool,
    ) -> Self {
        let limit = Duration::from_secs(options.system.start_within_s.into());
        Self {
            child,
            progress: ProgressReporter::new(progress),
            began: Instant::now(),
            start_within: options.whole_system().then_some(limit),
            cut: Cut::No,
            ending: Ending { exit_code: None, signal: None },
        }
    }
}

impl RecordedProcess for RunningProgram<'_> {
    fn attend(&mut self, references: u64) {
        if self.cut != Cut::No {
            self.child.end();
        }
        if !self.progress.is_due() {
            return;
        }
        let is_late = |limit| self.began.elapsed() > limit;
        if !self.progress.report(references) {
            self.cut = Cut::Asked;
        } else if references == 0 && self.start_within.is_some_and(is_late) {
            self.cut = Cut::NoMark;
        }
    }

    fn is_over(&mut self, _: &SharedArea) -> Result<bool, CaptureError> {
        let ending = self.child.ending().map_err(system("wait for the program"))?;
        self.ending = ending.unwrap_or(self.ending);
        Ok(ending.is_some())
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
        // The last turns of threads that a signal stopped differ from run to run.
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
    let mut provenance = vec!["record".to_owned()];
    if area.get(at::EXECUTIONS) != 0 {
        provenance.push("ended by exec, and what it began is not recorded".to_owned());
    }
    if area.get(at::EMULATOR_FAILED) != 0 {
        provenance.push("ended by a failure of the emulator itself".to_owned());
    }
    let unseen = area.get64(at::UNSEEN);
    if unseen != 0 {
        let what = "executed instructions whose accesses the emulator does not show";
        provenance.push(format!("{unseen} {what}"));
    }
    if area.get(at::HEAP_UNSEEN) != 0 {
        let why = "the emulator's registers are not where the plugin looks for them";
        provenance.push(format!("heap blocks are not known: {why}"));
    }
    Metadata {
        program: options.argv[0].clone(),
        arguments: options.argv[1..].to_vec(),
        method: options.via.clone(),
        order,
        // Wall time differs from run to run, and a deterministic trace must not.
        wall_time_s: (options.order == Order::Free).then_some(wall_time_s),
        exit_code: ending.exit_code,
        exit_signal: ending.signal,
        word_size: 4,
        provenance,
        ..Metadata::default()
    }
}
