//! MESI without transfers of clean blocks: memory supplies what no cache has written.

use super::clean_from_memory::{CleanFromMemory, OwnerRules};
use super::mesi::{Mesi, State};
use super::{Entry, Example};
use crate::table::ProtocolTable;
use crate::vocabulary::{AnyCopies, AreaKind, Copies, labelled};

use CopiesByOwner::{Alone, Clean, Dirty};
use State::{E, I, M, S};

labelled! {
    pub(super) enum CopiesByOwner {
        Alone = "no copy": "no other cache has a copy",
        Clean = "clean copies": "other caches have copies, all equal to memory",
        Dirty = "dirty copy": "another cache has the only copy, and memory is out of date",
    }
}

/// Source: Foglia, Giorgi and Prete 2004, section 2: the MESI that they consider is that of Pentium
/// Pro and Pentium II (Shanley 1997), in which a cache supplies modified blocks alone. States and
/// transactions are those of `mesi`; what differs is who sends a block. Of several caches with
/// clean copies none has to be chosen, as memory sends it.
///
/// # Deviations
/// None known.
pub const ENTRY: Entry = Entry {
    name: "mesi-memory",
    summary: "MESI whose clean blocks come from memory, though other caches have them",
    source: "Foglia, Giorgi and Prete 2004, section 2, after Shanley 1997; Culler, Singh and Gupta \
             1999, section 5.3.2",
    params: &[],
    example: Example {
        name: "clean-sharing",
        summary: "Many readers of what memory has",
        about: "Three processors read a block, which memory sends each time. Processor 1 writes it \
                and answers for it until the next read updates memory.",
        protocol: Some("mesi-memory"),
        text: "0 R a0; 1 R a0; 2 R a0; 1 W a0; 0 R a0; 2 R a0; 2 W a1; 0 W a0; 1 R a1; 0 R b0",
    },
    build: ProtocolTable::of::<CleanFromMemory<Mesi>>,
};

const THEIRS_ONLY: &str = "a dirty copy elsewhere would be the only one";

impl OwnerRules for Mesi {
    type Finer = CopiesByOwner;

    fn finer(copies: Copies<State>, _area: AreaKind) -> CopiesByOwner {
        match copies {
            Copies::None => Alone,
            Copies::One(I | E | S) | Copies::Several => Clean,
            Copies::One(M) | Copies::Owned => Dirty,
        }
    }

    fn whole(finer: CopiesByOwner) -> AnyCopies {
        match finer {
            Alone => AnyCopies::Alone,
            Clean | Dirty => AnyCopies::Shared,
        }
    }

    fn is_clean(finer: CopiesByOwner) -> bool {
        finer == Clean
    }

    fn excluded(state: State, finer: CopiesByOwner) -> Option<&'static str> {
        (state == S && finer == Dirty).then_some(THEIRS_ONLY)
    }
}
