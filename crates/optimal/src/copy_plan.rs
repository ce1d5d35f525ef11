//! Plans for the copies of a block during a read-run on a machine with global memory, and the cost
//! of each plan for each processor.
//!
//! A plan says at which reads global memory holds the block; given that, processors do not
//! influence one another. `docs/optimal.md` shows that the plans listed here suffice.

use homenode_machine::Prices;

use crate::place_costs::ProcIndex;
use crate::wide::{RecurrenceValue, WideKey};

/// Where a read-run starts from and when global memory holds a copy. Positions count the reads of
/// the run from 0; the numbers are those of `docs/optimal.md`. The order of the variants breaks
/// ties between plans of equal cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CopyPlan {
    /// (1) From a processor, no global copy; copies cost R.
    NoGlobal,
    /// (2) From a processor, with a global copy from the first read on; copies cost G.
    AddGlobal,
    /// (3) From global memory, whose copy stays; copies cost G.
    KeepGlobal,
    /// (4) From a processor, with copies at R at the first read and a global copy from the second
    /// on.
    AddGlobalLate,
    /// (5) From a processor, with a global copy from the first read until it is dropped at this
    /// one; copies cost G before the drop, R from the next read on.
    AddGlobalUntil(u64),
    /// (6) From global memory, whose copy is dropped at this read, by which some processor, the
    /// holder, has a copy; copies cost G before the drop, R from the next read on.
    KeepGlobalUntil(u64),
    /// (7) As (6), but copies cost R at the next read only, after which global memory gets a copy
    /// again.
    KeepGlobalExcept(u64),
    /// (8) From a processor, with a global copy at this read only, which serves no reference;
    /// copies cost G there, R at earlier reads.
    GlobalAt(u64),
}

/// Which plans can be optimal at a price list, by when a global copy can pay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanFamily {
    /// g <= r and G <= R: a global copy is there from the first read on or not at all.
    FromFirstRead,
    /// g <= r and R < G: copies are worth making while there is no global copy.
    AnyInterval,
    /// g infinite and G < R: global memory serves no reference but makes copies cheaper.
    OneRead,
    /// g infinite and R <= G: global memory is of no use.
    Never,
}

/// What a reader pays beyond the price of as many local references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadExtra {
    /// The least cost, with or without a copy at the end of the read-run.
    pub(crate) free: WideKey,
    /// The least cost if it must have a copy at the end of the read-run.
    pub(crate) held: WideKey,
}

/// Reads by one processor, divided at the position of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DividedReads {
    pub(crate) reads: u64,
    pub(crate) before: u64,
    /// Whether the read at the position is its own, and whether the next one is.
    pub(crate) at: [bool; 2],
    pub(crate) first: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanPrices {
    pub(crate) shift: u32,
    pub(crate) one: WideKey,
    /// r - 1.
    pub(crate) remote: WideKey,
    /// g - 1.
    pub(crate) global: WideKey,
    pub(crate) remote_move: WideKey,
    pub(crate) global_move: WideKey,
    pub(crate) family: PlanFamily,
}

impl PlanPrices {
    /// Keys for a block with this many references; `None` where the recurrence does not hold: a
    /// reference elsewhere cheaper than a local one, or r below a finite g.
    pub(crate) fn new(prices: &Prices, references: u64) -> Option<Self> {
        let at_least = |price: Option<u64>, floor: u64| price.is_none_or(|p| p >= floor);
        let g = prices.global_reference;
        let floor = g.unwrap_or(prices.scale).max(prices.scale);
        if !at_least(prices.remote_reference, floor) || !at_least(g, prices.scale) {
            return None;
        }
        // The bits below the cost have room for one move per reference, so that moves decide
        // between equal costs.
        let shift = u64::BITS - references.leading_zeros() + 1;
        let key = |price: Option<u64>, less: u64, moves: i128| match price {
            None => WideKey { infinite: 1, key: 0 },
            Some(p) => {
                let steps = i128::from(p) - i128::from(less);
                WideKey { infinite: 0, key: (steps << shift) + moves }
            }
        };
        let remote_move = key(prices.remote_move, 0, 1);
        let global_move = key(prices.global_move, 0, 1);
        let family = match g {
            Some(_) if global_move <= remote_move => PlanFamily::FromFirstRead,
            Some(_) => PlanFamily::AnyInterval,
            None if global_move < remote_move => PlanFamily::OneRead,
            None => PlanFamily::Never,
        };
        Some(Self {
            shift,
            one: key(Some(prices.scale), 0, 0),
            remote: key(prices.remote_reference, prices.scale, 0),
            global: key(g, prices.scale, 0),
            remote_move,
            global_move,
            family,
        })
    }

