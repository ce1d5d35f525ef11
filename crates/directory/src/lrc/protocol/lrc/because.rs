//! Reasons why something never happens.

pub(in crate::lrc::protocol) const BLOCKED: &str = "the processor waits for its fault";
pub(in crate::lrc::protocol) const RELEASES: &str = "the processor waits for its release";
pub(in crate::lrc::protocol) const NO_FAULT: &str = "no fault is pending";
pub(in crate::lrc::protocol) const CLEAN: &str =
    "no line is dirty at a fault: read-only pages have none, others are written back before it";
pub(in crate::lrc::protocol) const TAKEN: &str =
    "the node tells home when its write-backs are acknowledged";
pub(in crate::lrc::protocol) const NOT_TOLD: &str = "home was not notified, or has answered";
pub(in crate::lrc::protocol) const NOT_DUE: &str = "no acknowledgement is due";
pub(in crate::lrc::protocol) const NONE_LISTED: &str = "no node is listed";
pub(in crate::lrc::protocol) const ONE: &str = "exactly one node is listed";
pub(in crate::lrc::protocol) const MAPPED: &str =
    "the requester maps the page, and is listed until it reports that it unmapped it";
pub(in crate::lrc::protocol) const WRITES: &str = "the listed node may write already";
pub(in crate::lrc::protocol) const ONLY_READS: &str = "no node may write";
