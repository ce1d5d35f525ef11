//! Reasons why something never happens.

pub(super) const BLOCKED: &str = "the processor waits for its fault";
pub(super) const RELEASES: &str = "the processor waits for its release";
pub(super) const NO_FAULT: &str = "no fault is pending";
pub(super) const CLEAN: &str = "no line is dirty when a fault begins: a read-only page has none, \
                                and a read-write page is written back before it is unmapped";
pub(super) const NOT_TOLD: &str = "home was not notified, or has answered";
pub(super) const NOT_DUE: &str = "no acknowledgement is due";
pub(super) const NONE_LISTED: &str = "no node is listed";
pub(super) const ONE: &str = "exactly one node is listed";
pub(super) const MAPPED: &str = "the requester maps the page, and is listed until it reports \
                                 that it unmapped it";
pub(super) const WRITES: &str = "the listed node may write already";
pub(super) const ONLY_READS: &str = "no node may write";
