//! The first pass of a merge: threads and addresses of all traces.

use std::ops::Range;

use homenode_trace::{
    Batch, Columns, Event, EventKind, TraceError, TraceProgress, TraceReader, Want,
};

use super::relocation::{KERNEL_SPACE, named};
use crate::error::TransformError;

pub(super) const NAME: &str = "merge";

/// The least distance of two processes: 2^47, the user's half of the x86-64 address space, so that
/// the high bits of an address are the number of the process.
const STRIDE_MIN: u64 = 1 << 47;

pub(super) struct InputFacts {
    pub(super) threads: u16,
    pub(super) single_threaded: bool,
}

pub(super) struct MergeSurvey {
    pub(super) processes: Vec<InputFacts>,
    /// The highest address that is not the operating system's, and the trace that has it.
    highest: (u64, String),
    pub(super) rows: u64,
}

impl MergeSurvey {
    pub(super) fn of(
        traces: &[TraceReader],
        shared: &[Range<u64>],
        progress: &mut TraceProgress<'_>,
    ) -> Result<Self, TransformError> {
        check(traces).map_err(fail)?;
        let mut survey = Self {
            processes: Vec::new(),
            highest: (0, String::new()),
            rows: traces.iter().map(TraceReader::rows).sum(),
        };
        for range in shared {
            survey.add_range("the shared ranges", range.start, range.end - 1);
        }
        let (mut seen, mut all) = (0, 0u32);
        for trace in traces {
            let threads = survey.read(trace, &mut seen, progress)?;
            all = all.saturating_add(threads);
            let few = u16::try_from(all).ok().filter(|&all| all < u16::MAX);
            let (Some(_), Ok(threads)) = (few, u16::try_from(threads)) else {
                let problem = "the traces have more than 65,534 threads together";
                return Err(fail(problem.to_owned()));
            };
            let rows = trace.chunks().iter().flat_map(|chunk| &chunk.threads);
            let mut rows = rows.map(|&(thread, _)| thread);
            let first = rows.next();
            let single_threaded = rows.all(|thread| Some(thread) == first);
            survey.processes.push(InputFacts { threads, single_threaded });
        }
        Ok(survey)
    }

    fn read(
        &mut self,
        trace: &TraceReader,
        seen: &mut u64,
        progress: &mut TraceProgress<'_>,
    ) -> Result<u32, TraceError> {
        let name = trace.path().display().to_string();
        let mut threads = u32::from(trace.threads());
        let want = Want { columns: Columns::default(), events: true };
        let mut batch = Batch::default();
        for (index, chunk) in trace.chunks().iter().enumerate() {
            if chunk.rows > 0 {
                self.add_range(&name, chunk.addr_low, chunk.addr_high);
            }
            if chunk.events > 0 {
                trace.read_chunk(index, want, &mut batch)?;
                for (_, event) in &batch.events {
                    threads = threads.max(u32::from(thread(event)) + 1);
                    named(&event.what).for_each(|(first, last)| self.add_range(&name, first, last));
                }
            }
            *seen += u64::from(chunk.rows);
            if progress(*seen, Some(2 * self.rows)).is_break() {
                return Err(TraceError::Cancelled { path: trace.path().to_owned() });
            }
        }
        let last = |start: u64, size: u64| start.saturating_add(size.saturating_sub(1));
        for range in &trace.metadata().ranges {
            threads = threads.max(u32::from(range.thread) + 1);
            self.add_range(&name, range.start, last(range.start, range.size));
            self.add_range(&name, range.site, range.site);
        }
        for range in &trace.metadata().moved {
            self.add_range(&name, range.start, last(range.start, range.size));
            self.add_range(&name, range.from, last(range.from, range.size));
        }
        Ok(threads)
    }

    fn add_range(&mut self, name: &str, first: u64, last: u64) {
        if first < KERNEL_SPACE && last > self.highest.0 {
            self.highest = (last, name.to_owned());
        }
    }

    /// The distance of two processes: a power of two above all addresses.
    pub(super) fn stride(&self) -> Result<u64, String> {
        let (highest, name) = &self.highest;
        let count = self.processes.len() as u64;
        let stride = highest.checked_add(1).and_then(u64::checked_next_power_of_two);
        let stride = stride.map(|stride| stride.max(STRIDE_MIN));
        let fits = |stride: &u64| stride.checked_mul(count).is_some_and(|end| end <= KERNEL_SPACE);
        stride.filter(fits).ok_or_else(|| {
            format!(
                "{name} has addresses up to {highest:#x}, which leaves no room for {count} \
                 processes beside each other; keep a part with `homenode transform select \
                 --address`"
            )
        })
    }
}

pub(super) fn fail(problem: String) -> TransformError {
    TransformError::Parameter { transform: NAME, problem }
}

fn thread(event: &Event) -> u16 {
    if let EventKind::ThreadCreate { child } | EventKind::ThreadJoin { child } = event.what {
        event.thread.max(child)
    } else {
        event.thread
    }
}

fn check(traces: &[TraceReader]) -> Result<(), String> {
    let name = |trace: &TraceReader| trace.path().display().to_string();
    for trace in traces {
        let [.., kernel] = trace.chunks().iter().fold([0u64; 6], |mut sums, chunk| {
            let counts = chunk.counts();
            sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += u64::from(count));
            sums
        });
        if kernel > 0 || !trace.metadata().processes.is_empty() {
            return Err(format!(
                "{} is of a whole system, with a kernel and addresses of physical memory, not of \
                 one process; `homenode transform processes` makes a mix of such a recording",
                name(trace)
            ));
        }
    }
    let known = |trace: &&TraceReader| trace.metadata().word_size != 0;
    let mut sized = traces.iter().filter(known);
    if let Some(first) = sized.next() {
        let size = first.metadata().word_size;
        if let Some(other) = sized.find(|trace| trace.metadata().word_size != size) {
            return Err(format!(
                "{} has words of {size} bytes and {} of {}: processes of one machine have the same",
                name(first),
                name(other),
                other.metadata().word_size
            ));
        }
    }
    let sampling = |trace: &TraceReader| trace.metadata().sampling.clone();
    if let Some(other) = traces.iter().find(|trace| sampling(trace) != sampling(&traces[0])) {
        return Err(format!(
            "{} and {} are not samples of the same kind: a mix has all references of all \
             processes, or the same part of each",
            name(&traces[0]),
            name(other)
        ));
    }
    Ok(())
}
