//! Several traces as one, against plain lists.
#![allow(clippy::wildcard_enum_match_arm, reason = "a test names what concerns it")]

use crate::made::{self, parameters};
use crate::oracle::merge::{Naive, STRIDE};
use crate::support::{Step, by_hand, kept, read};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{
    AddressRange, Columns, Event, EventKind, Metadata, MovedRange, RangeKind, SourceLine,
    TraceReader, WriterOptions,
};
use homenode_transform::{MergeReport, TransformError, TransformReport, transform_files};

fn metadata() -> Metadata {
    Metadata { program: "sample".into(), word_size: 4, ..Metadata::default() }
}

fn trace(name: &str, steps: &[Step], columns: Columns, metadata: Metadata) -> TraceReader {
    made::written(name, steps, WriterOptions { columns, level: 1, chunk_rows: 16 }, metadata)
}

fn plain(name: &str, steps: &[Step]) -> TraceReader {
    trace(name, steps, Columns::ALL, metadata())
}

fn merged(
    traces: &[TraceReader],
    words: &[&str],
) -> Result<(TraceReader, MergeReport), TransformError> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mix.hnt");
    let mut last = 0;
    let progress = &mut |done, total: Option<u64>| {
        assert!(last <= done && done <= total.unwrap());
        last = done;
        std::ops::ControlFlow::Continue(())
    };
    let made = transform_files(traces, "merge", &parameters(words), &out, progress);
    let left = folder.path().read_dir().unwrap().count();
    let mut made = made.inspect_err(|_| assert_eq!(left, 0))?;
    assert_eq!((made.len(), left), (1, 1));
    let Some(TransformReport::Merged(report)) = made.remove(0).report else { panic!("no report") };
    let mix = TraceReader::from_bytes(std::fs::read(&out).unwrap(), "mix.hnt").unwrap();
    mix.verify().unwrap();
    Ok((mix, *report))
}

fn refused(traces: &[TraceReader], words: &[&str]) -> String {
    merged(traces, words).err().unwrap().to_string()
}

const KINDS: [AccessKind; 4] =
    [AccessKind::Read, AccessKind::Write, AccessKind::Atomic, AccessKind::Fetch];

/// A process with all kinds of events, in pages 1 to 12.
fn process(rng: &mut Rng, references: u64) -> Vec<Step> {
    let threads = 1 + rng.below(3);
    let pids = 1 + rng.below(2);
    let mut steps = Vec::new();
    for _ in 0..references {
        let thread = u16::try_from(rng.below(threads)).unwrap();
        while rng.below(4) == 0 {
            steps.push(Step::Event(Event { thread, what: event(rng) }));
        }
        let access = Access {
            gap: u32::try_from(rng.below(9)).unwrap(),
            pid: u32::try_from(rng.below(pids)).unwrap(),
            pc: rng.below(3) * 0x2ff0,
            flags: Flags(u8::try_from(rng.below(4)).unwrap()),
            ..Access::new(thread, KINDS[usize::try_from(rng.below(4)).unwrap()], 0, 4)
        };
        steps.push(Step::Access(Access { addr: 0x1000 + 8 * rng.below(0x1800), ..access }));
    }
    steps.push(Step::Event(Event { thread: 0, what: event(rng) }));
    steps
}

fn event(rng: &mut Rng) -> EventKind {
    let addr = 0x1000 + 8 * rng.below(0x1800);
    let page = 0x1000 * (1 + rng.below(10));
    let size = 0x1000 * (1 + rng.below(3));
    let number = 1 + u32::try_from(rng.below(50)).unwrap();
    match rng.below(14) {
        0 => EventKind::ThreadStart { stack_low: page, stack_high: page + size },
        1 => EventKind::ThreadCreate { child: u16::try_from(rng.below(4)).unwrap() },
        2 => EventKind::ThreadJoin { child: u16::try_from(rng.below(4)).unwrap() },
        3 => EventKind::LockAcquire { addr },
        4 => EventKind::BarrierEnter { addr },
        5 => EventKind::ConditionWake { addr },
        6 => EventKind::Alloc { addr, size: 24, site: rng.below(2) * 0x1234 },
        7 => EventKind::Free { addr },
        8 => EventKind::Map { addr: page, size, shared: true, object: "/shm".into() },
        9 => EventKind::Map { addr: page, size, shared: false, object: String::new() },
        10 => EventKind::Unmap { addr: page, size },
        11 => EventKind::SyscallEnter { number },
        12 => EventKind::Phase { id: number },
        _ => EventKind::Marker { text: format!("at {number}") },
    }
}

