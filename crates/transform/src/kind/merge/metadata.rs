//! The metadata of a mix.

use homenode_trace::{
    AddressRange, AllocationStack, CallFrame, LocalRange, Metadata, MovedRange, SourceLine,
    TraceReader,
};
use rustc_hash::FxHashSet;

use super::input::MergeInput;
use super::relocation::Relocation;

pub(super) fn merged(
    traces: &[TraceReader],
    inputs: &[MergeInput],
    relocations: &[Relocation],
    quantum: u64,
) -> Metadata {
    let of = |field: fn(&Metadata) -> &str| {
        let mut found: Vec<&str> = Vec::new();
        for trace in traces {
            let text = field(trace.metadata());
            if !text.is_empty() && !found.contains(&text) {
                found.push(text);
            }
        }
        found.join("; ")
    };
    let programs = traces.iter().map(|trace| trace.metadata().program.as_str());
    let mut metadata = Metadata {
        program: programs.collect::<Vec<_>>().join(" + "),
        tool: of(|metadata| &metadata.tool),
        method: of(|metadata| &metadata.method),
        order: format!("turns of {} of: {}", quantum, of(|metadata| &metadata.order)),
        sampling: traces[0].metadata().sampling.clone(),
        word_size: traces.iter().map(|t| t.metadata().word_size).max().unwrap_or(0),
        ..Metadata::default()
    };
    let mut common = FxHashSet::default();
    for (number, (trace, relocation)) in traces.iter().zip(relocations).enumerate() {
        let own = trace.metadata();
        let process = RelocatedProcess { relocation, number };
        for range in &own.ranges {
            let thread = inputs[number].thread(range.thread);
            let stack = after(range.stack, metadata.stacks.len());
            let layout = after(range.layout, metadata.layouts.len());
            let own = AddressRange { thread, stack, layout, ..range.clone() };
            let parts = process.range(&own);
            let fresh = parts.into_iter().filter(|(range, stays)| {
                let key = (range.start, range.size, range.kind, range.name.clone());
                !stays || common.insert(key)
            });
            metadata.ranges.extend(fresh.map(|(range, _)| range));
        }
        metadata.moved.extend(own.moved.iter().map(|range| MovedRange {
            start: relocation.address(range.start),
            from: relocation.address(range.from),
            size: range.size,
        }));
        metadata.locals.extend(own.locals.iter().map(|local| LocalRange {
            start: relocation.address(local.start),
            layout: after(local.layout, metadata.layouts.len()),
            ..local.clone()
        }));
        extend_stacks(&mut metadata, own, number);
        metadata.lines.extend(own.lines.iter().map(|line| process.line(line)));
        let path = trace.path().display();
        let words = std::iter::once(&own.program).chain(&own.arguments).map(String::as_str);
        let run = words.collect::<Vec<_>>().join(" ");
        let run = if run.is_empty() { "a program without a name" } else { &run };
        metadata.provenance.push(format!("process {}: {path}, of {run}", number + 1));
        let record = |text: &String| format!("process {}: {text}", number + 1);
        metadata.provenance.extend(own.provenance.iter().map(record));
    }
    metadata.ranges.sort_by_key(|range| range.start);
    metadata.moved.sort_by_key(|range| range.start);
    metadata.locals.sort();
    metadata.lines.sort_by_key(|line| line.pc);
    metadata.lines.dedup_by_key(|line| line.pc);
    metadata
}

/// A number counted from 1 in a list that now follows `before` others; 0 stays 0.
fn after(number: u32, before: usize) -> u32 {
    if number == 0 { 0 } else { number.saturating_add(u32::try_from(before).unwrap_or(u32::MAX)) }
}

fn extend_stacks(metadata: &mut Metadata, own: &Metadata, number: usize) {
    let (frames, layouts) = (metadata.frames.len(), metadata.layouts.len());
    let frame = |&place: &u32| after(place.saturating_add(1), frames).saturating_sub(1);
    metadata.stacks.extend(own.stacks.iter().map(|stack| AllocationStack {
        frames: stack.frames.iter().map(frame).collect(),
        site: stack.site,
        variable: stack.variable.clone(),
        layout: after(stack.layout, layouts),
    }));
    metadata.frames.extend(
        own.frames.iter().map(|frame| CallFrame {
            function: of_process(&frame.function, number),
            ..frame.clone()
        }),
    );
    metadata.layouts.extend(own.layouts.iter().cloned());
}

fn of_process(name: &str, number: usize) -> String {
    if name.is_empty() { String::new() } else { format!("{name} (process {})", number + 1) }
}

struct RelocatedProcess<'a> {
    relocation: &'a Relocation,
    number: usize,
}

impl RelocatedProcess<'_> {
    /// A range of the process in the mix, cut where shared memory begins and ends, and whether each
    /// part is shared.
    fn range(&self, range: &AddressRange) -> Vec<(AddressRange, bool)> {
        let Self { relocation, number } = *self;
        let part = |part: super::relocation::RelocatedPart| {
            let own = || of_process(&range.name, number);
            let name = if part.stays { range.name.clone() } else { own() };
            let (start, size, site) = (part.start, part.size, relocation.code(range.site));
            // Only the first part begins with an element.
            let whole = start == relocation.address(range.start);
            let layout = if whole { range.layout } else { 0 };
            (AddressRange { start, size, name, site, layout, ..range.clone() }, part.stays)
        };
        relocation.parts(range.start, range.size).map(part).collect()
    }

    fn line(&self, line: &SourceLine) -> SourceLine {
        let pc = self.relocation.code(line.pc);
        let own = || of_process(&line.function, self.number);
        let stays = self.relocation.stays(line.pc);
        let function = if stays { line.function.clone() } else { own() };
        SourceLine { pc, function, ..line.clone() }
    }
}
