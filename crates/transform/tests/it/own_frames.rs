//! Frames of their own for the uses of recycled page frames, against the definition.

use std::collections::{BTreeMap, BTreeSet};

use homenode_base::{Access, AccessKind, Rng};
use homenode_trace::{Columns, TraceReader, WriterOptions};
use homenode_transform::{FrameReport, NextOfWrites, TransformReport};

use crate::made::{made, trace_of, written};
use crate::support::{Step, accesses, by_hand, read, small_chunks, with_areas};

const PAGE: u64 = 4096;

/// Each thread is a process with the number of the thread and 100.
fn processes(text: &str) -> Vec<Step> {
    let with_process =
        |access: &Access| Step::Access(Access { pid: 100 + u32::from(access.thread), ..*access });
    accesses(&by_hand(text)).iter().map(with_process).collect()
}

fn transformed(steps: &[Step]) -> (Vec<Access>, FrameReport) {
    let (made, piece) = made(&trace_of(steps), "own-frames", &[]).unwrap();
    let Some(TransformReport::Framed(report)) = piece.report else { panic!("no report") };
    (accesses(&read(&made)), report)
}

/// The numbers of the frames.
fn frames(text: &str) -> String {
    let (accesses, _) = transformed(&processes(text));
    accesses.iter().map(|a| (a.addr / PAGE).to_string()).collect::<Vec<_>>().join(" ")
}

#[test]
fn memory_that_is_overwritten_unread_is_each_process_s_own() {
    // Both processes read only what they have written themselves.
    assert_eq!(frames("0W1000 0R1000 1W1000 1R1000"), "2 2 3 3");
    assert_eq!(frames("0W1000 1W1000 0W1000 1W1000"), "2 3 2 3", "a process has one frame");
    assert_eq!(frames("0W1000 0R1000 1R1000 1W1000"), "1 1 1 1", "process 1 reads what 0 wrote");
    assert_eq!(frames("0W1000 1A1000"), "1 1", "an atomic reads");
    assert_eq!(frames("0W1000 1F1000"), "1 1", "a fetch reads");
    assert_eq!(frames("0R1000 0W1000 1W1000"), "2 2 3", "what was there before the trace is 0's");
    assert_eq!(frames("0R1000 1R1000 1W1000"), "1 1 1", "both read what was there before");
}

#[test]
fn memory_next_to_each_other_stays_so() {
    assert_eq!(frames("0W1000 1W1004 0R1000 1R1004"), "1 1 1 1", "false sharing is of the program");
    // Process 2 reuses the memory of process 0, not that of process 1 and 3, which communicate.
    let text = "0W1000 1W1010 3R1010 2W1000 2R1000 1W1010 3R1010";
    assert_eq!(frames(text), "2 1 1 3 3 1 1");
    // What a use reads decides, also of the rest of its turn.
    assert_eq!(frames("0W1000 0W1010 1W1000 1R1010"), "1 1 1 1");
}

#[test]
fn writes_are_counted_by_what_happens_next() {
    let text = "0W1000 0R1000 0W1004 1R1004 0W1008 1W1008 1W100c 0W5000 0R5000";
    let expected = NextOfWrites { read_by_another: 1, overwritten_by_another: 1, own: 1, none: 2 };
    let (_, report) = transformed(&processes(text));
    assert_eq!(report.writes, expected, "the frame at 5000 has one process");
    assert_eq!((report.frames, report.recycled_frames, report.references), (2, 1, 9));
    let (_, report) = transformed(&processes("0W1000 1W1000 1R1000"));
    assert_eq!((report.recycled_frames, report.new_frames), (1, 2));
    assert_eq!(report.moved_references, 3);
}

#[test]
fn data_of_processors_and_traces_without_processes_stay() {
    let trace = with_areas(&processes("0W1020 1W1020"), small_chunks(50));
    let (made, _) = made(&trace, "own-frames", &[]).unwrap();
    let found: Vec<u64> = accesses(&read(&made)).iter().map(|a| a.addr).collect();
    assert_eq!(found, [0x1020, 0x1020]);
    let options = WriterOptions {
        columns: Columns { pid: false, ..Columns::ALL },
        ..WriterOptions::default()
    };
    let without: TraceReader = written("t.hnt", &by_hand("0W1000"), options, Default::default());
    let error = crate::made::made(&without, "own-frames", &[]).err().unwrap().to_string();
    assert!(error.starts_with("transform own-frames: the trace does not say which"), "{error}");
}

