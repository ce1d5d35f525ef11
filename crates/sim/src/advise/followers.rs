//! Static objects that follow an aligned one, and move with it when the program is linked.

use std::ops::Range;

use homenode_advise::{DataObject, MovedBytes};
use homenode_analysis::ObjectKind;
use homenode_base::BlockSize;

use super::trial::LayoutTrial;

/// Most words of objects that are moved along. A larger array has elements at all offsets in a
/// line; to move it changes the order in which threads meet elsewhere, which is chance.
pub(super) const FOLLOWERS_WORDS_MAX: u64 = 1 << 10;

/// Largest alignment, in words, that a compiler gives a variable by itself.
const OWN_ALIGNMENT: u64 = 8;

/// The objects that follow an aligned one.
#[derive(Default)]
pub(super) struct Followers {
    /// Their positions in the list of objects.
    pub(super) objects: Vec<usize>,
    pub(super) moves: Vec<MovedBytes>,
    /// The blocks that they leave, in order, and those that they take.
    pub(super) old_blocks: Vec<u64>,
    pub(super) new_blocks: Range<u64>,
}

impl Followers {
    /// The followers of the object that `trial` aligns, from block `next` on. The aligned object
    /// takes whole blocks, so that the first one begins at a block; the others keep their distances
    /// as far as their alignment allows. They end at an object for which `stays` is true, or which
    /// begins at a block by an alignment of its own.
    pub(super) fn of(
        trial: &LayoutTrial,
        objects: &[DataObject],
        next: u64,
        block: BlockSize,
        stays: impl Fn(usize) -> bool,
    ) -> Self {
        let mut found = Self { new_blocks: next..next, ..Self::default() };
        let Some(mut end) = static_end(&objects[trial.object]) else { return found };
        let begin = next * block.words();
        let mut free = begin;
        for (index, object) in (0..).zip(objects).skip(trial.object + 1) {
            let (Some(last), false) = (static_end(object), stays(index)) else { break };
            let extent = object.extents[0];
            let alignment = (1 << extent.first.trailing_zeros().min(3)).min(OWN_ALIGNMENT);
            let gap = extent.first.checked_sub(end.next_multiple_of(alignment));
            let Some(gap) = gap.filter(|&gap| gap < block.words()) else { break };
            let to = free.next_multiple_of(alignment) + gap;
            let aligned = gap > 0 && extent.first.is_multiple_of(block.words());
            let unmoved = to % block.words() == extent.first % block.words();
            let fits = to + extent.words - begin <= FOLLOWERS_WORDS_MAX;
            if aligned || unmoved || !fits {
                break;
            }
            found.objects.push(index);
            let [from, bytes, to_byte] =
                [extent.first, extent.words, to].map(|words| words * BlockSize::WORD_BYTES);
            found.moves.push(MovedBytes { from, bytes, to: to_byte });
            found.old_blocks.extend(extent.first / block.words()..=(last - 1) / block.words());
            (end, free) = (last, to + extent.words);
        }
        found.old_blocks.dedup();
        found.new_blocks.end = free.div_ceil(block.words());
        found
    }
}

/// One past the last word of a static object.
fn static_end(object: &DataObject) -> Option<u64> {
    let kind = object.identity.as_ref().map(|known| known.kind);
    match object.extents[..] {
        [extent] if kind == Some(ObjectKind::Static) => Some(extent.first + extent.words),
        _ => None,
    }
}
