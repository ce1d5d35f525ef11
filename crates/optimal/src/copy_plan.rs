//! Plans for the copies of a block during a read-run on a machine with global memory, and what each
//! processor pays under each.
//!
//! A plan says at which reads global memory holds the block; given that, processors do not
//! influence one another. `docs/optimal.md` shows that the plans listed here suffice.

use homenode_machine::Prices;

use crate::place_costs::ProcIndex;
use crate::wide::{RecurrenceValue, WideKey};

/// Where a read-run starts from and when global memory holds a copy. Positions count the reads of
/// the run from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CopyPlan {
    /// From a processor, no global copy; copies cost R.
    Remote,
    /// From a processor, with a global copy from the first read on; copies cost G.
    Joined,
    /// From global memory, whose copy stays; copies cost G.
    Global,
    /// From a processor, with copies at R at the first read and a global copy from the second on.
    Late,
    /// From a processor, with a global copy from the first read until it is dropped at this one;
    /// copies cost G at first, R from the next read on.
    JoinedUntil(u64),
    /// From global memory, whose copy is dropped at this read, when some processor, the witness,
    /// has one; copies cost G at first, R from the next read on.
    Until(u64),
    /// The same with copies at R at the next read only, after which global memory gets a copy
    /// again.
    Except(u64),
    /// From a processor, with a global copy at this read only, which the reader must not need;
    /// copies cost G there, R before.
    Stage(u64),
}

/// Which plans a price list makes worth looking at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PlanFamily {
    /// g <= r and G <= R: a global copy is there from the first read on or not at all.
    Early,
    /// g <= r and R < G: copies are worth making while there is no global copy.
    Late,
    /// g infinite and G < R: global memory serves nobody but makes copies cheaper.
    Stage,
    /// g infinite and R <= G: global memory is of no use.
    Apart,
}

/// What a reader pays more than for local references.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadExtra {
    /// At the least.
    pub(crate) free: WideKey,
    /// At the least if it has a copy in the end.
    pub(crate) held: WideKey,
}

/// Reads by one processor, divided at the position of a plan.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ReaderView {
    /// All of the run.
    pub(crate) reads: u64,
    /// Those before the position.
    pub(crate) before: u64,
    /// Whether the read there is one, and the next.
    pub(crate) at: [bool; 2],
    /// Whether the first read of the run is.
    pub(crate) first: bool,
}

