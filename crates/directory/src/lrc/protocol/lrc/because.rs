//! Reasons why something never happens.

pub(super) const BLOCKED: &str = "the processor waits for its fault";
pub(super) const RELEASES: &str = "the processor waits for its release";
pub(super) const NO_FAULT: &str = "no fault is under way";
pub(super) const CLEAN: &str = "nothing can be dirty when a fault begins: what is read-only never \
                                is, and what was read-write is written back before it is unmapped";
pub(super) const NOT_TOLD: &str = "home was not told, or has answered";
pub(super) const NOT_DUE: &str = "nothing is to be acknowledged";
pub(super) const NOBODY: &str = "nobody is listed";
pub(super) const ONE: &str = "one node is listed, no more";
pub(super) const MAPPED: &str = "who asks this maps the page, and is listed until it says that it \
                                 does not";
pub(super) const WRITES: &str = "who is listed may write already";
pub(super) const ONLY_READS: &str = "nobody may write";
