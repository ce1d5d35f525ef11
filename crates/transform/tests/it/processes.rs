//! Mixes of processes from whole systems: hand-worked cases, and comparison with the definition.

use std::collections::{BTreeMap, BTreeSet};

use crate::made::written;
use crate::support::{Step, accesses, read, small_chunks};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{
    AddressRange, Columns, Event, EventKind, Metadata, MovedRange, Process, ProcessorAreas,
    RangeKind, SourceLine, TraceReader, WriterOptions,
};
use homenode_transform::{
    AreaReferences, Mix, ReferenceTotals, Switches, TransformReport, transform_file,
};

const KERNEL: Flags = Flags::KERNEL;

fn write(steps: &[Step], metadata: Metadata) -> TraceReader {
    written("system.hnt", steps, small_chunks(64), metadata)
}

fn system(steps: &[Step], processes: &[(u32, &[&str])]) -> TraceReader {
    let process = |&(pid, names): &(u32, &[&str])| Process {
        pid,
        names: names.iter().map(|&name| name.to_owned()).collect(),
    };
    let processes = processes.iter().map(process).collect();
    write(steps, Metadata { processes, word_size: 4, ..Metadata::default() })
}

fn mixed(trace: &TraceReader, words: &[(&str, &str)]) -> Result<(TraceReader, Mix), String> {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("mix.hnt");
    let given: BTreeMap<String, String> =
        words.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
    let mut seen = (0, 0);
    let progress = &mut |done, total: Option<u64>| {
        assert!(done >= seen.0, "progress only grows");
        seen = (done, total.unwrap());
        std::ops::ControlFlow::Continue(())
    };
    let made = transform_file(trace, "processes", &given, &out, progress);
    let Ok(mut pieces) = made else { return Err(made.unwrap_err().to_string()) };
    assert_eq!(seen, (2 * trace.rows(), 2 * trace.rows()));
    let Some(TransformReport::Mixed(mix)) = pieces.remove(0).report else { panic!("no report") };
    Ok((TraceReader::from_bytes(std::fs::read(&out).unwrap(), &out).unwrap(), *mix))
}

/// `2:14R1000` is a read at 0x1000 by process 14 on processor 2, with `k` at the end in the kernel;
/// `!` and a text is a marker of processor 0.
fn by_hand(text: &str) -> Vec<Step> {
    let step = |word: &str| {
        if let Some(text) = word.strip_prefix('!') {
            let text = text.replace('_', " ");
            return Step::Event(Event { thread: 0, what: EventKind::Marker { text } });
        }
        let (processor, rest) = word.split_once(':').unwrap();
        let kind = rest.find(['R', 'W']).unwrap();
        let (rest, flags) = match rest.strip_suffix('k') {
            Some(rest) => (rest, KERNEL),
            None => (rest, Flags(0)),
        };
        let addr = u64::from_str_radix(&rest[kind + 1..], 16).unwrap();
        let code = if rest[kind..].starts_with('W') { AccessKind::Write } else { AccessKind::Read };
        let access = Access::new(processor.parse().unwrap(), code, addr, 4);
        Step::Access(Access { pid: rest[..kind].parse().unwrap(), flags, ..access })
    };
    text.split_whitespace().map(step).collect()
}

/// The steps in the notation of [`by_hand`], with the thread for the processor, `p` for private
/// references and `wN` where thread N waits.
fn notation(trace: &TraceReader) -> String {
    let one = |step: &Step| match step {
        Step::Access(access) => {
            let kind = if access.kind.writes() { 'W' } else { 'R' };
            let private = if access.flags.contains(Flags::PRIVATE) { "p" } else { "" };
            let kernel = if access.flags.contains(KERNEL) { "k" } else { "" };
            format!("{}:{}{kind}{:x}{private}{kernel}", access.thread, access.pid, access.addr)
        }
        Step::Event(Event { thread, what: EventKind::SyscallEnter { number: 7 } }) => {
            format!("w{thread}")
        }
        Step::Event(Event { thread, what: EventKind::Marker { text } }) => {
            format!("{thread}!{}", text.replace(' ', "_"))
        }
        Step::Event(event) => panic!("{event:?}"),
    };
    read(trace).iter().map(one).collect::<Vec<_>>().join(" ")
}

