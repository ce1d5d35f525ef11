//! AMSD without transfers of clean blocks: memory supplies what no cache has written.

use super::amsd::{Amsd, AmsdCopies, AmsdState};
use super::clean_from_memory::{CleanFromMemory, OwnerRules};
use super::{Entry, Example};
use crate::table::{ProtocolRules, ProtocolTable};
use crate::vocabulary::{AreaKind, Copies};

use AmsdCopies::{OnlyMc, Others};

/// Source: ours: `amsd` with the supplier of `mesi-memory`, so that the two differ by what is done
/// about migratory blocks alone. A migratory block that its last holder did not write is clean.
///
/// # Deviations
/// Those of `amsd`.
pub const ENTRY: Entry = Entry {
    name: "amsd-memory",
    summary: "AMSD whose clean blocks come from memory, though other caches have them",
    source: "as amsd and mesi-memory",
    params: &[],
    example: Example {
        name: "migratory-clean",
        summary: "A counter that goes from processor to processor, and is read in between",
        about: "The block is known to migrate once processor 1 has written it. Processor 2 takes \
                it along from a cache, but does not write it: then it is clean, and processor 0 \
                gets it from memory.",
        protocol: Some("amsd-memory"),
        text: "0 R a0; 0 W a0; 1 R a0; 1 W a0; 2 R a0; 0 R a0; 1 R a0; 1 W a0; 2 W a0; 0 R b0",
    },
    build: ProtocolTable::of::<CleanFromMemory<Amsd>>,
};

impl OwnerRules for Amsd {
    type Finer = AmsdCopies;

    fn finer(copies: Copies<AmsdState>, area: AreaKind) -> AmsdCopies {
        Self::condition(copies, area)
    }

    fn whole(finer: AmsdCopies) -> AmsdCopies {
        finer
    }

    fn is_clean(finer: AmsdCopies) -> bool {
        matches!(finer, OnlyMc | Others)
    }

    fn excluded(_state: AmsdState, _finer: AmsdCopies) -> Option<&'static str> {
        None
    }
}
