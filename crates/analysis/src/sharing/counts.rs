//! The counts at one block size, which do not depend on the machine.

use std::ops::AddAssign;

use serde::Serialize;

/// Generates the struct and its sum from one list, so that they cannot differ.
macro_rules! counts {
    ($($name:ident, $definition:literal;)*) => {
        /// Counts at one block size on a machine that can only move blocks (thesis section 7.1.6:
        /// no remote reference, no global memory). A *transfer* is a move of one block.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
        pub struct SharingCounts {
            $(#[doc = $definition] pub $name: u64,)*
        }

        impl AddAssign<&SharingCounts> for SharingCounts {
            fn add_assign(&mut self, other: &SharingCounts) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

counts! {
    blocks, "Blocks that are referenced.";
    shared_blocks, "Blocks that several processors reference.";
    write_shared_blocks, "Blocks that several processors reference and at least one writes.";
    transfers,
        "Transfers of the optimal placement, the thesis's capital phi: `cold` and sharing misses, \
         less one for each block, whose first location is free.";
    cold, "Misses that are a processor's first reference to the block.";
    true_sharing, "Misses after which a value written by another processor is referenced.";
    false_sharing, "All other misses.";
    necessary_low,
        "A lower bound on the transfers that any system needs which moves whole blocks and gives \
         every reference the last value written.";
    necessary_high, "An upper bound on the same: that many are enough.";
    interval_transfers,
        "Transfers and merges of the optimal placement with false sharing intervals within which \
         no processor references a word that another one has written.";
    interval_transfers_thesis,
        "The same where only reading what another processor has written ends an interval, as in \
         section 7.1.2: two processors may then write the same word.";
    full_duration_blocks, "Blocks that are one false sharing interval from beginning to end.";
    full_duration_saved, "Transfers saved by turning coherence off for them.";
    separable_words,
        "Words that are only read, or used by one processor, in a block that another one writes.";
    separable_references, "References to those words.";
    separable_saved, "Transfers saved if those words lay elsewhere and were always local.";
}
