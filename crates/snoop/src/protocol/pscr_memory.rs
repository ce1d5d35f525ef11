//! PSCR without transfers of clean blocks: memory supplies what no cache owns.

use super::clean_from_memory::{CleanFromMemory, OwnerRules};
use super::pscr::{self, Pscr, PscrCopies, PscrState};
use super::{Entry, Example};
use crate::table::ProtocolTable;
use crate::vocabulary::{AreaKind, Copies, labelled};

use PscrCopiesByOwner::{Alone, PrivateClean, PrivateDirty, SharedClean, SharedDirty};
use PscrState::{E, I, M, S, Sm};

labelled! {
    pub(super) enum PscrCopiesByOwner {
        Alone = "no copy": "no other cache has a copy",
        SharedClean = "clean copies": "shared area, other caches have copies but none owns it",
        SharedDirty = "dirty copy": "shared area, another cache has it in M or SM",
        PrivateClean = "private, clean": "private area, other caches have copies but none owns it",
        PrivateDirty = "private, dirty": "private area, another cache has it in M or SM",
    }
}

/// Source: ours: `pscr` with the supplier of `mesi-memory`, so that the two differ only by how
/// copies are kept coherent. The owner of a block (M or SM), and only it, supplies the block.
///
/// # Deviations
/// Those of `pscr`.
pub const ENTRY: Entry = Entry {
    name: "pscr-memory",
    summary: "PSCR whose clean blocks come from memory, though other caches have them",
    source: "as pscr and mesi-memory",
    params: pscr::ENTRY.params,
    example: Example {
        name: "owner-supplies",
        summary: "A block that is read, written and followed by its process",
        about: "Memory sends a block of which all copies are clean. Processor 1 writes it, owns it \
                from then on and sends it; processor 2 takes over by a write. A private block \
                follows its process, from memory until it is written.",
        protocol: Some("pscr-memory"),
        text: "0 R a0; 1 R a0; 1 W a0; 2 R a0; 2 W a1; 0 R a1; 0 R b0 p; 1 R b0 p; 1 W b0 p; \
               2 R b0 p; 2 W b1 p",
    },
    build: ProtocolTable::of::<CleanFromMemory<Pscr>>,
};

impl OwnerRules for Pscr {
    type Finer = PscrCopiesByOwner;

    fn finer(copies: Copies<PscrState>, area: AreaKind) -> PscrCopiesByOwner {
        match (copies, area) {
            (Copies::None, AreaKind::Shared | AreaKind::Private) => Alone,
            (Copies::One(I | E | S) | Copies::Several, AreaKind::Shared) => SharedClean,
            (Copies::One(Sm | M) | Copies::Owned, AreaKind::Shared) => SharedDirty,
            (Copies::One(I | E | S) | Copies::Several, AreaKind::Private) => PrivateClean,
            (Copies::One(Sm | M) | Copies::Owned, AreaKind::Private) => PrivateDirty,
        }
    }

    fn whole(finer: PscrCopiesByOwner) -> PscrCopies {
        match finer {
            Alone => PscrCopies::Alone,
            SharedClean | SharedDirty => PscrCopies::Shared,
            PrivateClean => PscrCopies::PrivateClean,
            PrivateDirty => PscrCopies::PrivateDirty,
        }
    }

    fn is_clean(finer: PscrCopiesByOwner) -> bool {
        matches!(finer, SharedClean | PrivateClean)
    }

    fn excluded(state: PscrState, finer: PscrCopiesByOwner) -> Option<&'static str> {
        (state == Sm && finer == SharedDirty).then_some(pscr::OWNER_HERE)
    }
}
