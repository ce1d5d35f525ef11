//! Children of `fork`, each recorded to its own trace by its own thread.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use homenode_trace::TraceWriter;

use crate::area::SharedArea;
use crate::child::{self, Ending};
use crate::error::CaptureError;
use crate::options::RecordOptions;
use crate::record::{ItemSource, greet, metadata, wait, writer_options};
use crate::sink::RecordingSink;
use crate::wire::at;

/// Interval between checks whether a process still exists.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// Written by a parent in place of its child's number if the fork failed.
const NO_CHILD: u32 = i32::MAX.cast_unsigned();
/// Most children of one process recorded at a time; further ones run unrecorded.
const CHILDREN_MAX: usize = 256;

/// The children of one process.
pub struct ForkedChildren {
    options: RecordOptions,
    count: u32,
    followers: Vec<JoinHandle<Result<Vec<String>, CaptureError>>>,
    /// Whether the program itself has ended: children that are still running stop recording.
    over: Arc<AtomicBool>,
}

impl ForkedChildren {
    /// No children yet; `options.output` is the trace of the parent.
    #[must_use]
    pub fn new(options: &RecordOptions, over: Arc<AtomicBool>) -> Self {
        Self { options: options.clone(), count: 0, followers: Vec::new(), over }
    }

    /// Takes the shared memory of a child that is about to be created, if the parent offers one.
    pub fn record_next(&mut self, parent: &SharedArea) {
        let shown = parent.get(at::FORK_FD);
        if shown == 0 {
            return;
        }
        let pid = parent.get(at::CLAIMED_BY);
        self.count += 1;
        let running = self.followers.iter().filter(|one| !one.is_finished()).count();
        let path = format!("/proc/{pid}/fd/{}", shown - 1);
        match SharedArea::open(Path::new(&path), parent.geometry()) {
            Ok(area) if running < CHILDREN_MAX => {
                let options = RecordOptions {
                    output: child_path(&self.options.output, self.count),
                    ..self.options.clone()
                };
                let over = Arc::clone(&self.over);
                self.followers.push(std::thread::spawn(move || follow(&area, &options, &over)));
                parent.set(at::FORK_FD, 0);
            }
            // The parent sees that no recorder took the memory, and the child records nothing.
            Ok(_) | Err(_) => parent.set(at::FORK_FD, u32::MAX),
        }
        parent.wake(at::FORK_FD);
    }

    /// Waits for the traces of all children; returns their names, in the order of the forks.
    ///
    /// # Errors
    /// The first error of a child's trace.
    pub fn finish(self) -> Result<Vec<String>, CaptureError> {
        let mut names = Vec::new();
        let mut error = None;
        for follower in self.followers {
            match follower.join() {
                Ok(Ok(more)) => names.extend(more),
                Ok(Err(met)) => drop(error.get_or_insert(met)),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        error.map_or(Ok(names), Err)
    }
}

/// `t.hnt`'s first child is `t.1.hnt`, and that one's second child `t.1.2.hnt`.
fn child_path(parent: &str, number: u32) -> String {
    parent
        .strip_suffix(".hnt")
        .map_or_else(|| format!("{parent}.{number}"), |stem| format!("{stem}.{number}.hnt"))
}

/// Records one child; returns the names of its trace and of its children's.
fn follow(
    area: &SharedArea,
    options: &RecordOptions,
    over: &Arc<AtomicBool>,
) -> Result<Vec<String>, CaptureError> {
    while area.get(at::CLAIMED_BY) == 0 {
        if over.load(Ordering::SeqCst) {
            return Ok(Vec::new());
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    let pid = area.get(at::CLAIMED_BY);
    if pid == NO_CHILD {
        return Ok(Vec::new());
    }
    let begin = Instant::now();
    let mut children = ForkedChildren::new(options, Arc::clone(over));
    let mut sink =
        RecordingSink::new(TraceWriter::create(&options.output, writer_options(options))?);
    let mut source = ItemSource::new(area);
    let mut looked = Instant::now();
    loop {
        let bell = area.get(at::DOORBELL);
        greet(area, &mut sink);
        children.record_next(area);
        if source.drain(area, false, &mut sink) > 0 {
            continue;
        }
        let stop = over.load(Ordering::SeqCst);
        if stop || looked.elapsed() >= LOOK_EVERY {
            looked = Instant::now();
            if stop || !child::shares_memory(pid) {
                // A thread that is still running finds no recorder, and stops recording.
                area.set(at::RECORDER_PID, NO_CHILD);
                while source.drain(area, true, &mut sink) > 0 {}
                sink.note_races(source.races());
                break;
            }
        }
        wait(area, bell);
    }
    let ending = Ending { exit_code: None, signal: None };
    let mut about = metadata(options, area, ending, begin.elapsed().as_secs_f64());
    about.provenance.push("child of fork".to_owned());
    let finished = sink.finish(about, area);
    let mut names = vec![options.output.clone()];
    names.extend(children.finish()?);
    finished?;
    Ok(names)
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
        let mut children = ForkedChildren::new(&RecordOptions::default(), Arc::default());
        children.record_next(&parent);
        assert_eq!(parent.get(at::FORK_FD), u32::MAX);
        assert_eq!(children.finish().unwrap(), Vec::<String>::new());
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
        let mut children = ForkedChildren::new(&RecordOptions::default(), Arc::default());
        children.record_next(&parent);
        assert_eq!(parent.get(at::FORK_FD), 0);
        child.set(at::CLAIMED_BY, NO_CHILD);
        assert_eq!(children.finish().unwrap(), Vec::<String>::new());
    }
}
