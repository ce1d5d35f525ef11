//! All transforms on small traces, and comparison of the perturbations with their definitions.

use std::collections::VecDeque;

use crate::made::{by_thread, made, parameters, pieces, trace_of, written};
use crate::support::{Step, accesses, read, small_chunks, steps, with_areas};
use homenode_base::{Access, AccessKind, Flags, Rng};
use homenode_trace::{Event, EventKind, Metadata, TraceReader};
use homenode_transform::{Entry, TABLE, transform_file};

fn transformed(trace: &TraceReader, name: &str, words: &[&str]) -> Vec<Step> {
    read(&made(trace, name, words).unwrap().0)
}

fn random_steps(rng: &mut Rng, references: u64) -> Vec<Step> {
    let threads = 1 + rng.below(4);
    let mut steps = Vec::new();
    for i in 0..references {
        let thread = u16::try_from(rng.below(threads)).unwrap();
        if rng.below(20) == 0 {
            let what = EventKind::Marker { text: format!("before {i}") };
            steps.push(Step::Event(Event { thread, what }));
        }
        let kind = AccessKind::from_code(u8::try_from(rng.below(4)).unwrap()).unwrap();
        steps.push(Step::Access(Access { gap: 1, ..Access::new(thread, kind, 8 * i, 4) }));
    }
    steps
}

/// Parameters with which each transform changes the sample.
fn example(entry: &Entry) -> &'static [&'static str] {
    match entry.name {
        "local" => &["seed=3"],
        "gap" => &["seed=3", "every=20", "length=10"],
        "reinterleave" => &["seed=3", "quantum=4"],
        "select" => &["threads=0,2"],
        "drop-sync" | "common-areas" | "own-frames" => &[],
        "words" => &["word-bytes=4"],
        "filter" => &["cache=64:1:16"],
        "processors" => &["count=2"],
        "processes" => &["references=20"],
        "rotate" => &["seed=3"],
        "merge" => &[],
        "realign" => &["page-size=64", "private=shared", "sync=include"],
        "split" => &["at=marker"],
        other => panic!("no example for {other}"),
    }
}

/// The sample as if its threads were processors of a whole system.
fn whole_system() -> Vec<Step> {
    let mut steps = steps();
    for (i, step) in (0..).zip(&mut steps) {
        if let Step::Access(access) = step {
            access.pid = i / 7 % 3;
        }
    }
    steps
}

/// Two processes that write the same memory and read only what they wrote.
fn recycling() -> Vec<Step> {
    let access = |(thread, kind)| {
        let access = Access::new(thread, kind, 0x1000, 4);
        Step::Access(Access { pid: u32::from(thread), ..access })
    };
    let (write, read) = (AccessKind::Write, AccessKind::Read);
    [(0, write), (0, read), (1, write), (1, read)].map(access).into()
}

/// The sample without kernel references.
fn user_process() -> Vec<Step> {
    let mut steps = steps();
    for step in &mut steps {
        if let Step::Access(access) = step {
            access.flags = Flags(access.flags.0 & !Flags::KERNEL.0);
        }
    }
    steps
}

#[test]
fn every_transform_is_recorded_and_repeatable() {
    let program = trace_of(&steps());
    let system = trace_of(&whole_system());
    let user = trace_of(&user_process());
    let areas = with_areas(&steps(), small_chunks(50));
    let recycled = trace_of(&recycling());
    let apart = trace_of(&accesses(&steps()).into_iter().map(Step::Access).collect::<Vec<_>>());
    for entry in TABLE {
        let trace = match entry.name {
            "processes" => &system,
            "merge" => &user,
            "common-areas" => &areas,
            "own-frames" => &recycled,
            "rotate" => &apart,
            _ => &program,
        };
        let made = pieces(trace, entry.name, example(entry)).unwrap();
        assert_eq!(made.len() > 1, entry.pieces, "{}", entry.name);
        let again = pieces(trace, entry.name, example(entry)).unwrap();
        for ((one, piece), (other, _)) in made.iter().zip(&again) {
            assert_eq!(read(one), read(other), "{}", entry.name);
            assert_eq!(one.metadata(), other.metadata());
            let record = one.metadata().provenance.last().unwrap();
            assert!(record.starts_with(&format!("transform {}", entry.name)), "{record}");
            assert!(record.contains(&trace.checksum()), "{record}");
            assert_eq!(one.metadata().program, "sample");
            assert_eq!(one.columns(), trace.columns());
            assert!(piece.path.file_name().unwrap().to_str().unwrap().starts_with("u."));
        }
        assert_ne!(read(&made[0].0), read(trace), "{} does nothing", entry.name);
    }
}

