//! Traces for tests: small ones with every feature, and a strategy for arbitrary ones.
#![allow(dead_code, reason = "each test file uses some of these")]

use homenode_base::{Access, AccessKind, Flags};
use homenode_trace::{
    AddressRange, Batch, BatchPart, Columns, Event, EventKind, Metadata, ProcessorAreas, RangeKind,
    Summary, TraceReader, TraceWriter, Want, WriterOptions,
};
use proptest::prelude::*;

/// One step of a trace.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    Access(Access),
    Event(Event),
}

pub fn steps() -> Vec<Step> {
    let mut steps =
        vec![event(0, EventKind::ThreadStart { stack_low: 0x7000, stack_high: 0x8000 })];
    for i in 0..60u64 {
        let thread = u16::try_from(i / 10 % 3).unwrap();
        let kind = AccessKind::from_code(u8::try_from(i % 4).unwrap()).unwrap();
        let mut access = Access::new(thread, kind, 0x1000 + i / 4 * 8, 8);
        access.pc = 0x40_0000 + i % 4 * 4;
        access.gap = u32::try_from(i % 5).unwrap();
        access.pid = 40 + u32::from(thread);
        access.flags = Flags(u8::try_from(i % 8).unwrap());
        steps.push(Step::Access(access));
        if i % 20 == 7 {
            steps.push(event(thread, EventKind::LockAcquire { addr: 0x2000 }));
            steps.push(event(thread, EventKind::Marker { text: format!("line\\ {i}\n\"é\", ") }));
        }
    }
    let shared = EventKind::Map { addr: 0x9000, size: 4096, shared: true, object: "/a b".into() };
    steps.extend([event(1, shared), event(2, EventKind::InitDone)]);
    steps
}

fn event(thread: u16, what: EventKind) -> Step {
    Step::Event(Event { thread, what })
}

pub fn write(steps: &[Step], options: WriterOptions) -> (Vec<u8>, Summary) {
    write_with(steps, options, Metadata { word_size: 4, ..Metadata::default() })
}

/// As [`write`] with metadata, of a program called `sample`.
pub fn write_with(
    steps: &[Step],
    options: WriterOptions,
    metadata: Metadata,
) -> (Vec<u8>, Summary) {
    let mut out = Vec::new();
    let mut writer = TraceWriter::new(&mut out, "memory", options).unwrap();
    for step in steps {
        match step {
            Step::Access(access) => writer.push(access).unwrap(),
            Step::Event(event) => writer.event(event.clone()).unwrap(),
        }
    }
    let metadata = Metadata { program: "sample".into(), ..metadata };
    let summary = writer.finish(metadata).unwrap();
    (out, summary)
}

/// The steps with areas of two processors, of 16 bytes each at 0x1020 and 0x1040.
pub fn with_areas(steps: &[Step], options: WriterOptions) -> TraceReader {
    let named =
        |start| AddressRange::new(RangeKind::Static, start, 8, format!("data at {start:x}"));
    let metadata = Metadata {
        processor_areas: Some(ProcessorAreas { size: 16, starts: vec![0x1020, 0x1040] }),
        ranges: [0x1000, 0x1020, 0x1048].map(named).into(),
        ..Metadata::default()
    };
    let bytes = write_with(steps, options, metadata).0;
    TraceReader::from_bytes(bytes, "sample.hnt").unwrap()
}

pub fn accesses(steps: &[Step]) -> Vec<Access> {
    let access = |step: &Step| if let Step::Access(access) = step { Some(*access) } else { None };
    steps.iter().filter_map(access).collect()
}

/// References given as `0W100` (thread, kind, address in hexadecimal), with bytes after a slash
/// where they are not 4.
pub fn by_hand(text: &str) -> Vec<Step> {
    let step = |word: &str| {
        let (thread, rest) = word.split_at(1);
        let (kind, rest) = rest.split_at(1);
        let (addr, size) = rest.split_once('/').unwrap_or((rest, "4"));
        let kind = match kind {
            "R" => AccessKind::Read,
            "W" => AccessKind::Write,
            "A" => AccessKind::Atomic,
            _ => AccessKind::Fetch,
        };
        let addr = u64::from_str_radix(addr, 16).unwrap();
        Step::Access(Access::new(thread.parse().unwrap(), kind, addr, size.parse().unwrap()))
    };
    text.split_whitespace().map(step).collect()
}

