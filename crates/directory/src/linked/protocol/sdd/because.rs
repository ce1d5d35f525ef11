//! Reasons why something never happens.

pub(super) const EMPTY: &str = "there is nothing to replace";
pub(super) const NOT_ASKED: &str = "the node has not requested this, or has received it";
pub(super) const READS: &str = "the node has requested a read";
pub(super) const NO_COPY: &str = "without a copy no pointer to it is current";
pub(super) const NO_COPY_BEHIND: &str = "no copy is behind one that has not arrived";
pub(super) const OWNS: &str =
    "it is the only copy: no copy is behind it, and no pointer leads to it";
pub(super) const ALONE: &str = "no copy is behind an only copy";
pub(super) const NOT_OWNER: &str = "home forwards to an owner only";
pub(super) const IS_CLIENT: &str =
    "the node reads through a proxy, and is not a proxy for this block";
pub(super) const NOT_RELAYED: &str =
    "a node relays reads only of blocks that it neither has nor awaits";
pub(super) const ONCE: &str = "this was reported before";
pub(super) const WALKED: &str =
    "the acknowledgement arrives after every copy of the list was notified";
pub(super) const NO_COPIES: &str = "no node has a copy";
pub(super) const NOT_FORWARDED: &str = "no read was forwarded";
pub(super) const NEW: &str = "the requester has no copy yet by which home could know it";
pub(super) const HAS_IT: &str = "it owns the block already";
pub(super) const MEMORY_HAS: &str = "memory has the data: there is no owner";