#[test]
fn a_process_is_a_thread_wherever_it_ran() {
    let steps = by_hand(
        "!start !process_5_db 0:5W1000 1:0R9000k 0:5R9000k !note 0:7W2000 0:7R3000 \
         !process_8_web 1:5R1008 1:5R3000 1:8W3000 1:8R9008k 0:0R9000k 1:8R4000k \
         0:7R2004 0:7R3004 !process_9_gone !stop",
    );
    let names: [(u32, &[&str]); 4] = [(5, &["db"]), (7, &["db"]), (8, &["sh", "web"]), (9, &["x"])];
    let (mix, report) = mixed(&system(&steps, &names), &[]).unwrap();
    // Process 5 leaves processor 0, and later processor 1; process 7 leaves processor 0.
    assert_eq!(
        notation(&mix),
        "0!start 0!process_5_db 0:5W1000p 0:5R9000k 0!note w0 1:7W2000p 1:7R3000 2!process_8_web \
         0:5R1008p 0:5R3000 w0 2:8W3000 2:8R9008k w1 2:8R4000pk 1:7R2004p 1:7R3004 1!stop"
    );
    let pids: Vec<u32> = mix.metadata().processes.iter().map(|process| process.pid).collect();
    assert_eq!(pids, [5, 7, 8]);
    assert_eq!(report.references, ReferenceTotals { user: 8, kernel: 3 });
    assert_eq!((report.left_out.idle, report.left_out.processes), (2, 0));
    assert_eq!([report.pages.all, report.pages.shared], [5, 1]);
    assert_eq!(report.switches, Switches { waits: 3, preemptions: 0 });
    assert!(!report.switches_told_apart);
    let rows = report.processes.iter().map(|p| {
        (p.pid, p.references.user, p.references.kernel, p.private_pages, p.private_kernel_pages)
    });
    assert_eq!(rows.collect::<Vec<_>>(), [(5, 3, 1, 1, 0), (7, 4, 0, 1, 0), (8, 1, 2, 0, 1)]);
    let private: Vec<u64> = report.processes.iter().map(|p| p.private_references).collect();
    assert_eq!(private, [2, 2, 0]);
}

#[test]
fn processes_are_chosen_by_name_and_activity_and_by_number() {
    let steps = by_hand(
        "0:1R1000 0:2R1000 0:2R1000 0:3R1000 0:3R1000k 0:3R1000 0:4R1000 0:5R1000 0:6R1000k \
         0:2R1000 0:0R1000k",
    );
    let names: [(u32, &[&str]); 5] =
        [(1, &["ls"]), (2, &["sh", "db"]), (3, &["db"]), (4, &["db"]), (7, &["db"])];
    let trace = system(&steps, &names);
    let threads = |words| {
        let (_, report) = mixed(&trace, &[("processes", words)]).unwrap();
        report.processes.iter().map(|process| process.pid).collect::<Vec<_>>()
    };
    assert_eq!(threads("db=2"), [2, 3]);
    assert_eq!(threads("ls, db=3"), [1, 2, 3, 4]);
    assert_eq!(threads("5,db"), [5, 2]);
    assert_eq!(threads("4,db=2"), [4, 2, 3]);
    let (_, report) = mixed(&trace, &[("processes", "db,ls")]).unwrap();
    assert_eq!(report.left_out.others, ReferenceTotals { user: 4, kernel: 2 });
    assert_eq!((report.left_out.idle, report.left_out.processes), (1, 4));
    let fails = |words| mixed(&trace, &[("processes", words)]).map(|_| ()).unwrap_err();
    let there = "there are db=3, ls=1, without a name 5, 6 (1 more did nothing)";
    assert_eq!(
        fails("db=4"),
        format!(
            "transform processes: processes: there is no 4 of db, of which the recording has 3; \
             {there}"
        )
    );
    assert!(fails("7").contains(&format!("no process 7; {there}")), "{}", fails("7"));
    assert!(fails("sh").contains("1 of sh, of which the recording has 0"), "an earlier name");
    assert!(fails("4,4").contains("process 4 is named twice"));
    assert!(fails("db=x").contains("expected NAME=N, NAME or PID"));
}