pub fn read(trace: &TraceReader) -> Vec<Step> {
    let mut batch = Batch::default();
    let mut steps = Vec::new();
    for index in 0..trace.chunks().len() {
        trace.read_chunk(index, Want::ALL, &mut batch).unwrap();
        steps.extend(steps_of(&batch));
    }
    steps
}

pub fn steps_of(batch: &Batch) -> Vec<Step> {
    let mut steps = Vec::new();
    for part in batch.parts() {
        match part {
            BatchPart::Event(event) => steps.push(Step::Event(event.clone())),
            BatchPart::Turn(turn) => {
                steps.extend(turn.rows.map(|row| Step::Access(batch.get(row))));
            }
        }
    }
    steps
}

/// The steps as a trace with these columns keeps them.
pub fn kept(steps: &[Step], columns: Columns) -> Vec<Step> {
    let keep = |step: &Step| match step {
        Step::Event(event) => Step::Event(event.clone()),
        Step::Access(access) => Step::Access(Access {
            pc: if columns.pc { access.pc } else { 0 },
            gap: if columns.gap { access.gap } else { 0 },
            pid: if columns.pid { access.pid } else { 0 },
            flags: if columns.flags { access.flags } else { Flags(0) },
            ..*access
        }),
    };
    steps.iter().map(keep).collect()
}

pub fn small_chunks(chunk_rows: u32) -> WriterOptions {
    WriterOptions { columns: Columns::ALL, chunk_rows, ..WriterOptions::default() }
}

prop_compose! {
    fn any_access()(
        thread in prop_oneof![3 => 0u16..4, 1 => 0u16..65_535],
        kind in 0u8..4,
        size in 1u8..=64,
        flags in 0u8..16,
        addr in prop_oneof![3 => 0x1000u64..0x1100, 1 => any::<u64>()],
        pc in prop_oneof![3 => 0x400u64..0x410, 1 => any::<u64>()],
        gap in prop_oneof![3 => 0u32..4, 1 => any::<u32>()],
        pid in prop_oneof![3 => 0u32..2, 1 => any::<u32>()],
    ) -> Access {
        let kind = AccessKind::from_code(kind).unwrap();
        Access { thread, kind, size, flags: Flags(flags), addr, pc, gap, pid }
    }
}

fn any_event() -> impl Strategy<Value = Event> {
    let what = prop_oneof![
        any::<[u64; 2]>()
            .prop_map(|[stack_low, stack_high]| EventKind::ThreadStart { stack_low, stack_high }),
        any::<u16>().prop_map(|child| EventKind::ThreadCreate { child }),
        any::<u64>().prop_map(|addr| EventKind::BarrierEnter { addr }),
        any::<[u64; 3]>().prop_map(|[addr, size, site]| EventKind::Alloc { addr, size, site }),
        (any::<u64>(), any::<bool>(), ".*").prop_map(|(addr, shared, object)| EventKind::Map {
            addr,
            size: 1,
            shared,
            object
        }),
        any::<u32>().prop_map(|number| EventKind::SyscallExit { number }),
        Just(EventKind::InitDone),
        ".*".prop_map(|text| EventKind::Marker { text }),
    ];
    (0u16..65_535, what).prop_map(|(thread, what)| Event { thread, what })
}

/// Loops of a few threads over arrays, for which the predictors are made.
fn loops() -> impl Strategy<Value = Vec<Step>> {
    (1u64..6, 1u64..5, 0u64..200).prop_map(|(threads, sites, rows)| {
        let step = |i: u64| {
            let thread = u16::try_from(i / 7 % threads).unwrap();
            let addr = 0x10_0000 * (i % sites) + 8 * (i / sites);
            let mut access = Access::new(thread, AccessKind::Read, addr, 8);
            access.pc = 0x400 + i % sites;
            Step::Access(access)
        };
        (0..rows).map(step).collect()
    })
}

pub fn any_steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        8 => any_access().prop_map(Step::Access),
        1 => any_event().prop_map(Step::Event),
    ];
    prop_oneof![proptest::collection::vec(step, 0..120), loops()]
}

pub fn any_columns() -> impl Strategy<Value = Columns> {
    (0u8..16).prop_map(|bits| Columns::from_bits(bits).unwrap())
}
