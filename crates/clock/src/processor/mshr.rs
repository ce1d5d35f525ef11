//! Miss status holding registers: loads that are under way.

/// A load that is under way, in a miss status holding register.
pub struct Mshr<A> {
    /// Whether the register is in use.
    pub(super) live: bool,
    /// Number of the instruction.
    pub(super) instruction: u64,
    /// When it began.
    pub(super) began: u64,
    pub(super) load: A,
    /// Whether it took place in the caches; the data may still be on their way.
    pub(super) performed: bool,
    /// Whether a store to the same block is before it in the store buffer: the load waits for the
    /// store's transaction, and makes no request.
    pub(super) behind_store: bool,
    /// Later loads from the block, which take place with it.
    pub(super) merged: Vec<A>,
}