    pub(crate) fn extra(&self, plan: CopyPlan, v: DividedReads) -> ReadExtra {
        let (r, g) = (self.remote, self.global);
        let both = |free: WideKey, held: WideKey| ReadExtra { free: free.min(held), held };
        match plan {
            CopyPlan::NoGlobal => both(r.times(v.reads), self.remote_move),
            CopyPlan::AddGlobal | CopyPlan::KeepGlobal => both(g.times(v.reads), self.global_move),
            CopyPlan::AddGlobalLate => {
                both(g.times(v.reads) + (r - g).times(u64::from(v.first)), self.remote_move)
            }
            CopyPlan::AddGlobalUntil(_) | CopyPlan::KeepGlobalUntil(_) => {
                let never = g.times(v.before) + r.times(v.reads - v.before);
                both(never, self.cost_if_dropped(v))
            }
            CopyPlan::KeepGlobalExcept(_) => {
                let away = u64::from(v.at[0]) + u64::from(v.at[1]);
                let never = g.times(v.reads - away) + r.times(away);
                both(never, self.cost_if_dropped(v))
            }
            CopyPlan::GlobalAt(_) => {
                let held = self.remote_move.min(r.times(v.before) + self.global_move);
                let here = u64::from(v.at[0]);
                both(r.times(v.reads - here) + g.times(here), held)
            }
        }
    }

    /// A copy at G before the global one is dropped, or at R at the read after that.
    fn cost_if_dropped(&self, v: DividedReads) -> WideKey {
        self.global_move.min(self.copy_after_drop(v))
    }

    /// A copy at R at the read after the global one is dropped.
    fn copy_after_drop(&self, v: DividedReads) -> WideKey {
        let at = self.remote.times(u64::from(v.at[0]));
        self.global.times(v.before) + at + self.remote_move
    }

    /// Whether a reader that gets a copy gets it at G, from the global copy.
    pub(crate) fn at_global_price(&self, plan: CopyPlan, v: DividedReads) -> bool {
        match plan {
            CopyPlan::NoGlobal | CopyPlan::AddGlobalLate => false,
            CopyPlan::AddGlobal | CopyPlan::KeepGlobal => true,
            CopyPlan::AddGlobalUntil(_)
            | CopyPlan::KeepGlobalUntil(_)
            | CopyPlan::KeepGlobalExcept(_) => self.global_move <= self.copy_after_drop(v),
            CopyPlan::GlobalAt(_) => {
                self.remote.times(v.before) + self.global_move <= self.remote_move
            }
        }
    }

    /// The cost of a plan that is independent of the readers: the price of the global copy that it
    /// makes.
    pub(crate) fn global_copy_cost(&self, plan: CopyPlan) -> WideKey {
        match plan {
            CopyPlan::NoGlobal | CopyPlan::KeepGlobal | CopyPlan::KeepGlobalUntil(_) => {
                WideKey::ZERO
            }
            CopyPlan::AddGlobal
            | CopyPlan::AddGlobalLate
            | CopyPlan::AddGlobalUntil(_)
            | CopyPlan::KeepGlobalExcept(_)
            | CopyPlan::GlobalAt(_) => self.global_move,
        }
    }

    /// The cost of moving the block to global memory at the write after a plan.
    pub(crate) fn enter_global_cost(&self, plan: CopyPlan) -> WideKey {
        match plan {
            CopyPlan::AddGlobal
            | CopyPlan::KeepGlobal
            | CopyPlan::AddGlobalLate
            | CopyPlan::KeepGlobalExcept(_) => WideKey::ZERO,
            CopyPlan::NoGlobal
            | CopyPlan::AddGlobalUntil(_)
            | CopyPlan::KeepGlobalUntil(_)
            | CopyPlan::GlobalAt(_) => self.global_move,
        }
    }

    /// The cost, beyond local references, of the writer's reads between two of its writes while the
    /// block stays at another processor, and whether a global copy is made for them.
    pub(crate) fn reads_between_writes(&self, reads: u64) -> (WideKey, bool) {
        let alone = self.remote.times(reads).min(self.remote_move);
        let joined = self.global_move + self.global.times(reads).min(self.global_move);
        if reads > 0 && joined < alone { (joined, true) } else { (alone, false) }
    }