#[test]
fn every_transform_names_its_parameters_when_one_is_wrong() {
    let trace = trace_of(&steps());
    for entry in TABLE {
        let error = pieces(&trace, entry.name, &["sead=1"]).err().unwrap().to_string();
        assert!(error.contains("unknown parameter \"sead\""), "{error}");
        for param in entry.params {
            assert!(error.contains(param.name), "{error}");
            assert!(!param.doc.is_empty() && !param.form.is_empty());
        }
    }
    let error = pieces(&trace, "shuffle", &[]).err().unwrap().to_string();
    assert!(
        error.contains("unknown transform \"shuffle\"; known: local, gap, reinterleave, select"),
        "{error}"
    );
}

/// Thesis §4.3, literally: the buffer holds the references themselves.
fn local_by_definition(references: &[Access], buffer: usize, seed: u64) -> Vec<Access> {
    let mut rng = Rng::new(seed);
    let (first, rest) = references.split_at(buffer.min(references.len()));
    let mut entries: Vec<(usize, Access)> = first.iter().copied().enumerate().collect();
    let mut fresh = rest.iter().copied().enumerate();
    let mut out = Vec::new();
    while !entries.is_empty() {
        let next = fresh.next();
        let chosen = usize::try_from(rng.below(u64::try_from(entries.len()).unwrap())).unwrap();
        let of_thread = |e: &(usize, (usize, Access))| e.1.1.thread == entries[chosen].1.thread;
        let all = entries.iter().copied().enumerate().filter(of_thread);
        let (oldest, (_, access)) = all.min_by_key(|(_, (age, _))| *age).unwrap();
        out.push(access);
        entries[oldest] = entries[chosen];
        match next {
            Some((age, access)) => entries[chosen] = (buffer + age, access),
            None => drop(entries.swap_remove(chosen)),
        }
    }
    out
}

/// Thesis §4.3, driven by the output: each iteration decides what to emit next.
fn gap_by_definition(references: &[Access], every: u64, length: u64, seed: u64) -> Vec<Access> {
    let mut rng = Rng::new(seed);
    let mut fresh = references.iter().copied();
    let (mut seen, mut saved, mut out) = (Vec::new(), VecDeque::new(), Vec::new());
    let mut gap: Option<(u16, u64)> = None;
    loop {
        if let Some((_, 0)) = gap {
            if saved.is_empty() {
                gap = None;
            } else if rng.below(3) < 2 {
                out.extend(saved.pop_front());
                continue;
            }
        }
        let Some(access) = fresh.next() else { break };
        if !seen.contains(&access.thread) {
            seen.push(access.thread);
        }
        if gap.is_none() && rng.below(every) == 0 {
            let chosen = rng.below(u64::try_from(seen.len()).unwrap());
            gap = Some((seen[usize::try_from(chosen).unwrap()], length));
        }
        match &mut gap {
            Some((thread, left)) if *thread == access.thread => {
                saved.push_back(access);
                if *left == 0 {
                    out.extend(saved.pop_front());
                }
                *left = left.saturating_sub(1);
            }
            Some((_, left)) => {
                out.push(access);
                *left = left.saturating_sub(1);
            }
            None => out.push(access),
        }
    }
    out.extend(saved);
    out
}