#[test]
fn a_mix_ends_at_its_limits() {
    let steps = by_hand("0:1R1000 0:2R2000 0:1R1004 0:1R1008 0:2R2004 0:1R100c");
    let trace = system(&steps, &[(1, &["a"])]);
    let limited = |name, value| {
        let (mix, report) = mixed(&trace, &[(name, value)]).unwrap();
        (notation(&mix), report.left_out.after_the_end)
    };
    let first = "0:1R1000p w0 1:2R2000p w1 0:1R1004p";
    assert_eq!(limited("references", "3"), (first.to_owned(), 3));
    let each = "0:1R1000p w0 1:2R2000p w1 0:1R1004p 1:2R2004p";
    assert_eq!(limited("each", "2"), (each.to_owned(), 2));
}

#[test]
fn a_preempted_process_does_not_wait() {
    // The scheduler's entry, a function that dequeues a task, one that does not, and the stack
    // switch.
    let functions = [
        (0x100, "__schedule"),
        (0x104, "__schedule"),
        (0x200, "dequeue_entity"),
        (0x300, "enqueue_entity"),
        (0x400, "__switch_to_asm"),
    ];
    let line = |&(pc, name): &(u64, &str)| SourceLine {
        pc,
        function: name.into(),
        file: String::new(),
        line: 0,
    };
    let kernel = |pid, pc, addr| {
        let access = Access::new(0, AccessKind::Read, addr, 8);
        Step::Access(Access { pid, pc, flags: KERNEL, ..access })
    };
    let steps = [
        kernel(1, 0x100, 0x8000), // the scheduler dequeues process 1
        kernel(1, 0x200, 0x8000),
        kernel(1, 0x104, 0x8000),
        kernel(1, 0x400, 0x2000), // the stack of process 2
        kernel(2, 0x104, 0x2008),
        kernel(2, 0x200, 0x8000), // another task leaves the queue
        kernel(2, 0x100, 0x8000),
        kernel(2, 0x300, 0x8000),
        kernel(1, 0x104, 0x1000),
        kernel(1, 0x200, 0x8000), // only the dequeue after the last switch counts
        kernel(2, 0x104, 0x2000),
    ];
    let names = [(1, "a"), (2, "b")];
    let processes = names.map(|(pid, name)| Process { pid, names: vec![name.to_owned()] });
    let lines = functions.iter().map(line).collect();
    let metadata = Metadata { processes: processes.into(), lines, ..Metadata::default() };
    let (mix, report) = mixed(&write(&steps, metadata), &[]).unwrap();
    assert!(report.switches_told_apart);
    assert_eq!(report.switches, Switches { waits: 2, preemptions: 1 });
    let waits = notation(&mix).split(' ').filter(|word| word.starts_with('w')).collect::<String>();
    assert_eq!(waits, "w0w0");
    // References to the stack of process 2 during the switch belong to process 2 and do not make
    // the stack shared.
    assert!(notation(&mix).starts_with("0:1R8000k 0:1R8000k 0:1R8000k 1:2R2000pk w0 1:2R2008pk"));
    let private = report.processes.iter().map(|process| process.private_kernel_pages);
    assert_eq!(private.collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn references_to_per_processor_areas_are_counted() {
    // Areas of one page and reserved memory at 0x100000 and 0x140000.
    let own = |start, processor| {
        let name = format!("queue (processor {processor})");
        AddressRange::new(RangeKind::Static, start, 0x40, name)
    };
    let steps = by_hand(
        "0:1R1000 0:1W100040k 0:2R100044k 1:1R140040k 1:1R2000 1:1R100040k 1:2R3000k 1:2R141000k",
    );
    let processes = [1, 2].map(|pid| Process { pid, names: Vec::new() });
    let metadata = Metadata {
        processes: processes.into(),
        ranges: vec![own(0x10_0040, 0), own(0x14_0040, 1)],
        ..Metadata::default()
    };
    let (mix, report) = mixed(&write(&steps, metadata), &[]).unwrap();
    assert_eq!(
        notation(&mix),
        "0!processor_0 0:1R1000p 0:1W100040k w0 1!processor_0 1:2R100044k 0!processor_1 \
         0:1R140040k 0:1R2000p 0:1R100040k w0 1!processor_1 1:2R3000pk 1:2R141000k"
    );
    let areas = mix.metadata().processor_areas.clone().unwrap();
    assert_eq!((areas.starts, areas.size), (vec![0x10_0000, 0x14_0000], 0xa000));
    assert_eq!(report.processor_areas, Some(AreaReferences { own: 4, others: 1 }));
    let kernel: Vec<u64> = report.processes.iter().map(|p| p.private_kernel_pages).collect();
    assert_eq!(kernel, [0, 1], "pages of processors are not private to a process");
    // Areas in the metadata take precedence.
    let recorded = ProcessorAreas { size: 0x1000, starts: vec![0x10_0000] };
    let metadata = Metadata { processor_areas: Some(recorded.clone()), ..mix.metadata().clone() };
    let (mix, report) = mixed(&write(&steps, metadata), &[]).unwrap();
    assert_eq!(mix.metadata().processor_areas, Some(recorded));
    assert_eq!(report.processor_areas, Some(AreaReferences { own: 2, others: 1 }));
}

#[test]
fn reallocated_memory_is_distinct() {
    // Process 2 gets the page that process 1 had, and the kernel clears it first.
    let steps = by_hand("0:1W1000 0:1R1004k 0:1R1008 0:2W1000k 0:2R1004 0:3R1000k 0:1R2000");
    let (mix, report) = mixed(&system(&steps, &[(1, &["a"])]), &[]).unwrap();
    assert_eq!(
        notation(&mix),
        "0:1W1000p 0:1R1004pk 0:1R1008p w0 1:2W3000pk 1:2R3004p w1 2:3R3000pk w2 0:1R2000p"
    );
    assert_eq!(report.frames_renamed, 1);
    assert_eq!(mix.metadata().moved, [MovedRange { start: 0x3000, size: 4096, from: 0x1000 }]);
    assert_eq!(report.pages.shared, 0);
}

#[test]
fn a_reference_ends_with_its_page() {
    // The next virtual page of process 1 is not the next physical page, which belongs to process 2.
    let wide = |addr| Access { pid: 1, ..Access::new(0, AccessKind::Read, addr, 8) };
    let mut steps = by_hand("0:2W2000 0:1R3000");
    steps.extend([0x1ff8, 0x1ffc, 0x1fff, 0x3ffb].map(|addr| Step::Access(wide(addr))));
    let (mix, report) = mixed(&system(&steps, &[(1, &["a"])]), &[]).unwrap();
    let last: Vec<u64> =
        accesses(&read(&mix))[2..].iter().map(|a| a.addr + u64::from(a.size) - 1).collect();
    assert_eq!(last, [0x1fff, 0x1fff, 0x1fff, 0x3fff]);
    assert_eq!(report.cut_at_pages, 3);
    assert_eq!(report.references.user, 6, "a cut reference counts");
}

#[test]
fn threads_of_one_process_are_one_thread() {
    let steps = by_hand("0:1R1000 1:1R1004 0:2R2000 0:1R1008 1:2R2004");
    let (mix, report) = mixed(&system(&steps, &[(1, &["a"])]), &[]).unwrap();
    assert_eq!(notation(&mix), "0:1R1000p 0:1R1004p 1:2R2000p w1 0:1R1008p 1:2R2004p");
    let parallel: Vec<bool> = report.processes.iter().map(|process| process.parallel).collect();
    assert_eq!(parallel, [true, false]);
}

#[test]
fn traces_of_single_processes_are_errors() {
    let of = |text, processes: &[(u32, &[&str])]| {
        mixed(&system(&by_hand(text), processes), &[]).map(|_| ()).unwrap_err()
    };
    let error = of("0:1R1000k 1:2R1000", &[]);
    assert!(error.contains("not of a whole system"), "{error}");
    let error = of("0:0R1000k 0:0R1000", &[(1, &["a"])]);
    assert!(error.contains("no process that did anything"), "{error}");
    // An import has no list of processes.
    let trace = system(&by_hand("0:1R1000k 0:2R1000"), &[]);
    let (mix, _) = mixed(&trace, &[]).unwrap();
    let processes = [1, 2].map(|pid| Process { pid, names: Vec::new() });
    assert_eq!(mix.metadata().processes, processes);
    let columns = Columns { pid: false, ..Columns::ALL };
    let options = WriterOptions { columns, ..WriterOptions::default() };
    let trace = written("t.hnt", &crate::support::steps(), options, Metadata::default());
    let error = mixed(&trace, &[]).map(|_| ()).unwrap_err();
    assert!(error.contains("which process") && error.contains("--via qemu-system"), "{error}");
}

fn random(rng: &mut Rng) -> Vec<Step> {
    let (processors, processes) = (1 + rng.below(3), 2 + rng.below(5));
    let mut runs: Vec<u64> = (0..processors).map(|_| rng.below(processes)).collect();
    let mut steps = Vec::new();
    for _ in 0..rng.below(400) {
        let at = usize::try_from(rng.below(processors)).unwrap();
        if rng.below(8) == 0 {
            runs[at] = rng.below(processes);
        }
        let kernel = rng.below(3) == 0;
        let page = if rng.below(4) == 0 { rng.below(12) } else { runs[at] };
        let kind = AccessKind::from_code(u8::try_from(rng.below(4)).unwrap()).unwrap();
        let (addr, size) = match rng.below(10) {
            0 => (page * 4096 + 4090 + rng.below(6), 8),
            _ => (page * 4096 + rng.below(4096), 1),
        };
        steps.push(Step::Access(Access {
            pid: u32::try_from(runs[at]).unwrap(),
            flags: if kernel { KERNEL } else { Flags(0) },
            ..Access::new(u16::try_from(at).unwrap(), kind, addr, size)
        }));
    }
    steps
}

/// The owners of a page, searched in the whole recording.
struct Page<'a> {
    all: Vec<(usize, &'a Access)>,
    /// Its owners in user mode, in order of time.
    owners: Vec<u32>,
    /// The row where each next owner takes over.
    from: Vec<usize>,
}

impl<'a> Page<'a> {
    fn new(all: &'a [Access], page: u64) -> Self {
        let all: Vec<_> = all.iter().enumerate().filter(|(_, a)| a.addr / 4096 == page).collect();
        let mut rows: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
        for (row, access) in all.iter().filter(|(_, a)| !a.flags.contains(KERNEL)) {
            rows.entry(access.pid).or_default().push(*row);
        }
        let count: usize = rows.values().map(Vec::len).sum();
        if !take_turns(&rows) {
            rows.retain(|_, rows| 20 * rows.len() >= count);
        }
        let mut owners: Vec<u32> =
            if take_turns(&rows) { rows.keys().copied().collect() } else { vec![] };
        owners.sort_by_key(|pid| rows[pid][0]);
        let next = |pair: &[u32]| {
            let last = *rows[&pair[0]].last().unwrap();
            let first = all.iter().find(|(row, a)| *row > last && a.pid == pair[1]);
            first.unwrap().0
        };
        let from = owners.windows(2).map(next).collect();
        Self { all, owners, from }
    }

    fn epoch(&self, row: usize) -> usize {
        self.from.iter().filter(|&&from| from <= row).count()
    }

    fn is_private(&self) -> bool {
        let user = self.all.iter().any(|(_, a)| !a.flags.contains(KERNEL));
        let of = |pid| self.all.iter().filter(|(_, a)| a.pid == pid).count();
        let mostly =
            |&(_, a): &(usize, &Access)| 20 * (self.all.len() - of(a.pid)) <= self.all.len();
        !self.owners.is_empty() || (!user && self.all.iter().any(mostly))
    }
}

fn take_turns(rows: &BTreeMap<u32, Vec<usize>>) -> bool {
    let within = |a: &Vec<usize>, row: usize| a[0] < row && row < *a.last().unwrap();
    let mut pairs = rows.values().flat_map(|a| rows.values().map(move |b| (a, b)));
    pairs.all(|(a, b)| a == b || !b.iter().any(|&row| within(a, row)))
}

fn by_definition(all: &[Access]) -> Vec<Step> {
    let pids: BTreeSet<u32> = all.iter().map(|a| a.pid).filter(|&pid| pid != 0).collect();
    let thread_of =
        |pid| pids.iter().position(|&one| one == pid).map(|at| u16::try_from(at).unwrap());
    let numbers: BTreeSet<u64> = all.iter().map(|a| a.addr / 4096).collect();
    let pages: BTreeMap<u64, Page<'_>> = numbers.iter().map(|&n| (n, Page::new(all, n))).collect();
    let mut moves: Vec<usize> = pages.values().flat_map(|page| page.from.clone()).collect();
    moves.sort_unstable();
    let beyond = 1 + numbers.last().copied().unwrap_or(0);
    let mut steps = Vec::new();
    for (row, access) in all.iter().enumerate() {
        let before = all[..row].iter().rposition(|a| a.thread == access.thread);
        if let Some(before) = before
            && all[before].pid != access.pid
        {
            let left = all[before].pid;
            // The last reference of every other processor shows the process that runs there.
            let others: BTreeMap<u16, u32> = all[..row].iter().map(|a| (a.thread, a.pid)).collect();
            let stays = others.iter().any(|(&on, &pid)| on != access.thread && pid == left);
            if let (Some(thread), false) = (thread_of(left), stays) {
                let what = EventKind::SyscallEnter { number: 7 };
                steps.push(Step::Event(Event { thread, what }));
            }
        }
        let Some(thread) = thread_of(access.pid) else { continue };
        let page = &pages[&(access.addr / 4096)];
        // Pages are renumbered in the order in which they pass to their next owners.
        let moved = page.epoch(row).checked_sub(1).map(|last| page.from[last]);
        let rank = moved.map(|from| moves.iter().position(|&other| other == from).unwrap() as u64);
        let number = rank.map_or(access.addr / 4096, |rank| beyond + rank);
        let private = if page.is_private() { Flags::PRIVATE } else { Flags(0) };
        steps.push(Step::Access(Access {
            thread,
            addr: number * 4096 + access.addr % 4096,
            size: access.size.min(u8::try_from(4096 - access.addr % 4096).unwrap_or(8)),
            flags: access.flags.union(private),
            ..*access
        }));
    }
    steps
}

#[test]
fn mixes_agree_with_the_definition() {
    let mut rng = Rng::new(11);
    let (mut compared, mut renamed) = (0, 0);
    for round in 0..300 {
        let steps = random(&mut rng);
        let all = accesses(&steps);
        let expected = by_definition(&all);
        if accesses(&expected).is_empty() {
            continue;
        }
        let (mix, report) = mixed(&system(&steps, &[(1, &["a"])]), &[]).unwrap();
        assert_eq!(read(&mix), expected, "round {round}");
        assert_eq!(mix.metadata().moved.len() as u64, report.frames_renamed);
        renamed += report.frames_renamed;
        let sum = report.references.user + report.references.kernel + report.left_out.idle;
        assert_eq!(sum, all.len() as u64);
        compared += 1;
    }
    assert!(compared > 250 && renamed > 100, "{compared} {renamed}");
}