    /// Whether the first write of a group, and the first repetition, must be steps of their own:
    /// two moves by way of global memory can be cheaper than one.
    pub(crate) fn splits(&self) -> bool {
        self.global_move + self.global_move < self.remote_move
    }
}

impl CopyPlan {
    pub(crate) fn starts_global(self) -> bool {
        match self {
            Self::KeepGlobal | Self::KeepGlobalUntil(_) | Self::KeepGlobalExcept(_) => true,
            Self::NoGlobal
            | Self::AddGlobal
            | Self::AddGlobalLate
            | Self::AddGlobalUntil(_)
            | Self::GlobalAt(_) => false,
        }
    }

    /// Whether a processor must have a copy before the global one is dropped.
    pub(crate) fn needs_holder(self) -> bool {
        match self {
            Self::KeepGlobalUntil(_) | Self::KeepGlobalExcept(_) => true,
            Self::NoGlobal
            | Self::AddGlobal
            | Self::KeepGlobal
            | Self::AddGlobalLate
            | Self::AddGlobalUntil(_)
            | Self::GlobalAt(_) => false,
        }
    }

    /// The read at which it changes what global memory holds; 0 where it does not.
    pub(crate) fn position(self) -> u64 {
        match self {
            Self::NoGlobal | Self::AddGlobal | Self::KeepGlobal | Self::AddGlobalLate => 0,
            Self::AddGlobalUntil(at)
            | Self::KeepGlobalUntil(at)
            | Self::KeepGlobalExcept(at)
            | Self::GlobalAt(at) => at,
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSegment {
    pub(crate) proc: ProcIndex,
    pub(crate) at: u64,
    pub(crate) reads: u64,
}

impl PlanPrices {
    /// The plans that can be optimal for these reads, of which `reads_of` has each reader's number.
    pub(crate) fn plans(
        &self,
        segments: &[ReadSegment],
        reads_of: impl Iterator<Item = u64>,
    ) -> Vec<CopyPlan> {
        let reads = segments.last().map_or(0, |s| s.at + s.reads);
        let mut plans = vec![CopyPlan::NoGlobal, CopyPlan::KeepGlobal];
        plans.extend((reads > 0 && self.may_add_global()).then_some(CopyPlan::AddGlobal));
        match self.family {
            PlanFamily::Never | PlanFamily::FromFirstRead => {}
            PlanFamily::OneRead => plans.extend(segments.iter().map(|s| CopyPlan::GlobalAt(s.at))),
            PlanFamily::AnyInterval => {
                plans.extend((reads > 1).then_some(CopyPlan::AddGlobalLate));
                let (joined, dropped) = self.may_drop_global(reads_of);
                for at in segments.iter().flat_map(|s| s.ends()) {
                    plans.extend((joined && at > 0).then_some(CopyPlan::AddGlobalUntil(at)));
                    plans.extend(dropped.then_some(CopyPlan::KeepGlobalUntil(at)));
                    plans.extend(
                        (dropped && at + 2 < reads).then_some(CopyPlan::KeepGlobalExcept(at)),
                    );
                }
            }
        }
        plans
    }

    fn may_add_global(&self) -> bool {
        matches!(self.family, PlanFamily::FromFirstRead | PlanFamily::AnyInterval)
    }

    /// Whether dropping the global copy can pay if R < G: a copy made at the first read, if it
    /// saves more than it costs; an earlier one, if some processor reads enough to pay R.
    fn may_drop_global(&self, reads_of: impl Iterator<Item = u64>) -> (bool, bool) {
        let (mut saved, mut dropped) = (WideKey::ZERO, false);
        for reads in reads_of {
            let alone = self.remote.times(reads).min(self.remote_move);
            let joined = self.global.times(reads).min(self.remote_move);
            saved = saved + (alone - joined);
            dropped |= joined == self.remote_move;
        }
        (self.global_move < saved, dropped)
    }
}

impl ReadSegment {
    /// Where in the segment dropping the global copy can be best: at its first read if the reader
    /// gets a copy afterwards, at its last if it never does.
    fn ends(&self) -> impl Iterator<Item = u64> + use<> {
        let last = (self.reads > 1).then_some(self.at + self.reads - 1);
        [Some(self.at), last].into_iter().flatten()
    }
}