/// Prices as keys.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlanPrices {
    pub(crate) shift: u32,
    /// A local reference.
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
        // Room for one move a reference below the cost, so that moves decide between equal costs.
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
            Some(_) if global_move <= remote_move => PlanFamily::Early,
            Some(_) => PlanFamily::Late,
            None if global_move < remote_move => PlanFamily::Stage,
            None => PlanFamily::Apart,
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

    /// What a processor's reads cost under a plan.
    pub(crate) fn extra(&self, plan: CopyPlan, v: ReaderView) -> ReadExtra {
        let (r, g) = (self.remote, self.global);
        let both = |free: WideKey, held: WideKey| ReadExtra { free: free.min(held), held };
        match plan {
            CopyPlan::Remote => both(r.times(v.reads), self.remote_move),
            CopyPlan::Joined | CopyPlan::Global => both(g.times(v.reads), self.global_move),
            CopyPlan::Late => {
                both(g.times(v.reads) + (r - g).times(u64::from(v.first)), self.remote_move)
            }
            CopyPlan::JoinedUntil(_) | CopyPlan::Until(_) => {
                let never = g.times(v.before) + r.times(v.reads - v.before);
                both(never, self.dropped(v))
            }
            CopyPlan::Except(_) => {
                let away = u64::from(v.at[0]) + u64::from(v.at[1]);
                let never = g.times(v.reads - away) + r.times(away);
                both(never, self.dropped(v))
            }
            CopyPlan::Stage(_) => {
                let held = self.remote_move.min(r.times(v.before) + self.global_move);
                let here = u64::from(v.at[0]);
                both(r.times(v.reads - here) + g.times(here), held)
            }
        }
    }

    /// A copy at G before the global one is dropped, or at R at the read after that.
    fn dropped(&self, v: ReaderView) -> WideKey {
        self.global_move.min(self.waits(v))
    }

    /// A copy at R at the read after the global one is dropped.
    fn waits(&self, v: ReaderView) -> WideKey {
        let at = self.remote.times(u64::from(v.at[0]));
        self.global.times(v.before) + at + self.remote_move
    }

    /// Whether a reader that gets a copy gets it at G, with the global copy at hand.
    pub(crate) fn at_global_price(&self, plan: CopyPlan, v: ReaderView) -> bool {
        match plan {
            CopyPlan::Remote | CopyPlan::Late => false,
            CopyPlan::Joined | CopyPlan::Global => true,
            CopyPlan::JoinedUntil(_) | CopyPlan::Until(_) | CopyPlan::Except(_) => {
                self.global_move <= self.waits(v)
            }
            CopyPlan::Stage(_) => {
                self.remote.times(v.before) + self.global_move <= self.remote_move
            }
        }
    }

    /// What a plan costs whoever reads: the global copies it makes.
    pub(crate) fn joining(&self, plan: CopyPlan) -> WideKey {
        match plan {
            CopyPlan::Remote | CopyPlan::Global | CopyPlan::Until(_) => WideKey::ZERO,
            CopyPlan::Joined
            | CopyPlan::Late
            | CopyPlan::JoinedUntil(_)
            | CopyPlan::Except(_)
            | CopyPlan::Stage(_) => self.global_move,
        }
    }

    /// What it costs to be in global memory at the write after a plan.
    pub(crate) fn entering(&self, plan: CopyPlan) -> WideKey {
        match plan {
            CopyPlan::Joined | CopyPlan::Global | CopyPlan::Late | CopyPlan::Except(_) => {
                WideKey::ZERO
            }
            CopyPlan::Remote
            | CopyPlan::JoinedUntil(_)
            | CopyPlan::Until(_)
            | CopyPlan::Stage(_) => self.global_move,
        }
    }

    /// What the writer's reads between two of its writes cost beyond local ones while the block's
    /// home is another processor, and whether a global copy is made for them.
    pub(crate) fn visit(&self, reads: u64) -> (WideKey, bool) {
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
    /// Whether it starts from global memory.
    pub(crate) fn starts_global(self) -> bool {
        match self {
            Self::Global | Self::Until(_) | Self::Except(_) => true,
            Self::Remote | Self::Joined | Self::Late | Self::JoinedUntil(_) | Self::Stage(_) => {
                false
            }
        }
    }

    /// Whether a processor must have a copy before the global one is dropped.
    pub(crate) fn needs_witness(self) -> bool {
        match self {
            Self::Until(_) | Self::Except(_) => true,
            Self::Remote
            | Self::Joined
            | Self::Global
            | Self::Late
            | Self::JoinedUntil(_)
            | Self::Stage(_) => false,
        }
    }

    /// The read at which it changes what global memory holds; 0 where it does not.
    pub(crate) fn position(self) -> u64 {
        match self {
            Self::Remote | Self::Joined | Self::Global | Self::Late => 0,
            Self::JoinedUntil(at) | Self::Until(at) | Self::Except(at) | Self::Stage(at) => at,
        }
    }
}

/// Reads by one processor with no other's between them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ReadSegment {
    pub(crate) proc: ProcIndex,
    /// Position of the first.
    pub(crate) at: u64,
    pub(crate) reads: u64,
}

impl PlanPrices {
    /// The plans worth looking at for these reads, so many by each reader.
    pub(crate) fn plans(
        &self,
        segments: &[ReadSegment],
        reads_of: impl Iterator<Item = u64>,
    ) -> Vec<CopyPlan> {
        let reads = segments.last().map_or(0, |s| s.at + s.reads);
        let mut plans = vec![CopyPlan::Remote, CopyPlan::Global];
        plans.extend((reads > 0 && self.joins()).then_some(CopyPlan::Joined));
        match self.family {
            PlanFamily::Apart | PlanFamily::Early => {}
            PlanFamily::Stage => plans.extend(segments.iter().map(|s| CopyPlan::Stage(s.at))),
            PlanFamily::Late => {
                plans.extend((reads > 1).then_some(CopyPlan::Late));
                let (joined, dropped) = self.drops(reads_of);
                for at in segments.iter().flat_map(|s| s.ends()) {
                    plans.extend((joined && at > 0).then_some(CopyPlan::JoinedUntil(at)));
                    plans.extend(dropped.then_some(CopyPlan::Until(at)));
                    plans.extend((dropped && at + 2 < reads).then_some(CopyPlan::Except(at)));
                }
            }
        }
        plans
    }

    fn joins(&self) -> bool {
        matches!(self.family, PlanFamily::Early | PlanFamily::Late)
    }

    /// Whether, where R < G, a global copy may be worth dropping: one that joined at the first
    /// read, if it saves more than it costs; one that was there, if somebody reads enough for R.
    fn drops(&self, reads_of: impl Iterator<Item = u64>) -> (bool, bool) {
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
    /// Where in the segment a drop of the global copy can be best: whoever reads there gets a copy
    /// afterwards, and sooner is better, or never does, and later is.
    fn ends(&self) -> impl Iterator<Item = u64> + use<> {
        let last = (self.reads > 1).then_some(self.at + self.reads - 1);
        [Some(self.at), last].into_iter().flatten()
    }
}
