//! Children of `fork`, and programs that `exec` starts: a thread records each of them into a trace
//! of its own.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use homenode_trace::TraceWriter;

use crate::area::SharedArea;
use crate::child::{self, Ending};
use crate::drain::{RecordedProcess, drain_until_over};
use crate::error::CaptureError;
use crate::options::RecordOptions;
use crate::record::{metadata, writer_options};
use crate::sink::RecordingSink;
use crate::wire::at;

/// Interval between checks whether a process still exists.
const CHECK_EVERY: Duration = Duration::from_millis(20);
/// A parent writes this in place of its child's number if the fork failed.
const NO_CHILD: u32 = i32::MAX.cast_unsigned();
/// Limit of children of one process recorded at a time; further ones run unrecorded.
const CHILDREN_MAX: usize = 256;

/// The traces of a process' children, and of theirs.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct ChildTraces {
    /// Their names, in the order of the forks.
    pub names: Vec<String>,
    /// Children without a trace.
    pub unrecorded: u32,
    /// Calls of `exec` behind which nothing was recorded.
    pub executions: u32,
}

impl ChildTraces {
    fn add(&mut self, more: Self) {
        self.names.extend(more.names);
        self.unrecorded += more.unrecorded;
        self.executions += more.executions;
    }
}

/// The children of one process.
pub struct ForkedChildren {
    options: RecordOptions,
    tool: String,
    /// Number of the last child, and its memory.
    count: u32,
    last: Option<SharedArea>,
    unrecorded: u32,
    followers: Vec<JoinHandle<Result<ChildTraces, CaptureError>>>,
    /// Set when the program itself has ended: children that still run are no longer recorded.
    over: Arc<AtomicBool>,
}

impl ForkedChildren {
    /// No children yet; `options.output` is the trace of the parent, and `tool` what the metadata
    /// of their traces name.
    #[must_use]
    pub fn new(options: &RecordOptions, tool: &str, over: Arc<AtomicBool>) -> Self {
        let (options, tool) = (options.clone(), tool.to_owned());
        Self { options, tool, count: 0, last: None, unrecorded: 0, followers: Vec::new(), over }
    }

    /// Starts to record the child that the parent is about to create, if there is one.
    pub fn record_next(&mut self, parent: &SharedArea) {
        let offered = parent.get(at::FORK_FD);
        if offered == 0 {
            return;
        }
        let pid = parent.get(at::CLAIMED_BY);
        // The number of a child that was not made goes to the next: glibc tries `clone3` first,
        // which the emulator does not have.
        if self.last.take().is_none_or(|last| last.get(at::CLAIMED_BY) != NO_CHILD) {
            self.count += 1;
        }
        let running = self.followers.iter().filter(|one| !one.is_finished()).count();
        let path = format!("/proc/{pid}/fd/{}", offered - 1);
        match SharedArea::open(Path::new(&path), parent.geometry()) {
            Ok(area) if running < CHILDREN_MAX => {
                let options = RecordOptions {
                    output: child_path(&self.options.output, self.count),
                    ..self.options.clone()
                };
                let (tool, over) = (self.tool.clone(), Arc::clone(&self.over));
                self.last = SharedArea::open(Path::new(&path), parent.geometry()).ok();
                self.followers
                    .push(std::thread::spawn(move || follow(&area, &options, &tool, &over)));
                parent.set(at::FORK_FD, 0);
            }
            // Tells the parent that the child is not recorded.
            Ok(_) | Err(_) => {
                self.unrecorded += 1;
                parent.set(at::FORK_FD, u32::MAX);
            }
        }
        parent.wake(at::FORK_FD);
    }

