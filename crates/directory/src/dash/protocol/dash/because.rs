//! Reasons why something never happens.

pub(super) const EMPTY: &str = "there is no copy to replace";
pub(super) const NOT_ASKED: &str = "nothing was asked for that this would answer";
pub(super) const NOT_OWNER: &str = "the directory does not have this cache as the owner";
pub(super) const STILL_DUE: &str = "whoever may write is no longer listed, and its \
                                    acknowledgements are in before it hands the block on";
pub(super) const LISTED: &str = "who was told to give up its copy is not listed any more";
pub(super) const NO_FORWARD: &str = "the owner was not asked for anything";
pub(super) const NO_OWNER: &str = "nobody owns the block";
pub(super) const NOBODY: &str = "nobody is listed";
pub(super) const OWNS: &str = "who owns the block has nothing to ask for but after a write-back";
pub(super) const ASKED: &str = "it waits for what it asked for, or has given its copy up";
pub(super) const ONCE: &str = "the owner writes the block back once";
