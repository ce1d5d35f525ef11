//! Lazy release consistency with releases of one trip: `modified` goes with the write-backs.

mod home;
mod release;

use homenode_cache::walk::Example;

use super::lrc::mapping::MappingState;
use super::lrc::{self, Lrc};
use crate::entry::FamilyProtocol;
use crate::lrc::table::{PagedRules, PagedTable};
use crate::lrc::vocabulary::PagePermission;
use home::OneTripHomeState;
use release::OneTripReleaseState;

/// `lrc`, but a release sends `modified` together with the write-backs of the page, and goes on
/// when the notices are acknowledged: it does not wait for the acknowledgements of its write-backs
/// first, so that it takes one round trip less. `modified` carries the number of the node's
/// write-backs of the page that the home must have received; the home lets it wait until they have
/// all arrived, because messages may overtake each other.
///
/// Source: ours, as an experiment on how much of the time of software coherence is due to the order
/// of messages in a release.
pub(crate) const ENTRY: FamilyProtocol<PagedTable> = FamilyProtocol {
    name: "lrc-one-trip",
    summary: "lrc with releases that send their notice together with the write-backs",
    source: "homenode, after Marchetti et al. 1995",
    params: &[],
    example: EXAMPLE,
    build: PagedTable::of::<LrcOneTrip>,
};

const EXAMPLE: Example = Example {
    name: "one-trip-release",
    summary: "The same accesses, where a release tells home of its writes at once",
    about: "The steps of `write-notices`. At its release node 0 sends its dirty word and \
            `modified` together; home sends the notices when it has the word, and the \
            release takes effect when they are acknowledged, whether or not the write-back is.",
    protocol: Some("lrc-one-trip"),
    ..lrc::EXAMPLE
};

struct LrcOneTrip;

impl PagedRules for LrcOneTrip {
    type Mapping = MappingState;
    type Release = OneTripReleaseState;
    type Home = OneTripHomeState;

    fn permission(state: MappingState) -> PagePermission {
        Lrc::permission(state)
    }

    fn is_noticed(state: MappingState) -> bool {
        Lrc::is_noticed(state)
    }

    fn knows_due(state: OneTripReleaseState) -> bool {
        Lrc::knows_due(state.0)
    }

    fn is_weak(state: OneTripHomeState) -> bool {
        Lrc::is_weak(state.0)
    }

    fn modified_overtakes() -> bool {
        true
    }
}
