//! Miss status holding registers.

/// A miss status holding register, with a load in flight if it is in use.
pub struct Mshr<A> {
    /// Whether the register is in use.
    pub(super) live: bool,
    /// Number of the load's instruction.
    pub(super) instruction: u64,
    /// The cycle in which the load was issued.
    pub(super) began: u64,
    pub(super) load: A,
    /// Whether the load was performed in the caches; its data may still be in flight.
    pub(super) performed: bool,
    /// Whether an older store to the same block is in the store buffer: the load waits for the
    /// store's transaction and makes no request.
    pub(super) behind_store: bool,
    /// Later loads from the block, performed together with this one.
    pub(super) merged: Vec<A>,
}
