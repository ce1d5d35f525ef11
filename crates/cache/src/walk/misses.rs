//! Why copies were not there, as it becomes known step by step.

use serde::Serialize;

use crate::classify::MissClass;
use crate::counts::MissCounts;

/// A miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WalkMiss {
    /// Why the copy was not there.
    pub class: MissClass,
    /// The step that decides it: this one, a later one for some misses after an invalidation, or
    /// none if only the end of the references does.
    pub known: Option<usize>,
}

/// A miss that is still to be judged.
#[derive(Clone, Copy, Debug)]
struct OpenMiss {
    cache: usize,
    block: usize,
    step: usize,
}

/// The misses of a walk whose class is not known yet. Caches and blocks are those of the walk.
#[derive(Debug, Default)]
pub struct MissJournal {
    open: Vec<OpenMiss>,
}

impl MissJournal {
    /// Which open misses a step has decided, by the step of the miss. A copy that its own processor
    /// touches, as `(cache, block)`, becomes true sharing; one that ends does not.
    pub fn judge(
        &mut self,
        (step, own): (usize, (usize, usize)),
        mut is_open: impl FnMut(usize, usize) -> bool,
    ) -> Vec<(usize, WalkMiss)> {
        let mut judged = Vec::new();
        self.open.retain(|miss| {
            let stays = is_open(miss.cache, miss.block);
            if !stays {
                let own = (miss.cache, miss.block) == own;
                let class =
                    if own { MissClass::InvalidationTrue } else { MissClass::InvalidationFalse };
                judged.push((miss.step, WalkMiss { class, known: Some(step) }));
            }
            stays
        });
        judged
    }

    /// Why the copy was not there: what the engine counted in this step, less the earlier misses
    /// that turned out to be false now ([`Self::judge`]).
    pub fn miss(
        &mut self,
        (step, (cache, block)): (usize, (usize, usize)),
        (before, now): (&MissCounts, &MissCounts),
        judged: &[(usize, WalkMiss)],
    ) -> WalkMiss {
        let ended = |(_, miss): &&(usize, WalkMiss)| miss.class == MissClass::InvalidationFalse;
        let ended = judged.iter().filter(ended).count() as u64;
        let class = if now.cold > before.cold {
            MissClass::Cold
        } else if now.replacement > before.replacement {
            MissClass::Replacement
        } else if now.removal > before.removal {
            MissClass::Removal
        } else if now.invalidation_passive > before.invalidation_passive {
            MissClass::InvalidationPassive
        } else if now.invalidation_true > before.invalidation_true {
            MissClass::InvalidationTrue
        } else if now.invalidation_false > before.invalidation_false + ended {
            MissClass::InvalidationFalse
        } else {
            // False unless a later step says otherwise.
            self.open.push(OpenMiss { cache, block, step });
            return WalkMiss { class: MissClass::InvalidationFalse, known: None };
        };
        WalkMiss { class, known: Some(step) }
    }
}