#[test]
fn perturbations_agree_with_the_thesis() {
    let mut rng = Rng::new(41);
    for round in 0..40 {
        let steps = random_steps(&mut rng, 600);
        let (trace, references) = (trace_of(&steps), accesses(&steps));
        let seed = format!("seed={round}");
        for buffer in [2, 7, 100, 1_000] {
            let words = [seed.as_str(), &format!("buffer={buffer}")];
            let found = accesses(&transformed(&trace, "local", &words));
            assert!(found == local_by_definition(&references, buffer, round), "{round} {buffer}");
        }
        for (every, length) in [(50, 20), (5, 100), (300, 1), (1, 3)] {
            let words = [seed.as_str(), &format!("every={every}"), &format!("length={length}")];
            let found = accesses(&transformed(&trace, "gap", &words));
            let expected = gap_by_definition(&references, every, length, round);
            assert!(found == expected, "{round} {every} {length}");
        }
    }
}

#[test]
fn perturbations_keep_the_steps_of_every_thread() {
    let mut rng = Rng::new(43);
    for round in 0..40 {
        let steps = random_steps(&mut rng, 500);
        let trace = trace_of(&steps);
        let seed = format!("seed={round}");
        for (name, words) in
            [("local", vec![seed.as_str()]), ("gap", vec![&seed, "every=30", "length=40"])]
        {
            // Events included: they stay between the same references of their thread.
            let found = transformed(&trace, name, &words);
            assert!(by_thread(&found) == by_thread(&steps), "{name} {round}");
            let alone = by_thread(&steps).len() == 1;
            assert_eq!(found == steps, alone, "{name} {round}");
        }
        assert!(transformed(&trace, "local", &[&seed, "buffer=1"]) == steps);
        assert!(transformed(&trace, "gap", &[&seed, "length=0", "every=1"]) == steps);
    }
}

#[test]
fn different_seeds_differ() {
    let steps = random_steps(&mut Rng::new(9), 400);
    let steps: Vec<Step> = steps.into_iter().filter(|s| matches!(s, Step::Access(_))).collect();
    let trace = trace_of(&steps);
    for (name, more) in [("local", &["buffer=10", "seed=1"][..]), ("gap", &["every=20", "seed=1"])]
    {
        let one = transformed(&trace, name, more);
        let other = transformed(&trace, name, &[more[0], "seed=2"]);
        assert_ne!(one, other, "{name}");
    }
}

fn event(thread: u16, what: EventKind) -> Step {
    Step::Event(Event { thread, what })
}

fn reference(thread: u16, addr: u64) -> Step {
    Step::Access(Access { gap: 2, ..Access::new(thread, AccessKind::Write, addr, 4) })
}

fn phases() -> Vec<Step> {
    let alloc = |addr| EventKind::Alloc { addr, size: 64, site: 7 };
    vec![
        event(0, EventKind::ThreadStart { stack_low: 1, stack_high: 2 }),
        event(0, alloc(0x100)),
        reference(0, 0x100),
        event(0, EventKind::ThreadCreate { child: 1 }),
        event(0, EventKind::LockAcquire { addr: 0x900 }),
        event(0, EventKind::InitDone),
        reference(1, 0x104),
        reference(0, 0x200),
        event(1, EventKind::Marker { text: "a b".into() }),
        event(1, EventKind::Free { addr: 0x100 }),
        reference(0, 0x300),
        event(0, EventKind::Phase { id: 2 }),
        reference(1, 0x400),
        event(1, EventKind::ThreadExit),
    ]
}

