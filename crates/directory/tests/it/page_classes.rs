//! Classes of misses where the operating system keeps pages coherent: several nodes write copies of
//! a line at the same time, and a flushed copy may have been stale for long.

use crate::timed::{dash_mesh, step};
use homenode_clock::streams::{OpKind, Operation};
use homenode_directory::{DirectoryProtocol, MissCounts};

/// Two lines of one page.
const LINE: u64 = 0x1000;
const OTHER: u64 = 0x1040;

/// Both nodes wait for each other after each step: first references of node 0, then of node 1.
fn misses(phases: &[[&[(OpKind, u64)]; 2]]) -> MissCounts {
    let mut programs = vec![Vec::new(); 2];
    for (episode, phase) in (0..).zip(phases) {
        for (steps, references) in programs.iter_mut().zip(phase) {
            steps.extend(references.iter().map(|&(kind, addr)| step(kind, addr)));
            steps.push(Operation::new(OpKind::Arrive, episode));
            steps.push(Operation { count: 2, ..Operation::new(OpKind::Depart, episode) });
        }
    }
    let table = DirectoryProtocol::parse("lrc").unwrap().table();
    dash_mesh(2, "fixed:node=0").try_run(table, &programs, 100).unwrap().counts.misses
}

/// True and false sharing misses of node 1, which holds the two lines while node 0 writes the first
/// word of one, and then makes these references.
fn after_a_write(used: &[(OpKind, u64)]) -> (u64, u64) {
    let both = [(OpKind::Read, LINE), (OpKind::Read, OTHER)];
    let found = misses(&[[&[], &both], [&[(OpKind::Write, LINE)], &[]], [&[], used]]);
    assert_eq!(found.cold, 3);
    (found.invalidation_true, found.invalidation_false)
}

#[test]
fn a_word_that_was_written_while_the_copy_was_held_is_true_sharing() {
    assert_eq!(after_a_write(&[(OpKind::Read, LINE)]), (1, 0));
    // Not at the miss, but before the new copy is lost.
    assert_eq!(after_a_write(&[(OpKind::Read, LINE + 8), (OpKind::Read, LINE)]), (1, 0));
}

#[test]
fn other_words_and_other_lines_of_the_page_are_false_sharing() {
    assert_eq!(after_a_write(&[(OpKind::Read, LINE + 8)]), (0, 1));
    assert_eq!(after_a_write(&[(OpKind::Read, OTHER)]), (0, 1));
    assert_eq!(after_a_write(&[(OpKind::Read, OTHER), (OpKind::Read, LINE)]), (1, 1));
}

#[test]
fn what_memory_knew_when_the_copy_came_is_not_missed_again() {
    // Node 1 gets the word with its second copy; node 0 writes another one then.
    let found = misses(&[
        [&[(OpKind::Write, LINE)], &[]],
        [&[], &[(OpKind::Read, LINE)]],
        [&[(OpKind::Write, LINE + 4)], &[]],
        [&[], &[(OpKind::Read, LINE)]],
    ]);
    assert_eq!((found.invalidation_true, found.invalidation_false), (0, 1));
}
