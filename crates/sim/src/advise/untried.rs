//! Falsely shared objects for which no layout was tried, and why.

use homenode_advise::{Candidate, DataObject, Layout, PartOfObject, UseSurvey};
use homenode_analysis::ObjectKind;
use homenode_base::BlockSize;

use super::hot_lines::HOT_LINES_MAX;
use super::line_search::ObjectWords;
use super::search::ObjectBlocks;
use super::trial::LayoutTrial;
use crate::lines::{LineFinding, LineResult};
use crate::results::ratio;

/// An object is named if false sharing of it exceeds one in this many processor cycles.
const OBJECT_PART: u64 = 40;

/// A finding for each object with much false sharing and without a trial.
pub(super) fn untried(
    objects: &[DataObject],
    trials: &[LayoutTrial],
    survey: &UseSurvey,
    before: &LineResult,
    block: BlockSize,
) -> Vec<LineFinding> {
    let all = before.processor_cycles();
    let waited = ObjectWords::new(objects).false_sharing(before);
    let mut missed: Vec<(usize, u64)> = waited.into_iter().enumerate().collect();
    missed.retain(|&(object, cycles)| {
        cycles > all / OBJECT_PART && trials.iter().all(|trial| trial.object != object)
    });
    // Data that one thread hands over to others are no case for a layout.
    if !missed.is_empty() {
        let places = ObjectBlocks::new(objects, survey, &Layout::default(), block);
        missed.retain(|&(object, _)| places.is_contended(object, survey));
    }
    missed.sort_by_key(|&(object, cycles)| (std::cmp::Reverse(cycles), object));
    let finding = |(index, cycles): (usize, u64)| {
        let object = &objects[index];
        let users = Candidate::new(survey, object, block, false).users.len();
        let share = ratio(cycles, all);
        let sentence = format!(
            "{:.1}% of the time is false sharing in `{}`, and no layout of it was tried: {}.",
            100.0 * share.unwrap_or(0.0),
            object.label(),
            reason(object)
        );
        LineFinding {
            kind: "untried",
            object: object.label(),
            field: None,
            threads: u32::try_from(users).unwrap_or(u32::MAX),
            count: 1,
            share,
            sentence,
        }
    };
    missed.into_iter().map(finding).collect()
}

fn reason(object: &DataObject) -> String {
    let kind = object.identity.as_ref().map(|known| known.kind);
    match kind {
        Some(ObjectKind::Stack) => "a program does not choose where its stacks lie; give what \
                                    other threads use a variable of its own, aligned to a block"
            .to_owned(),
        Some(ObjectKind::ThreadLocal) => "a program does not choose where thread-local storage \
                                          lies; give what other threads use a variable of its own"
            .to_owned(),
        _ if object.part == PartOfObject::Rest || object.is_sparse() => format!(
            "it is spread over more than {HOT_LINES_MAX} lines of memory without structure; begin \
             what each thread uses at a block, or name the parts as objects"
        ),
        Some(_) | None => "no kind of layout fits how its words are used; `homenode sharing` \
                           shows its lines, and which source lines use them"
            .to_owned(),
    }
}
