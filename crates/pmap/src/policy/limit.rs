//! The ACE's policy: a page moves until it has been invalidated too often.

use super::{CachePolicy, Entry, PolicyQuery};
use crate::table::Location;

/// Source: Bolosky §3.1.3, "A Simple NUMA Policy That Limits Page Movement"; the thesis's limit is
/// four. LOCAL until the page has been invalidated `limit` times, GLOBAL from then on for every
/// fault. O(1).
pub const ENTRY: Entry = Entry {
    name: "limit",
    summary: "local until the page has been invalidated `limit` times, then global permanently",
    source: "Bolosky 1993, section 3.1.3",
    build: |limit| Box::new(Limit { limit }),
};

struct Limit {
    limit: u64,
}

impl CachePolicy for Limit {
    fn cache_policy(&mut self, page: &PolicyQuery) -> Location {
        if page.invalidations < self.limit { Location::Local } else { Location::Global }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{FaultKind, PageState};

    #[test]
    fn pins_at_the_first_fault_after_the_last_invalidation_allowed() {
        let mut policy = (ENTRY.build)(4);
        let mut ask = |invalidations, access| {
            let state = PageState::ReadOnly;
            policy.cache_policy(&PolicyQuery { state, access, held_by_others: true, invalidations })
        };
        assert_eq!(ask(3, FaultKind::Write), Location::Local);
        assert_eq!(ask(4, FaultKind::Read), Location::Global);
    }
}
