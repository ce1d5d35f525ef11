//! Reasons why something never happens.

pub(super) const EMPTY: &str = "there is nothing to replace";
pub(super) const NOT_ASKED: &str = "the node has not asked for this, or has got it";
pub(super) const READS: &str = "the node has asked to read";
pub(super) const NO_COPY: &str = "without a copy no pointer to it is current";
pub(super) const NO_COPY_BEHIND: &str = "nobody is behind a copy that has not come";
pub(super) const OWNS: &str =
    "it is the only copy: nobody is behind it, and no pointer leads to it";
pub(super) const ALONE: &str = "nobody is behind an only copy";
pub(super) const NOT_OWNER: &str = "home forwards to an owner only";
pub(super) const IS_CLIENT: &str = "the node reads by way of a proxy, and is none for this block";
pub(super) const NOT_RELAYED: &str =
    "a node relays reads of blocks of which it has nothing and awaits nothing";
pub(super) const ONCE: &str = "that was told before";
pub(super) const WALKED: &str =
    "the acknowledgement came after the whole list was told, and all that had left it";
pub(super) const NOBODY: &str = "nobody has a copy";
pub(super) const NOT_FORWARDED: &str = "no read was forwarded";
pub(super) const NEW: &str = "who asks has no copy yet by which home could know it";
pub(super) const HAS_IT: &str = "it owns the block already";
pub(super) const MEMORY_HAS: &str = "memory has the data: there is no owner";
