//! Parameters that several policies share.

use homenode_base::BlockSize;

use crate::policy::{COUNT_END, DefaultValue, ParamKind, PolicyParam};

/// Source: section 3.2 defines f and D but prints no values; these defaults are ours.
pub(super) const F: PolicyParam = PolicyParam {
    name: "f",
    kind: ParamKind::Count { min: 0 },
    default: DefaultValue::Fixed(10_000),
    unit: "references",
    doc: "an invalidation at most this long ago freezes the block",
};

/// Source: section 3.2 does not say what an invalidation is where there are no copies.
pub(super) const BY: PolicyParam = PolicyParam {
    name: "by",
    kind: ParamKind::Choice(&["removals", "writes"]),
    default: DefaultValue::Fixed(0),
    unit: "",
    doc: "what an invalidation is: a write that removes copies, or any write",
};

pub(super) const D: PolicyParam = PolicyParam {
    name: "d",
    kind: ParamKind::Count { min: 1 },
    default: DefaultValue::Fixed(1_000_000),
    unit: "references",
    doc: "frozen blocks defrost at every multiple of this Time",
};

/// Source: section 3.3 says bytes / 8; the published figures say words / 8 (table 6, first row).
pub(super) const COUNTER: PolicyParam = PolicyParam {
    name: "counter",
    kind: ParamKind::CountOr(&["words/8", "bytes/8"]),
    default: DefaultValue::Fixed(COUNT_END),
    unit: "references",
    doc: "where the hardware counter starts, at least 1; at 0 the block is replicated",
};

/// Source: section 3.3 counts accesses; the published figures say that only reads count.
pub(super) const COUNT: PolicyParam = PolicyParam {
    name: "count",
    kind: ParamKind::Choice(&["reads", "accesses"]),
    default: DefaultValue::Fixed(0),
    unit: "",
    doc: "what the counter counts",
};

/// Source: the operating system column of the appendix, which leaves these entries out.
pub(super) const CHARGE_MAPPINGS: PolicyParam = PolicyParam {
    name: "charge-mappings",
    kind: ParamKind::Choice(&["off", "on"]),
    default: DefaultValue::Fixed(0),
    unit: "",
    doc: "charge an entry into the operating system for every remote mapping and every freeze",
};

/// The initial value of a counter, if [`COUNTER`] has this value.
pub(super) fn counter_limit(value: u64, block: BlockSize) -> u64 {
    match value.checked_sub(COUNT_END) {
        None => value,
        Some(0) => (block.words() / 8).max(1),
        Some(_) => (block.bytes() / 8).max(1),
    }
}
