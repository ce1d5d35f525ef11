//! A walk through accesses to pages shows what the clock does: its steps add up to the clock's
//! counts of the same accesses, and its messages are those of the tables in `docs/directory.md`.

use crate::timed::{TimedMachine, dash_mesh};
use crate::walked::{check_acts, messages_of, processes};
use homenode_base::{Access, AccessKind, Rng};
use homenode_cache::walk::{Example, WrittenStep, written_steps};
use homenode_directory::walk::{PagedWalk, PagedWalkStep, walk_pages};
use homenode_directory::{CoherenceTable, DirectoryProtocol, PagedTable, TABLE};
use homenode_machine::CacheShape;

/// Cycles between two steps, so that each is over before the next begins.
const APART: u32 = 5_000_000;

fn table(protocol: &str) -> PagedTable {
    match DirectoryProtocol::parse(protocol).unwrap().table() {
        CoherenceTable::Pages(table) => table,
        CoherenceTable::Blocks(_) | CoherenceTable::Linked(_) => unreachable!(),
    }
}

fn walked(protocol: &str, machine: &TimedMachine, steps: &[WrittenStep]) -> PagedWalk {
    let table = table(protocol);
    walk_pages(&machine.setup, &table, machine.homes(), &machine.timed, steps).unwrap().0
}

/// Nodes whose caches have room for `lines` lines of 16 bytes.
fn machine(nodes: u16, lines: u64, home: &str) -> TimedMachine {
    let mut machine = dash_mesh(nodes, home);
    machine.setup.cache = CacheShape { size_bytes: 16 * lines, ..Example::CACHE };
    machine
}

/// A word that no other node refers to, before each acquire and release: with the time of its
/// reference the timed simulation can be compared step by step.
fn own_word(node: u16) -> WrittenStep {
    let address = 0x10_0000 * (u64::from(node) + 1);
    WrittenStep::Access(Access::new(node, AccessKind::Read, address, 4))
}

fn random_steps(rng: &mut Rng, nodes: u16) -> Vec<WrittenStep> {
    let mut steps = Vec::new();
    for _ in 0..80 {
        let node = u16::try_from(rng.below(u64::from(nodes))).unwrap();
        match rng.below(6) {
            0 => steps.extend([own_word(node), WrittenStep::Release(node)]),
            1 => steps.extend([own_word(node), WrittenStep::Acquire(node)]),
            _ => {
                let kinds = [AccessKind::Read, AccessKind::Read, AccessKind::Write];
                let kind = kinds[usize::try_from(rng.below(3)).unwrap()];
                let page = 0x1000 * (1 + rng.below(3));
                let address = page + 4 * rng.below(12);
                steps.push(WrittenStep::Access(Access::new(node, kind, address, 4)));
            }
        }
    }
    steps
}

/// What follows from one step to the next, and within one, holds in every walk.
fn check_links(walk: &PagedWalk) {
    let mut scene = &walk.start;
    let mut number = 0;
    for (nth, step) in walk.steps.iter().enumerate() {
        if let Some(page) = step.page.and_then(|step| step.page) {
            let (before, after) = (&scene.pages[page].mappings, &step.scenes.pages[page].mappings);
            assert_eq!((before, after), (&step.before, &step.after), "{nth}");
            assert!(!step.acts.is_empty(), "step {nth} uses no cell of a table");
        }
        check_acts(&step.acts, &mut number);
        let messages = || step.acts.iter().filter_map(|act| act.message);
        let of = |name| messages().filter(|message| message.name == name).count();
        assert_eq!(of("write-back"), of("written back"), "every write-back is acknowledged");
        assert_eq!(step.messages.unwrap().total(), number, "messages so far, step {nth}");
        let (was, is) = (&scene.lines, &step.scenes.lines);
        for (was, line) in was.iter().zip(is) {
            assert!(line.data.latest.iter().zip(&was.data.latest).all(|(now, then)| now >= then));
            assert!(
                line.dirty
                    .iter()
                    .zip(&line.data.copies)
                    .all(|(dirty, copy)| { dirty.is_empty() || !copy.values.is_empty() })
            );
        }
        scene = &step.scenes;
    }
}

#[test]
fn steps_add_up_to_what_the_clock_counts() {
    let mut rng = Rng::new(29);
    for round in 0..40 {
        let nodes = [1, 2, 3, 5, 70][round % 5];
        let home = ["round-robin", "first-touch", "fixed:node=0"][round % 3];
        let mut machine = machine(nodes, [1, 2, 8][round % 3], home);
        machine.setup.page_bytes = [64, 4096][round % 2];
        let steps = random_steps(&mut rng, nodes);
        let protocol = ["lrc", "lrc-one-trip"][round % 2];
        let walk = walked(protocol, &machine, &steps);
        check_links(&walk);
        machine.setup.check = true;
        let table = CoherenceTable::Pages(table(protocol));
        let found = machine.try_run(table, &processes(nodes, &steps, APART), 1000).unwrap();
        assert_eq!(walk.totals.counts, found.counts, "{round}");
        assert_eq!(Some(walk.totals.messages), found.page_messages, "{round}");
        let system = (walk.totals.page_faults, walk.totals.tlb_misses);
        assert_eq!(system, (found.timing.page_faults, found.timing.tlb_misses), "{round}");
        let count = |has: fn(&PagedWalkStep) -> bool| walk.steps.iter().filter(|s| has(s)).count();
        assert_eq!(count(|step| step.miss.is_some()) as u64, walk.totals.counts.fills);
        assert_eq!(count(|step| step.fault == Some(true)) as u64, walk.totals.page_faults);
        let last = walk.steps.last().unwrap();
        let sent = (last.messages, last.message_bytes);
        assert_eq!(sent, (Some(walk.totals.messages), Some(walk.totals.counts.message_bytes)));
    }
}

