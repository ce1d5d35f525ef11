//! Policies that choose the home of a page: each a file that ends in its `ENTRY`, listed in
//! [`TABLE`].
//!
//! # When a page gets another home
//! In the order of the trace a page moves between two references, while no message is in flight.
//! Its memory and the directory's entries of its blocks move with it unchanged: owners and sharers
//! keep their copies and stay listed, so that no miss is due to the move. The move itself sends no
//! counted message; it is counted under `pages_moved`, and timed machines price it.

mod allocator;
mod allocators;
mod best_static;
mod demands;
mod first_fill;
mod first_touch;
mod first_use;
mod fixed;
mod optimal_static;
mod page_usage;
mod pages;
mod random;
mod round_robin;
mod spec;

use homenode_protocol::{ProtocolParameter, ProtocolSetting};
use serde::Serialize;

pub use allocators::PageAllocators;
pub use demands::{HomeCost, MessageCost, NodeDemand, PageDemand, PageDemands};
pub(crate) use page_usage::PageFill;
pub use page_usage::{PageUsage, ServedBlocks};
pub(crate) use pages::PageHomes;
pub use spec::{HomeError, HomeSpec};

/// Every policy, in the order of lists and documentation.
pub const TABLE: &[Entry] = &[
    round_robin::ENTRY,
    random::ENTRY,
    fixed::ENTRY,
    first_touch::ENTRY,
    first_use::ENTRY,
    first_fill::ENTRY,
    allocator::ENTRY,
    best_static::ENTRY,
    optimal_static::ENTRY,
];

/// Homes are found by an event that the trace does not have.
pub(crate) const NO_INIT_DONE: &str = "the trace has no event init-done: pages stay where they \
                                       were touched first, so first-use is first-touch";

/// Gives every page a home.
pub trait HomePolicy: Send {
    /// The home of a page from its first reference on.
    fn place(&mut self, page: PlacedPage) -> u16;

    /// Whether a page has no home before its first reference, so that this reference traps
    /// into the operating system, on machines that have a time.
    fn places_at_use(&self) -> bool {
        false
    }

    /// Whether a page moves to the first node that references it after initialisation.
    fn moves_at_first_use(&self) -> bool {
        false
    }

    /// How many fills of a page make a node its home, if that is how homes are found. The first
    /// node to reach that number becomes the home.
    fn fills_of_home(&self) -> Option<u64> {
        None
    }

    /// Whether fills count only after initialisation: those of the thread that makes the input say
    /// nothing of who uses a page.
    fn counts_after_init_done(&self) -> bool {
        false
    }
}

/// A page at its first reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlacedPage {
    /// Its number: its address divided by its size.
    pub page: u64,
    /// How many pages were referenced before it.
    pub nth: u64,
    /// The node that references it.
    pub node: u16,
}

impl PlacedPage {
    /// The node whose turn it is when pages are dealt out in the order of their first references.
    #[must_use]
    pub fn round_robin(self, nodes: u16) -> u16 {
        self.dealt_from(0, nodes)
    }

    /// The same, where `first` is the node of the first page.
    #[must_use]
    fn dealt_from(self, first: u64, nodes: u16) -> u16 {
        u16::try_from((first + self.nth) % u64::from(nodes)).unwrap_or(0)
    }
}

/// What policies may know of the machine and the trace.
#[derive(Clone, Copy)]
pub struct HomeSetup<'a> {
    /// Nodes of the machine, at least one.
    pub nodes: u16,
    /// What random choices begin with.
    pub seed: u64,
    /// Whether the trace says when initialisation is over.
    pub marks_init_done: bool,
    /// What a first run of the same trace found, for policies with hindsight
    /// ([`Entry::needs_first_run`]).
    pub first_run: Option<&'a PageDemands>,
    /// Who allocated which page, for policies that choose by that ([`Entry::needs_allocations`]).
    pub allocators: Option<&'a PageAllocators>,
    /// What fills and write-backs cost, for policies that minimise that.
    pub cost: &'a dyn HomeCost,
}

impl HomeSetup<'_> {
    /// A trace of which nothing is known, on a machine whose costs are messages.
    #[must_use]
    pub const fn new(nodes: u16) -> Self {
        Self {
            nodes,
            seed: 0,
            marks_init_done: false,
            first_run: None,
            allocators: None,
            cost: &MessageCost,
        }
    }
}

/// Makes an instance.
pub type BuildHome =
    fn(&HomeSetup<'_>, &ProtocolSetting<Entry>) -> Result<Box<dyn HomePolicy>, HomeError>;

/// A policy as it is listed. The names of the fields are public.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Entry {
    /// Name on the command line.
    pub name: &'static str,
    /// One line about it.
    pub summary: &'static str,
    /// Where it comes from.
    pub source: &'static str,
    /// What can be set after the colon.
    #[serde(rename = "parameters")]
    pub params: &'static [ProtocolParameter],
    /// Whether it is chosen by what a first run of the same trace found, so that the trace is read
    /// once before the simulation.
    pub needs_first_run: bool,
    /// Whether it is chosen by the allocations of the trace, which are collected before the
    /// simulation.
    pub needs_allocations: bool,
    /// Makes an instance.
    #[serde(skip)]
    pub build: BuildHome,
}
