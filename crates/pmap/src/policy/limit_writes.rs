//! The limit as the placement engine's policy `ace` applies it: only an invalidation can pin.

use super::{CachePolicy, Entry, PolicyQuery};
use crate::table::{FaultKind, Location, PageState};

/// Source: Bolosky §5.1, where the ACE's policy is a rule about location sets: pages are replicated
/// to their readers without limit, and the write that would be one invalidation too many freezes
/// the page. A write that invalidates no copy never pins. O(1).
pub const ENTRY: Entry = Entry {
    name: "limit-writes",
    summary: "as limit, but only a write that would invalidate once more makes the page global",
    source: "Bolosky 1993, section 5.1 (the policy `ace` of simulate)",
    build: |limit| Box::new(LimitWrites { limit }),
};

struct LimitWrites {
    limit: u64,
}

impl CachePolicy for LimitWrites {
    fn cache_policy(&mut self, page: &PolicyQuery) -> Location {
        let once_more = page.access == FaultKind::Write && page.held_by_others;
        let too_often = once_more && page.invalidations >= self.limit;
        if too_often || page.state == PageState::GlobalWritable {
            Location::Global
        } else {
            Location::Local
        }
    }
}
