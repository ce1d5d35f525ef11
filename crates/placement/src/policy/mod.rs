//! On-line and static policies: each a file that ends in its `ENTRY`, all listed in [`TABLE`].
//! The engine runs any [`PolicyFactory`], of which those of the table are one kind.

mod ace;
mod all_global;
mod best_static;
mod delay;
mod factory;
mod first_touch;
mod migrate;
mod place;
mod platinum;
mod random;
mod round_robin;
mod set_policy;
mod spec;

pub use factory::PolicyFactory;
pub(crate) use set_policy::SetPolicy;
pub use spec::{
    COUNT_END, DefaultValue, ParamKind, ParamValues, PolicyError, PolicyParam, PolicySpec,
};

use homenode_base::BlockSize;
use homenode_machine::{PriceList, PriceModel, Prices};

use crate::builder::Times;
use crate::history::Block;
use crate::tally::Tally;

/// Every policy of this engine, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    ace::ENTRY,
    delay::ENTRY,
    platinum::ENTRY,
    migrate::ENTRY,
    first_touch::ENTRY,
    round_robin::ENTRY,
    random::ENTRY,
    all_global::ENTRY,
    best_static::ENTRY,
];

/// A policy instance: an automaton that walks the histories of blocks, one at a time.
///
/// Blocks are independent (Bolosky §4.1.3), so an instance keeps no state from one block to the
/// next except scratch memory; the blocks of a trace may be divided among several instances.
pub trait Policy: Send {
    /// Adds the policy's events for this block to the tally. The block has at least one run.
    fn block(&mut self, block: Block<'_>, tally: &mut Tally);

    /// Histories must be split at every multiple of this Time for [`block`](Self::block) to be
    /// exact.
    fn split_period(&self) -> Option<u64> {
        None
    }

    /// How finely Times must be known for [`block`](Self::block) to be exact.
    fn times(&self) -> Times {
        Times::Visits
    }
}

/// The environment of a policy: machine, block size and the traced run.
#[derive(Clone, Copy, Debug)]
pub struct PlacementSetup {
    /// Processors of the machine.
    pub processors: u16,
    /// Whether the machine has a memory that belongs to no processor.
    pub global: bool,
    /// The prices, for the policies that need them ([`Entry::needs_prices`]).
    pub prices: Option<Prices>,
    /// References per second of the traced run, if known.
    pub rate: Option<f64>,
    /// The unit of placement: a counter may depend on it.
    pub block_size: BlockSize,
    /// How the machine prices what the policy does.
    pub model: PriceModel,
}

impl PlacementSetup {
    /// The environment on a machine with this price list.
    #[must_use]
    pub fn new(processors: u16, block_size: BlockSize, list: &PriceList) -> Self {
        Self {
            processors,
            global: list.has_global(),
            prices: list.placement(),
            rate: None,
            block_size,
            model: list.model(),
        }
    }
}

/// The machines a policy makes sense on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunsOn {
    /// Those with prices r and R: it moves blocks, or decides by these prices.
    Placement,
    /// Those that price page-coherence events: it updates copies, or is no placement.
    PageCoherence,
    /// All: it is a placement in the sense of Bolosky §4.1.3 and makes copies only at reads.
    Both,
}

impl RunsOn {
    /// Whether machines of this kind are among them.
    #[must_use]
    pub fn has(self, model: PriceModel) -> bool {
        match (self, model) {
            (Self::Both, _)
            | (Self::Placement, PriceModel::Placement)
            | (Self::PageCoherence, PriceModel::PageCoherence) => true,
            (Self::Placement, PriceModel::PageCoherence)
            | (Self::PageCoherence, PriceModel::Placement) => false,
        }
    }
}

/// Makes an instance from an environment and parameters.
pub type BuildPolicy = fn(&PlacementSetup, &ParamValues) -> Result<Box<dyn Policy>, PolicyError>;

/// A policy as it is listed.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Its source in the literature.
    pub source: &'static str,
    /// What can be set after the colon.
    pub params: &'static [PolicyParam],
    /// Parameters, as users write them, that tests use besides the defaults: each parameter differs
    /// from its default at least once.
    pub tested_with: &'static [&'static str],
    /// Whether it makes no sense without global memory.
    pub needs_global: bool,
    /// Whether it decides by price: off-line policies only. It minimises cost, so it makes the same
    /// decisions if all prices beyond a local reference are scaled by one factor.
    pub needs_prices: bool,
    /// Whether it assigns each block a fixed home at a processor without hindsight. Another home
    /// may then be better, which advice on data layout points out.
    pub assigns_homes: bool,
    /// The machines it makes sense on.
    pub runs_on: RunsOn,
    /// Makes an instance.
    pub build: BuildPolicy,
}

impl Entry {
    /// The policy with its defaults, and with all parameters that tests use, as users write them.
    pub fn variants(&self) -> impl Iterator<Item = String> {
        let with = self.tested_with.iter().map(|parameters| format!("{}:{parameters}", self.name));
        std::iter::once(self.name.to_owned()).chain(with)
    }
}
