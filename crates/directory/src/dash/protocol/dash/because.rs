//! Reasons why something never happens.

pub(super) const EMPTY: &str = "there is no copy to replace";
pub(super) const NOT_ASKED: &str = "the cache has no request that this could answer";
pub(super) const NOT_OWNER: &str = "this cache is not the listed owner";
pub(super) const STILL_DUE: &str = "a cache that may write is no longer listed, and has all \
                                    acknowledgements before it hands the block on";
pub(super) const LISTED: &str = "a cache whose copy was invalidated is no longer listed";
pub(super) const NO_FORWARD: &str = "no request was forwarded to the owner";
pub(super) const NO_OWNER: &str = "the block has no owner";
pub(super) const NONE_LISTED: &str = "no cache is listed";
pub(super) const OWNS: &str = "the owner requests the block only after a write-back";
pub(super) const ASKED: &str = "the cache waits for its own request, or has given up its copy";
pub(super) const ONCE: &str = "the owner writes the block back once";