/// Of each reference to one frame, whether its process gets a frame of its own for it, from the
/// definition: uses by searching the history again for every reference, until nothing changes.
fn moves(frame: &[Access]) -> Vec<bool> {
    let words = |a: &Access| a.addr / 4..=(a.addr + u64::from(a.size) - 1) / 4;
    let mut turn = vec![0; frame.len()];
    for at in 1..frame.len() {
        turn[at] = turn[at - 1] + usize::from(frame[at].pid != frame[at - 1].pid);
    }
    let turns = turn.last().map_or(0, |last| last + 1);
    let mut of_use: Vec<usize> = (0..turns).collect();
    let mut overwrites = Vec::new();
    for (at, access) in frame.iter().enumerate() {
        for word in words(access) {
            let touches = |other: &usize| words(&frame[*other]).contains(&word);
            let before = (0..at).rev().find(touches);
            let writer = (0..at).rev().filter(touches).find(|&other| frame[other].kind.writes());
            if access.kind != AccessKind::Write
                && let Some(source) = writer.or(before)
            {
                let (from, to) = (of_use[turn[source]], of_use[turn[at]]);
                of_use.iter_mut().filter(|u| **u == from).for_each(|u| *u = to);
            }
            if let Some(before) = before
                && access.kind.writes()
                && frame[before].pid != access.pid
            {
                overwrites.push((turn[before], turn[at]));
            }
        }
    }
    let pid = |t: usize| frame[turn.iter().position(|&of| of == t).unwrap()].pid;
    let moves = |t: usize| {
        let members: Vec<usize> = (0..turns).filter(|&other| of_use[other] == of_use[t]).collect();
        let pids: BTreeSet<u32> = members.iter().map(|&member| pid(member)).collect();
        let reused = overwrites.iter().any(|(one, other)| {
            of_use[*one] != of_use[*other] && [of_use[*one], of_use[*other]].contains(&of_use[t])
        });
        pids.len() == 1 && reused
    };
    turn.iter().map(|&t| moves(t)).collect()
}

#[test]
fn random_traces_agree_with_the_definition() {
    let mut rng = Rng::new(5);
    let (mut moved, mut stayed) = (0, 0);
    for _ in 0..300 {
        let (processes, words) = (2 + rng.below(3), 1 + rng.below(6));
        let mut steps = Vec::new();
        for _ in 0..rng.below(40) {
            let thread = u16::try_from(rng.below(processes)).unwrap();
            for _ in 0..1 + rng.below(4) {
                let kind = match rng.below(8) {
                    0..4 => AccessKind::Write,
                    4 => AccessKind::Atomic,
                    _ => AccessKind::Read,
                };
                let addr = PAGE * (1 + rng.below(3)) + 4 * rng.below(words);
                let size = [2, 4, 8][usize::try_from(rng.below(3)).unwrap()];
                let pid = u32::from(thread);
                steps.push(Step::Access(Access { pid, ..Access::new(thread, kind, addr, size) }));
            }
        }
        let before = accesses(&steps);
        let (after, report) = transformed(&steps);
        let mut own: BTreeMap<(u64, u32), u64> = BTreeMap::new();
        for page in 1..4 {
            let at: Vec<usize> =
                (0..before.len()).filter(|&i| before[i].addr / PAGE == page).collect();
            let frame: Vec<Access> = at.iter().map(|&i| before[i]).collect();
            for (&i, moves) in at.iter().zip(moves(&frame)) {
                assert_eq!(after[i].addr % PAGE, before[i].addr % PAGE);
                let found = after[i].addr / PAGE;
                let expected =
                    if moves { *own.entry((page, before[i].pid)).or_insert(found) } else { page };
                assert_eq!(found, expected);
                *(if moves { &mut moved } else { &mut stayed }) += 1;
            }
        }
        let distinct: BTreeSet<u64> = own.values().copied().collect();
        let last = before.iter().map(|a| a.addr / PAGE).max().unwrap_or(0);
        assert!(distinct.len() == own.len() && distinct.iter().all(|&frame| frame > last));
        assert_eq!(report.new_frames, own.len() as u64);
    }
    assert!(moved > 500 && stayed > 500, "{moved} {stayed}");
}