#[test]
fn a_mix_agrees_with_plain_lists() {
    let mut rng = Rng::new(61);
    for round in 0..60 {
        let count = 1 + rng.below(4);
        let processes: Vec<Vec<Step>> = (0..count)
            .map(|_| {
                let references = rng.below(90);
                process(&mut rng, references)
            })
            .collect();
        let quantum = [1, 3, 16, 1000][usize::try_from(rng.below(4)).unwrap()];
        let (shared, words) = match rng.below(3) {
            0 => (vec![], ""),
            1 => (vec![3, 4], "0x3000-0x5000"),
            _ => (vec![2, 3, 9], "0x9000-0xa000,0x2000-0x3000,0x3000-0x4000"),
        };
        let marks = rng.below(2) == 0;
        let naive = Naive { shared, quantum, marks };
        let mut given = vec![format!("quantum={quantum}")];
        given.extend((!words.is_empty()).then(|| format!("shared={words}")));
        given.extend((!marks).then(|| "private=keep".to_owned()));
        let given: Vec<&str> = given.iter().map(String::as_str).collect();
        let traces: Vec<TraceReader> = processes.iter().map(|steps| plain("t", steps)).collect();
        let (mix, report) = merged(&traces, &given).unwrap();
        let expected = naive.merge(&processes);
        assert!(read(&mix) == expected, "round {round}: {given:?}");
        let private = |access: &&Access| access.flags.contains(Flags::PRIVATE);
        let counted: u64 = report.processes.iter().map(|process| process.private_references).sum();
        let found = crate::support::accesses(&expected);
        assert_eq!(counted, found.iter().filter(private).count() as u64);
        let references: u64 = report.processes.iter().map(|process| process.references).sum();
        assert_eq!(references, mix.references());
    }
}

#[test]
fn long_traces_are_emitted_whole() {
    let steps: Vec<Step> = (0..50_000u64)
        .map(|i| Step::Access(Access::new(0, KINDS[1], 0x1000 + i % 4096 * 8, 8)))
        .collect();
    let options = WriterOptions { columns: Columns::default(), level: 1, chunk_rows: 1 << 20 };
    let made = || made::written("long", &steps, options, metadata());
    let (mix, _) = merged(&[made(), made(), made()], &["quantum=7"]).unwrap();
    let naive = Naive { shared: Vec::new(), quantum: 7, marks: true };
    assert!(read(&mix) == naive.merge(&[steps.clone(), steps.clone(), steps]));
}

#[test]
fn each_process_keeps_its_order_and_its_columns() {
    let steps = by_hand("0R100 0W104 1A108");
    let with_pc: Vec<Step> = steps
        .iter()
        .map(|step| match step {
            Step::Access(access) => Step::Access(Access { pc: 0x40, gap: 7, ..*access }),
            Step::Event(_) => step.clone(),
        })
        .collect();
    let bare = trace("bare", &steps, Columns::default(), metadata());
    let with_column = Columns { pc: true, ..Columns::default() };
    let full = trace("full", &with_pc, with_column, metadata());
    let (mix, report) = merged(&[bare, full], &["quantum=2"]).unwrap();
    assert_eq!(mix.columns(), Columns { pc: true, pid: true, ..Columns::default() });
    let rows: Vec<(u16, u64, u64, u32)> = crate::support::accesses(&read(&mix))
        .iter()
        .map(|access| (access.thread, access.addr, access.pc, access.pid))
        .collect();
    let (other, pc) = (STRIDE, STRIDE + 0x40);
    assert_eq!(
        rows,
        [
            (0, 0x100, 0, 1),
            (0, 0x104, 0, 1),
            (2, other + 0x100, pc, 2),
            (2, other + 0x104, pc, 2),
            (1, 0x108, 0, 1),
            (3, other + 0x108, pc, 2),
        ]
    );
    assert_eq!(report.processes[1].offset, STRIDE);
    assert_eq!((report.processes[1].first_thread, report.processes[1].threads), (2, 2));
    assert_eq!(mix.threads(), 4);
}

