//! Names of local variables that a thread shares with the threads that it started.

use std::collections::BTreeSet;

use homenode_symbol::{LocalVariable, StackFrame};
use homenode_trace::{CallFrame, LocalRange};

use crate::objects::OpenedFiles;
use crate::private::PrivateRanges;
use crate::sites::Layouts;
use crate::source_owner::{SourceOwner, source_owner};

/// Names the local variables that other threads use. A stack has for each frame the program
/// counter, stack pointer and frame pointer, innermost first. Variables that overlap are left out:
/// they were there at different times, and references do not say when they were made.
pub(crate) fn name_locals(
    stacks: &[Vec<[u64; 3]>],
    files: &OpenedFiles<'_>,
    private: &PrivateRanges,
    layouts: &mut Layouts,
) -> Vec<LocalRange> {
    let frame = |pair: &[[u64; 3]]| {
        let ([pc, sp, fp], [_, cfa, _]) = (pair[0], pair[1]);
        (pc, StackFrame { sp, fp, cfa })
    };
    let frames: BTreeSet<(u64, StackFrame)> =
        stacks.iter().flat_map(|stack| stack.windows(2).map(frame)).collect();
    let mut found: Vec<LocalRange> = Vec::new();
    for (pc, frame) in frames {
        let worth_a_name = |local: &LocalVariable| {
            let end = local.addr.saturating_add(local.size);
            source_owner(&local.declared.file) < SourceOwner::System
                && private.is_shared(local.addr, end)
        };
        let locals = files.locals(pc, frame).into_iter().filter(worth_a_name);
        found.extend(locals.map(|local| LocalRange {
            start: local.addr,
            size: local.size,
            layout: local.data.as_ref().map_or(0, |data| layouts.number(data)),
            name: local.name,
            declared: CallFrame {
                function: local.declared.function,
                file: local.declared.file,
                line: local.declared.line,
            },
        }));
    }
    without_overlaps(found)
}

/// The ranges that overlap no other, ordered by address.
fn without_overlaps(mut locals: Vec<LocalRange>) -> Vec<LocalRange> {
    locals.sort();
    locals.dedup();
    let mut end = 0;
    let alone: Vec<bool> = (0..locals.len())
        .map(|at| {
            let (local, next) = (&locals[at], locals.get(at + 1));
            let begins_alone = local.start >= end;
            end = end.max(local.end());
            begins_alone && next.is_none_or(|next| next.start >= local.end())
        })
        .collect();
    locals.into_iter().zip(alone).filter_map(|(local, alone)| alone.then_some(local)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_variables_have_no_name() {
        let local = |start, size, name: &str| LocalRange {
            start,
            size,
            name: name.to_owned(),
            ..LocalRange::default()
        };
        let locals = vec![
            local(0, 8, "alone"),
            local(8, 64, "long"),
            local(16, 8, "in it"),
            local(24, 8, "in it, too"),
            local(72, 8, "behind"),
            local(96, 8, "twice"),
            local(96, 8, "twice"),
            local(200, u64::MAX, "endless"),
            local(400, 8, "in the last"),
        ];
        let left: Vec<String> =
            without_overlaps(locals).into_iter().map(|local| local.name).collect();
        assert_eq!(left, ["alone", "behind", "twice"]);
    }
}
