//! All pages in global memory: the thesis measures `T_global` with this policy.

use super::{CachePolicy, Entry};
use crate::table::Location;

/// Source: Bolosky §3.2.1: the modified policy with which `T_global` was measured. O(1).
pub const ENTRY: Entry = Entry {
    name: "all-global",
    summary: "every page in global memory from the first reference on",
    source: "Bolosky 1993, section 3.2.1",
    build: |_| Box::new(AllPagesGlobal),
};

struct AllPagesGlobal;

impl CachePolicy for AllPagesGlobal {
    fn cache_policy(&mut self, _: &super::PolicyQuery) -> Location {
        Location::Global
    }
}