    /// Waits for the traces of all children.
    ///
    /// # Errors
    /// The first error of a child's trace.
    pub fn finish(self) -> Result<ChildTraces, CaptureError> {
        let mut traces = ChildTraces { unrecorded: self.unrecorded, ..ChildTraces::default() };
        let mut error = None;
        for follower in self.followers {
            match follower.join() {
                Ok(Ok(more)) => traces.add(more),
                Ok(Err(met)) => drop(error.get_or_insert(met)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        error.map_or(Ok(traces), Err)
    }
}

/// `t.hnt`'s first child is `t.1.hnt`, and that one's second child `t.1.2.hnt`.
fn child_path(parent: &str, number: u32) -> String {
    parent
        .strip_suffix(".hnt")
        .map_or_else(|| format!("{parent}.{number}"), |stem| format!("{stem}.{number}.hnt"))
}

struct ForkedChild<'a> {
    pid: u32,
    /// Set when the program itself has ended.
    over: &'a AtomicBool,
    checked: Instant,
}

impl RecordedProcess for ForkedChild<'_> {
    fn attend(&mut self, _: u64) {}

    fn is_over(&mut self, area: &SharedArea) -> Result<bool, CaptureError> {
        let stop = self.over.load(Ordering::SeqCst);
        if !stop && self.checked.elapsed() < CHECK_EVERY {
            return Ok(false);
        }
        self.checked = Instant::now();
        if !stop && child::shares_memory(self.pid) {
            return Ok(false);
        }
        // A thread that still runs sees that its recorder is gone, and stops recording.
        area.set(at::RECORDER_PID, NO_CHILD);
        Ok(true)
    }
}

/// The words of the emulated program that a process runs, from the emulator's: its name, its file,
/// its arguments.
fn emulated_words(command_line: &[u8]) -> Option<Vec<String>> {
    let text = String::from_utf8_lossy(command_line.strip_suffix(b"\0").unwrap_or(command_line));
    let mut words = text.split('\0').skip_while(|word| *word != "-0").skip(1).map(str::to_owned);
    let name = words.next()?;
    Some(std::iter::once(name).chain(words.skip(1)).collect())
}

/// Records one child; returns its trace and its children's.
fn follow(
    area: &SharedArea,
    options: &RecordOptions,
    tool: &str,
    over: &Arc<AtomicBool>,
) -> Result<ChildTraces, CaptureError> {
    while area.get(at::CLAIMED_BY) == 0 {
        if over.load(Ordering::SeqCst) {
            return Ok(ChildTraces::default());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = area.get(at::CLAIMED_BY);
    if pid == NO_CHILD {
        return Ok(ChildTraces::default());
    }
    let command_line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let argv = emulated_words(&command_line).unwrap_or_else(|| options.argv.clone());
    let options = &RecordOptions { argv, ..options.clone() };
    let begin = Instant::now();
    let mut children = ForkedChildren::new(options, tool, Arc::clone(over));
    let mut sink =
        RecordingSink::new(TraceWriter::create(&options.output, writer_options(options))?);
    let mut child = ForkedChild { pid, over: over.as_ref(), checked: Instant::now() };
    drain_until_over(area, &mut child, &mut children, &mut sink)?;
    let ending = Ending { exit_code: None, signal: None };
    let mut about = metadata(options, area, ending, begin.elapsed().as_secs_f64());
    let origin = if area.get(at::BY_EXEC) == 0 { "child of fork" } else { "program of exec" };
    about.provenance.push(origin.to_owned());
    tool.clone_into(&mut about.tool);
    let finished = sink.finish(about, area);
    let mut traces = ChildTraces {
        names: vec![options.output.clone()],
        unrecorded: 0,
        executions: area.get(at::EXECUTIONS),
    };
    traces.add(children.finish()?);
    finished?;
    Ok(traces)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_are_named_after_their_parents() {
        assert_eq!(child_path("a/t.hnt", 1), "a/t.1.hnt");
        assert_eq!(child_path("a/t.1.hnt", 12), "a/t.1.12.hnt");
        assert_eq!(child_path("trace", 2), "trace.2");
    }

    #[test]
    fn a_descriptor_that_is_not_there_is_refused() {
        let geometry = crate::area::RingGeometry {
            rings: 1,
            ring_blocks: 2,
            block_records: 4,
            stack_words: 0,
        };
        let parent = SharedArea::new(geometry).unwrap();
        parent.set(at::CLAIMED_BY, std::process::id());
        parent.set(at::FORK_FD, 100_000);
        let mut children =
            ForkedChildren::new(&RecordOptions::default(), "homenode", Arc::default());
        children.record_next(&parent);
        assert_eq!(parent.get(at::FORK_FD), u32::MAX);
        let none = ChildTraces { unrecorded: 1, ..ChildTraces::default() };
        assert_eq!(children.finish().unwrap(), none);
    }

    #[test]
    fn the_programs_words_come_behind_the_emulators() {
        let words = |line: &[u8]| emulated_words(line);
        let all = words(b"qemu\0-L\0/x\0-0\0sort\0/usr/bin/sort\0-n\0\0");
        assert_eq!(all, Some(vec!["sort".to_owned(), "-n".to_owned(), String::new()]));
        assert_eq!(words(b"qemu\0prog\0"), None);
        assert_eq!(words(b""), None);
    }

    #[test]
    fn a_child_that_was_not_made_leaves_nothing() {
        let geometry = crate::area::RingGeometry {
            rings: 1,
            ring_blocks: 2,
            block_records: 4,
            stack_words: 0,
        };
        let parent = SharedArea::new(geometry).unwrap();
        let child = SharedArea::new(geometry).unwrap();
        parent.set(at::CLAIMED_BY, std::process::id());
        parent.set(at::FORK_FD, u32::try_from(child.fd()).unwrap() + 1);
        let mut children =
            ForkedChildren::new(&RecordOptions::default(), "homenode", Arc::default());
        children.record_next(&parent);
        assert_eq!(parent.get(at::FORK_FD), 0);
        assert_eq!(children.count, 1);
        child.set(at::CLAIMED_BY, NO_CHILD);
        // Its number goes to the next child.
        parent.set(at::FORK_FD, u32::try_from(child.fd()).unwrap() + 1);
        children.record_next(&parent);
        assert_eq!(children.count, 1);
        assert_eq!(children.finish().unwrap(), ChildTraces::default());
    }
}