/// The messages between different nodes of the last of some steps. Node 0 of four is the home, and
/// each cache has room for two lines.
fn last(text: &str) -> String {
    last_under("lrc", text)
}

fn last_under(protocol: &str, text: &str) -> String {
    let walk = walked(protocol, &machine(4, 2, "fixed:node=0"), &written_steps(text).unwrap());
    check_links(&walk);
    messages_of(&walk.steps.last().unwrap().acts)
}

#[test]
fn accesses_take_the_messages_of_the_protocol() {
    let fetch = "1-0 fetch, 0-1 line";
    assert_eq!(last("0 W a0"), "", "at home");
    assert_eq!(last("1 R a0"), format!("1-0 read fault, 0-1 mapped, {fetch}"));
    assert_eq!(last("1 W a0"), format!("1-0 write fault, 0-1 mapped, {fetch}"));
    assert_eq!(last("1 R a0; 1 W a0"), "1-0 upgrade, 0-1 mapped", "the line is there");
    assert_eq!(last("1 W a0; 1 W a1"), "", "a hit");
    assert_eq!(last("1 R a0; 1 R b0"), fetch, "the page is mapped");
    assert_eq!(last("2 W a0; 1 W a0; 2 W a1"), "", "several writers, no node loses a line");
}

#[test]
fn synchronisation_takes_the_messages_of_the_protocol() {
    assert_eq!(last("1 W a0; 1 rel; 1 rel"), "", "nothing was written since");
    let written = "1-0 write-back, 0-1 written back, 1-0 modified, 0-1 notices sent";
    assert_eq!(last("1 W a0; 1 rel"), written, "no other node maps the page");
    let expected = "1-0 write-back, 0-1 written back, 1-0 modified, 0-2 write notice, \
                0-1 notices sent, 2-1 acknowledge";
    assert_eq!(last("1 W a0; 2 R a0; 1 rel"), expected);
    assert_eq!(last("1 W a0; 2 R a0; 2 acq"), "", "no notice had come");
    assert_eq!(last("1 W a0; 2 R a0; 1 rel; 2 acq"), "2-0 unmap");
    let dirty = "2-0 write-back, 0-2 written back, 2-0 unmap";
    assert_eq!(last("1 W a0; 2 W a1; 1 rel; 2 acq"), dirty);
}

#[test]
fn a_release_of_one_trip_tells_home_with_the_write_back() {
    let written = "1-0 write-back, 0-1 written back, 1-0 modified, 0-1 notices sent";
    assert_eq!(last_under("lrc-one-trip", "1 W a0; 1 rel"), written);
    assert_eq!(
        last_under("lrc-one-trip", "1 W a0; 2 R a0; 1 rel"),
        "1-0 write-back, 0-1 written back, 1-0 modified, 0-2 write notice, 0-1 notices sent, 2-1 \
         acknowledge"
    );
}

#[test]
fn reads_see_old_values_until_they_have_to_see_new_ones() {
    let text = "0 R a0; 1 W a0; 1 rel; 0 R a0; 0 acq; 0 R a0";
    let walk = walked("lrc", &machine(2, 2, "fixed:node=1"), &written_steps(text).unwrap());
    let read = |step: usize| walk.steps[step].scenes.lines[0].data.copies[0].values.clone();
    assert_eq!((read(0), read(3), read(4), read(5)), (vec![0], vec![0], vec![], vec![1]));
    assert!(walk.steps[5].fault == Some(true) && walk.steps[5].miss.is_some());
    let weak = |step: usize| walk.steps[step].scenes.pages[0].entry.state == "weak";
    assert_eq!((weak(0), weak(1), weak(5)), (false, true, true));
}

#[test]
fn several_writers_of_a_line_keep_it_and_memory_gets_the_words_of_each() {
    let text = "0 W a0; 1 W a1; 0 rel; 1 rel; 2 R a0";
    let walk = walked("lrc", &machine(3, 1, "fixed:node=2"), &written_steps(text).unwrap());
    let line = |step: usize| &walk.steps[step].scenes.lines[0];
    assert_eq!(line(1).dirty, [vec![0], vec![1], vec![]]);
    assert_eq!(line(2).dirty, [vec![], vec![1], vec![]]);
    assert_eq!((&line(2).data.memory, &line(3).data.memory), (&vec![1, 0], &vec![1, 2]));
    assert_eq!(line(4).data.copies[2].values, [1, 2]);
}

#[test]
fn examples_of_pages_can_be_read_and_belong_to_their_protocol() {
    for entry in TABLE {
        let CoherenceTable::Pages(_) = (entry.build)() else { continue };
        let example = entry.example;
        assert_eq!(example.protocol, Some(entry.name));
        assert_eq!(example.steps().len(), example.text.split(';').count());
        let walk =
            walked(entry.name, &machine(example.processors(), 1, "first-touch"), &example.steps());
        assert!(walk.steps.len() >= 10);
        check_links(&walk);
        let used =
            |name| walk.steps.iter().any(|step| step.acts.iter().any(|act| act.used.event == name));
        for shown in ["read fault", "write fault", "upgrade", "write notice", "unmap", "acquire"] {
            assert!(used(shown), "{shown}");
        }
    }
}