#[test]
fn an_empty_selection_is_an_error() {
    let trace = trace_of(&phases());
    let has = "it has init-done, phase:2, marker:a b";
    let cases: [(&[&str], &str); 6] = [
        (&["from=phase:9"], &format!("from=phase:9: the trace has no such event; {has}")),
        (&["until=phase:9"], "until=phase:9: after the beginning, the trace has no such event; it"),
        (&["from=phase:2", "until=init-done"], "until=init-done: after the beginning, the"),
        (&["threads=70000-80000"], "expected numbers from 0 to 65534"),
        (&["pids=4294967296"], "pids=4294967296: expected numbers from 0 to 4294967295"),
        (&["threads=7"], "nothing is left: of 5 references none"),
    ];
    for (words, expected) in cases {
        let error = pieces(&trace, "select", words).unwrap_err().to_string();
        assert!(error.contains(expected), "{words:?}: {error}");
    }
    // A place beyond the interval need not exist.
    assert!(pieces(&trace, "select", &["time=0-1", "until=phase:9"]).is_ok());
    assert!(pieces(&trace, "select", &["threads=0-70000"]).is_ok());
    let error = pieces(&trace_of(&[reference(0, 4)]), "split", &["at=phase"]).unwrap_err();
    assert!(error.to_string().contains("at=phase: the trace has no such event"), "{error}");
}

#[test]
fn a_selection_meets_all_conditions() {
    let (all, trace) = (phases(), trace_of(&phases()));
    let select = |words: &[&str]| transformed(&trace, "select", words);
    let pick = |places: &[usize]| places.iter().map(|&i| all[i].clone()).collect::<Vec<_>>();
    // An event belongs to the reference after it; before the beginning, memory and threads stay.
    assert_eq!(select(&["time=1-3"]), pick(&[0, 1, 3, 4, 5, 6, 7]));
    // A held lock is acquired at the beginning.
    assert_eq!(select(&["time=3-4"]), pick(&[0, 1, 3, 4, 8, 9, 10]));
    let between = select(&["from=init-done", "until=phase:2"]);
    assert_eq!(between, pick(&[0, 1, 3, 4, 5, 6, 7, 8, 9, 10]));
    assert_eq!(select(&["from=phase:2"]), pick(&[0, 1, 3, 9, 4, 11, 12, 13]));
    assert_eq!(select(&["until=marker:a b"]), pick(&[0, 1, 2, 3, 4, 5, 6, 7]));
    // Events about memory concern all threads.
    assert_eq!(select(&["threads=1"]), pick(&[1, 6, 8, 9, 12, 13]));
    assert_eq!(select(&["threads=0-2,5"]), all);
    // Two instructions and the reference itself become part of the next gap.
    let some = accesses(&select(&["address=0x103-0x105,0x1fc-0x200,0x300-0x301"]));
    let found: Vec<(u64, u32)> = some.iter().map(|access| (access.addr, access.gap)).collect();
    assert_eq!(found, [(0x100, 2), (0x104, 2), (0x300, 5)]);
}

