//! What a simulation in cycles finds wrong with a protocol.

/// A protocol that does not do what it promises.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// A read returned an old value.
    #[error(
        "cycle {cycle}: processor {processor} reads a stale value at address {address:#x}; the \
         protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// When.
        cycle: u64,
        /// The processor that reads.
        processor: u16,
        /// The word, as the machine addresses it.
        address: u64,
    },
    /// Something happened that the protocol declares impossible.
    #[error(
        "cycle {cycle}: processor {processor} at address {address:#x}: {what}; the protocol is \
         wrong (homenode check-protocol)"
    )]
    Impossible {
        /// When.
        cycle: u64,
        /// The processor.
        processor: u16,
        /// The block, as the machine addresses it.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}