#[test]
fn names_are_relocated_and_include_their_process() {
    let range = |start, size, kind, name: &str, site| AddressRange {
        site,
        thread: 1,
        ..AddressRange::new(kind, start, size, name)
    };
    let line = |pc, function: &str| SourceLine {
        pc,
        function: function.into(),
        file: "a.c".into(),
        line: 3,
    };
    let own = Metadata {
        ranges: vec![
            range(0x1000, 64, RangeKind::Static, "table", 0),
            range(0x2000, 0x2000, RangeKind::Mapping, "half", 0),
            range(0x8000, 32, RangeKind::Heap, "", 0x40),
            range(0xffff_ffff_ff60_0000, 0x1000, RangeKind::Mapping, "[vsyscall]", 0),
        ],
        moved: vec![MovedRange { start: 0x9000, size: 8, from: 0x1000 }],
        lines: vec![line(0x40, "main"), line(0x3010, "shared")],
        wall_time_s: Some(2.0),
        exit_code: Some(0),
        order: "deterministic".into(),
        provenance: vec!["record".into()],
        ..metadata()
    };
    let steps = by_hand("0R1000 1W1004");
    let made = || trace("a.hnt", &steps, Columns::default(), own.clone());
    let traces = [made(), made()];
    let (mix, _) = merged(&traces, &["shared=0x3000-0x4000"]).unwrap();
    let found = mix.metadata();
    let names: Vec<(u64, u64, &str, u16)> =
        found.ranges.iter().map(|r| (r.start, r.size, r.name.as_str(), r.thread)).collect();
    assert_eq!(
        names,
        [
            (0x1000, 64, "table (process 1)", 1),
            (0x2000, 0x1000, "half (process 1)", 1),
            (0x3000, 0x1000, "half", 1),
            (0x8000, 32, "", 1),
            (STRIDE + 0x1000, 64, "table (process 2)", 3),
            (STRIDE + 0x2000, 0x1000, "half (process 2)", 3),
            (STRIDE + 0x8000, 32, "", 3),
            (0xffff_ffff_ff60_0000, 0x1000, "[vsyscall]", 1),
        ]
    );
    assert_eq!(found.ranges[6].site, STRIDE + 0x40);
    let moved: Vec<(u64, u64)> = found.moved.iter().map(|r| (r.start, r.from)).collect();
    assert_eq!(moved, [(0x9000, 0x1000), (STRIDE + 0x9000, STRIDE + 0x1000)]);
    let lines: Vec<(u64, &str)> = found.lines.iter().map(|l| (l.pc, l.function.as_str())).collect();
    let mains = [(0x40, "main (process 1)"), (STRIDE + 0x40, "main (process 2)")];
    assert_eq!(lines, [mains[0], (0x3010, "shared"), mains[1]]);
    assert_eq!(found.program, "sample + sample");
    assert_eq!(found.arguments, [""; 0]);
    assert_eq!(found.order, "turns of 100 of: deterministic");
    assert_eq!((found.wall_time_s, found.exit_code, found.word_size), (None, None, 4));
    let process = |number| {
        [format!("process {number}: a.hnt, of sample"), format!("process {number}: record")]
    };
    assert_eq!(found.provenance[..4], [process(1), process(2)].concat());
    let last = found.provenance.last().unwrap();
    let (checksum, words) = (traces[0].checksum(), "quantum=100 shared=0x3000-0x4000 private=auto");
    assert!(last.starts_with(&format!("transform merge {words} (homenode ")), "{last}");
    assert!(last.ends_with(&format!("of traces with checksums {checksum}, {checksum}")), "{last}");
}

#[test]
fn a_mix_can_be_merged_again() {
    let [one, other] = ["0R100 0W200", "0W300"].map(|text| plain("t", &by_hand(text)));
    let (pair, _) = merged(&[one, other], &[]).unwrap();
    let third = plain("t", &by_hand("0A400"));
    let (mix, report) = merged(&[third, pair], &["private=keep"]).unwrap();
    let pids: Vec<&[u32]> = report.processes.iter().map(|p| p.pids.as_slice()).collect();
    assert_eq!(pids, [&[1][..], &[2, 3]]);
    let found = crate::support::accesses(&read(&mix));
    // The two processes of the pair have addresses of up to 48 bits.
    let rows: Vec<(u32, u64)> = found.iter().map(|access| (access.pid, access.addr)).collect();
    let far = 1 << 48;
    assert_eq!(rows, [(1, 0x400), (2, far + 0x100), (2, far + 0x200), (3, far + STRIDE + 0x300)]);
    assert_eq!(kept(&read(&mix), mix.columns()), read(&mix));
}

#[test]
fn traces_that_do_not_fit_together_are_errors() {
    let steps = by_hand("0R100 1W104");
    let made = |change: fn(&mut Metadata)| {
        let mut own = metadata();
        change(&mut own);
        trace("odd.hnt", &steps, Columns::ALL, own)
    };
    let fine = || plain("fine.hnt", &steps);
    let error = refused(&[fine(), made(|own| own.word_size = 8)], &[]);
    assert!(error.contains("fine.hnt has words of 4 bytes and odd.hnt of 8"), "{error}");
    let error = refused(&[fine(), made(|own| own.sampling = "one in 9".into())], &[]);
    assert!(error.contains("fine.hnt and odd.hnt are not samples of the same kind"), "{error}");
    let kernel = |step: Step| match step {
        Step::Access(access) => Step::Access(Access { flags: Flags::KERNEL, ..access }),
        Step::Event(_) => step,
    };
    let system: Vec<Step> = steps.iter().cloned().map(kernel).collect();
    let error = refused(&[fine(), plain("system.hnt", &system)], &[]);
    assert!(error.contains("system.hnt is of a whole system"), "{error}");
    let high = plain("high.hnt", &by_hand("0R7fff000000000000"));
    let error = refused(&[fine(), fine(), high], &[]);
    assert!(error.contains("high.hnt has addresses up to 0x7fff000000000003"), "{error}");
    let far = Event { thread: 65_000, what: EventKind::ThreadExit };
    let many = || plain("many.hnt", &[Step::Event(far.clone())]);
    let error = refused(&[many(), many()], &[]);
    assert!(error.contains("more than 65,534 threads"), "{error}");
    for (words, expected) in [
        ("shared=0x1000-0x1800", "multiples of 4096"),
        ("shared=0x1000-", "multiples of 4096"),
        ("shared=5", "expected A-B"),
        ("quantum=0", "expected a whole number from 1"),
        ("private=all", "expected one of auto, keep"),
    ] {
        let error = refused(&[fine()], &[words]);
        assert!(error.contains(expected), "{error}");
    }
    assert!(refused(&[], &[]).contains("expected one trace or more, found 0"));
}