#[test]
fn an_interval_of_time_has_its_share_of_the_run_time() {
    let metadata = Metadata { native_time_s: Some(10.0), ..Metadata::default() };
    let references: Vec<Step> = accesses(&phases()).into_iter().map(Step::Access).collect();
    let trace = written("t.hnt", &references, small_chunks(50), metadata);
    let seconds = |name, words: &[&str]| {
        let made = pieces(&trace, name, words).unwrap();
        made.iter().map(|(trace, _)| trace.metadata().native_time_s.unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(seconds("select", &["time=1-3"]), [4.0]);
    assert_eq!(seconds("select", &["threads=0"]), [10.0]);
    assert_eq!(seconds("split", &["every=2"]), [4.0, 4.0, 2.0]);
    assert_eq!(seconds("local", &["seed=1"]), [10.0]);
}

#[test]
fn dropped_synchronisation_references_become_gaps() {
    let flagged = |flags| Access { flags, gap: 3, ..Access::new(1, AccessKind::Atomic, 64, 4) };
    let steps = [flagged(Flags::SYNC), flagged(Flags(5)), flagged(Flags(7)), flagged(Flags(0))];
    let trace = trace_of(&steps.map(Step::Access));
    let kept = accesses(&transformed(&trace, "drop-sync", &[]));
    let kept: Vec<(u8, u32)> = kept.iter().map(|access| (access.flags.0, access.gap)).collect();
    assert_eq!(kept, [(5, 7), (0, 7)]);
}

#[test]
fn threads_become_processors() {
    let trace = trace_of(&phases());
    let threads = |words: &[&str]| {
        let steps = transformed(&trace, "processors", words);
        assert_eq!(steps.len(), phases().len() - 2, "creation and exit are dropped");
        accesses(&steps).iter().map(|access| access.thread).collect::<Vec<_>>()
    };
    assert_eq!(threads(&["count=1"]), [0, 0, 0, 0, 0]);
    assert_eq!(threads(&["map=1,0"]), [1, 0, 1, 1, 0]);
    assert_eq!(threads(&["count=64"]), [0, 1, 0, 0, 1]);
}

#[test]
fn pieces_together_are_the_whole() {
    let (all, trace) = (phases(), trace_of(&phases()));
    for (words, expected) in [
        (["at=marker"], vec![3, 2]),
        (["at=phase"], vec![4, 1]),
        (["at=init-done"], vec![1, 4]),
        (["every=2"], vec![2, 2, 1]),
        (["every=5"], vec![5]),
    ] {
        let made = pieces(&trace, "split", &words).unwrap();
        let references: Vec<u64> = made.iter().map(|(trace, _)| trace.references()).collect();
        assert_eq!(references, expected, "{words:?}");
        let together: Vec<Step> = made.iter().flat_map(|(trace, _)| read(trace)).collect();
        assert_eq!(together, all, "{words:?}");
        let record = made.last().unwrap().0.metadata().provenance.last().unwrap();
        assert!(record.ends_with(&format!(", piece {}", expected.len() - 1)), "{record}");
    }
}

#[test]
fn invalid_values_are_explained() {
    let trace = trace_of(&phases());
    let cases: [(&str, &[&str], &str); 17] = [
        ("local", &["buffer=0"], "buffer=0: expected a whole number from 1 to 1048576"),
        ("local", &["seed=x"], "seed=x: expected a whole number from 0"),
        ("gap", &["every=0"], "every=0: expected a whole number from 1"),
        ("gap", &["length=99999999"], "expected a whole number from 0 to 16777216"),
        ("select", &[], "nothing says what to keep"),
        ("select", &["time=5-5"], "time=5-5: expected A-B with A below B"),
        ("select", &["time=5"], "expected A-B with A below B"),
        ("select", &["time=1-2,3-4"], "expected one range"),
        ("select", &["threads=-"], "or A alone"),
        ("select", &["address=0x-1"], "address=0x-1"),
        (
            "select",
            &["from=phase:x"],
            "from=phase:x: expected first-thread, first-barrier, time:P%",
        ),
        ("processors", &[], "give either count or map"),
        ("processors", &["count=2", "map=0"], "give either count or map"),
        ("processors", &["map=0"], "map names the processors of 1 threads; the trace has 2"),
        ("processors", &["map=0,x"], "expected processors from 0 to 32767"),
        ("split", &["at=noon"], "expected init-done, phase, marker"),
        ("split", &[], "give either at or every"),
    ];
    for (name, words, expected) in cases {
        let error = pieces(&trace, name, words).err().unwrap().to_string();
        assert!(error.contains(expected), "{name} {words:?}: {error}");
    }
}

#[test]
fn no_file_is_left_after_an_interruption() {
    let trace = trace_of(&random_steps(&mut Rng::new(1), 500));
    let folder = tempfile::tempdir().unwrap();
    for (name, words) in [("local", &[][..]), ("split", &["every=10"])] {
        let mut calls = 0;
        let stop = &mut |_, _| {
            calls += 1;
            if calls == 3 {
                std::ops::ControlFlow::Break(())
            } else {
                std::ops::ControlFlow::Continue(())
            }
        };
        let out = folder.path().join("u.hnt");
        let error = transform_file(&trace, name, &parameters(words), &out, stop).unwrap_err();
        assert!(error.to_string().contains("interrupted"));
        assert_eq!(folder.path().read_dir().unwrap().count(), 0, "{name}");
    }
}
