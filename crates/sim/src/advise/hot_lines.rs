//! The lines of large memory without structure that processors wait for, as objects of their own.
//!
//! A program's own allocator deals out neighbouring pieces of one mapping, and nothing names them.
//! Layouts of the whole mapping say nothing to its programmer; layouts of these lines do.

use homenode_advise::{DataObject, PartOfObject, UseSurvey, WordExtent};
use homenode_analysis::{Names, ObjectKind, SourceSite};
use homenode_base::{AccessKind, BlockSize};
use homenode_snoop::WaitCause;
use homenode_trace::{Batch, Columns, TraceReader, Want};
use rustc_hash::FxHashMap;

use crate::error::SimResult;
use crate::lines::LineResult;
use crate::pass::for_each_piece;

/// Objects are considered if false sharing of them exceeds one in this many processor cycles.
const OBJECT_PART: u64 = 500;

/// A smaller object is advised as a whole.
const LEAST_WORDS: u64 = 1024;

/// Most lines of an object that are taken out of it.
pub(super) const HOT_LINES_MAX: usize = 16;

/// Lines are taken out of an object that could move as a whole if they have this percentage of its
/// false sharing.
const HOT_PERCENT: u64 = 90;

/// Divides large objects without structure into their hot lines and the rest.
pub(super) fn take_out(
    objects: Vec<DataObject>,
    survey: &UseSurvey,
    before: &LineResult,
    block: BlockSize,
) -> Vec<DataObject> {
    let least = before.processor_cycles() / OBJECT_PART;
    let mut found = Vec::with_capacity(objects.len());
    for object in objects {
        let lines = if may_hide_others(&object) {
            hot_lines(&object, before, block, least)
        } else {
            Vec::new()
        };
        if lines.is_empty() {
            found.push(object);
        } else {
            found.extend(divide(&object, &lines, survey, block));
        }
    }
    found.sort_by_key(|object| object.extents.first().copied());
    found
}

fn may_hide_others(object: &DataObject) -> bool {
    let kind = object.identity.as_ref().map_or(ObjectKind::Unknown, |known| known.kind);
    let unnamed = matches!(kind, ObjectKind::Unknown | ObjectKind::Mapping);
    object.words() > LEAST_WORDS && (unnamed || object.is_sparse() && kind == ObjectKind::Heap)
}

/// The lines with most false sharing, in order of address; none if others have much, too.
fn hot_lines(object: &DataObject, before: &LineResult, block: BlockSize, least: u64) -> Vec<u64> {
    let mut lines: Vec<(u64, u64)> = Vec::new();
    let mut extents = object.extents.iter().peekable();
    for (word, waits) in before.waits.iter() {
        while extents.next_if(|extent| extent.range().end <= word).is_some() {}
        let cycles = waits.of(WaitCause::FalseSharing).cycles;
        if cycles == 0 || extents.peek().is_none_or(|extent| word < extent.first) {
            continue;
        }
        match lines.last_mut() {
            Some((line, sum)) if *line == word / block.words() => *sum += cycles,
            _ => lines.push((word / block.words(), cycles)),
        }
    }
    let all: u64 = lines.iter().map(|(_, cycles)| cycles).sum();
    lines.sort_unstable_by_key(|&(line, cycles)| (std::cmp::Reverse(cycles), line));
    lines.truncate(HOT_LINES_MAX);
    let hot: u64 = lines.iter().map(|(_, cycles)| cycles).sum();
    if all <= least || !object.is_sparse() && hot * 100 < all * HOT_PERCENT {
        return Vec::new();
    }
    let mut lines: Vec<u64> = lines.into_iter().map(|(line, _)| line).collect();
    lines.sort_unstable();
    lines
}

/// Neighbouring hot lines, from the first word used to the last, and what is left of the object.
fn divide(
    object: &DataObject,
    lines: &[u64],
    survey: &UseSurvey,
    block: BlockSize,
) -> Vec<DataObject> {
    let used = |extent: WordExtent| {
        let count = extent.range().filter(|&word| survey.references_to(word) > 0).count();
        u64::try_from(count).unwrap_or(u64::MAX)
    };
    let mut rest = DataObject { part: PartOfObject::Rest, extents: Vec::new(), ..object.clone() };
    let mut found = Vec::new();
    for &extent in &object.extents {
        let mut left = extent;
        for together in lines.chunk_by(|before, after| before + 1 == *after) {
            let end = (together[together.len() - 1] + 1) * block.words();
            let mut words =
                (together[0] * block.words()).max(left.first)..end.min(left.range().end);
            let Some(first) = words.find(|&word| survey.references_to(word) > 0) else { continue };
            let last = words.rfind(|&word| survey.references_to(word) > 0).unwrap_or(first);
            let whole = (last + 1..left.range().end).find(|&word| !survey.joined(word - 1));
            let end = whole.unwrap_or(left.range().end);
            let hot = WordExtent { first, words: end - first };
            let (before, after) = left.split_at(first - left.first);
            rest.extents.extend(Some(before).filter(|before| before.words > 0));
            left = after.split_at(hot.words).1;
            let part = PartOfObject::HotLines { used_at: None };
            let (extents, used) = (vec![hot], used(hot));
            rest.used = rest.used.saturating_sub(used);
            found.push(DataObject { part, extents, used, ..object.clone() });
        }
        rest.extents.extend(Some(left).filter(|left| left.words > 0));
    }
    found.extend(Some(rest).filter(|rest| !rest.extents.is_empty()));
    found
}

/// Adds to hot lines the source line that writes them most; without writes, that uses them most.
/// That takes a pass over the trace if there are any.
pub(super) fn name_uses(
    objects: &mut [DataObject],
    names: &Names<'_>,
    trace: &TraceReader,
    pool: &rayon::ThreadPool,
) -> SimResult<()> {
    let hot = |object: &&mut DataObject| matches!(object.part, PartOfObject::HotLines { .. });
    let mut hot: Vec<&mut DataObject> = objects.iter_mut().filter(hot).collect();
    if hot.is_empty() {
        return Ok(());
    }
    let extents: Vec<WordExtent> = hot.iter().map(|object| object.extents[0]).collect();
    let mut uses: Vec<FxHashMap<u64, (u64, u64)>> = vec![FxHashMap::default(); hot.len()];
    let want = Want { columns: Columns { pc: true, ..Columns::default() }, events: false };
    let read = |index, batch: &mut Batch| trace.read_chunk(index, want, batch);
    for_each_piece(pool, trace, &read, &mut |_| Ok(()), |batch| {
        for (row, &pc) in batch.pc.iter().enumerate().filter(|&(_, &pc)| pc != 0) {
            let word = batch.addr[row] / BlockSize::WORD_BYTES;
            let after = extents.partition_point(|extent| extent.first <= word);
            let Some(at) = after.checked_sub(1).filter(|&at| extents[at].range().contains(&word))
            else {
                continue;
            };
            let (writes, all) = uses[at].entry(pc).or_default();
            *writes += u64::from(batch.kind[row] != AccessKind::Read.code());
            *all += 1;
        }
    })?;
    for (object, uses) in hot.iter_mut().zip(uses) {
        let most = uses.into_iter().max_by_key(|&(pc, count)| (count, std::cmp::Reverse(pc)));
        let site: Option<SourceSite> = most.map(|(pc, _)| names.site(pc));
        object.part = PartOfObject::HotLines { used_at: site.filter(|site| site.pc == 0) };
    }
    Ok(())
}
