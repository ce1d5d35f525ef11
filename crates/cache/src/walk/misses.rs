//! Classes of misses, as they become known step by step.

use serde::Serialize;

use crate::classify::MissClass;
use crate::counts::MissCounts;

/// A miss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct WalkMiss {
    /// Its class.
    pub class: MissClass,
    /// The step that decides it: this one, or a later one for some misses after an invalidation;
    /// `None` if only the end of the references does.
    pub known: Option<usize>,
}

/// A copy of a block in a cache, by their positions in the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WalkCopy {
    pub(super) cache: usize,
    pub(super) block: usize,
}

#[derive(Clone, Copy, Debug)]
struct OpenMiss {
    copy: WalkCopy,
    step: usize,
}

/// The misses of a walk whose class is not known yet.
#[derive(Debug, Default)]
pub(super) struct MissJournal {
    open: Vec<OpenMiss>,
}

impl MissJournal {
    /// The open misses that a step has decided, by the step of the miss. The miss of `own`, the
    /// copy that the step's processor touches, becomes true sharing; that of a copy that ends,
    /// false sharing.
    pub(super) fn judge(
        &mut self,
        step: usize,
        own: WalkCopy,
        mut is_open: impl FnMut(WalkCopy) -> bool,
    ) -> Vec<(usize, WalkMiss)> {
        let mut judged = Vec::new();
        self.open.retain(|miss| {
            let stays = is_open(miss.copy);
            if !stays {
                let class = if miss.copy == own {
                    MissClass::InvalidationTrue
                } else {
                    MissClass::InvalidationFalse
                };
                judged.push((miss.step, WalkMiss { class, known: Some(step) }));
            }
            stays
        });
        judged
    }

    /// The class of a miss: the count that grew in this step, without the earlier misses that the
    /// step decided as false sharing ([`Self::judge`]).
    pub(super) fn miss(
        &mut self,
        step: usize,
        copy: WalkCopy,
        before: &MissCounts,
        now: &MissCounts,
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
            // False sharing unless a later step decides otherwise.
            self.open.push(OpenMiss { copy, step });
            return WalkMiss { class: MissClass::InvalidationFalse, known: None };
        };
        WalkMiss { class, known: Some(step) }
    }
}
