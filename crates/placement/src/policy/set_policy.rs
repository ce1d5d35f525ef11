//! Policies that keep sets of processors, compiled for sets of one word and for wide ones.

use homenode_base::{ProcessorSet64, ProcessorSet1024};

use super::Policy;
use crate::builder::Times;
use crate::history::Block;
use crate::tally::Tally;

/// A policy that keeps sets of processors, for instance of those that hold a copy.
pub(crate) trait SetPolicy: Send + Sized + 'static {
    /// As [`Policy::block`], with a bit for each processor of the machine in every set.
    fn block<const WORDS: usize>(&mut self, block: Block<'_>, tally: &mut Tally);

    fn split_period(&self) -> Option<u64> {
        None
    }

    fn times(&self) -> Times {
        Times::Visits
    }

    /// The policy for a machine with this number of processors. The width of its sets is chosen
    /// here, once for all blocks.
    fn for_processors(self, processors: u16) -> Box<dyn Policy> {
        if processors <= ProcessorSet64::CAPACITY {
            Box::new(OfWidth::<Self, 1>(self))
        } else {
            assert!(processors <= ProcessorSet1024::CAPACITY, "{processors} processors");
            Box::new(OfWidth::<Self, 16>(self))
        }
    }
}

struct OfWidth<P, const WORDS: usize>(P);

impl<P: SetPolicy, const WORDS: usize> Policy for OfWidth<P, WORDS> {
    fn block(&mut self, block: Block<'_>, tally: &mut Tally) {
        self.0.block::<WORDS>(block, tally);
    }

    fn split_period(&self) -> Option<u64> {
        self.0.split_period()
    }

    fn times(&self) -> Times {
        self.0.times()
    }
}
