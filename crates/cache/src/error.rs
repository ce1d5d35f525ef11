//! Errors of a protocol that breaks its promises.

/// A broken promise, and its place in the trace.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CheckError {
    /// A read returned an old value.
    #[error(
        "reference {reference} of the trace: processor {processor} reads a stale value at address \
         {address:#x}; the protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor that reads.
        processor: u16,
        /// The word.
        address: u64,
    },
    /// An event that the protocol declares impossible.
    #[error(
        "reference {reference} of the trace: processor {processor} at address {address:#x}: \
         {what}; the protocol is wrong (homenode check-protocol)"
    )]
    Impossible {
        /// Number of the reference in the trace, fetches included, from 0.
        reference: u64,
        /// The processor.
        processor: u16,
        /// The block.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}

impl CheckError {
    /// A read of an old value at this offset within the block. The engine adds the place:
    /// [`Self::located`] or [`Self::at_cycle`].
    #[must_use]
    pub fn stale(cache: usize, address: u64) -> Self {
        let processor = u16::try_from(cache).unwrap_or(u16::MAX);
        Self::Stale { reference: 0, processor, address }
    }

    /// An event that the protocol declares impossible. The engine adds the place.
    #[must_use]
    pub fn impossible(cache: usize, what: &'static str) -> Self {
        let processor = u16::try_from(cache).unwrap_or(u16::MAX);
        Self::Impossible { reference: 0, processor, address: 0, what }
    }

    /// The same in a simulation with a clock: with the cycle, the first byte of the block, and the
    /// number of processors, because instruction caches are numbered after the others.
    #[must_use]
    pub fn at_cycle(self, cycle: u64, base: u64, processors: u16) -> ClockError {
        match self {
            Self::Stale { processor: cache, address, .. } => {
                ClockError::stale(cycle, cache % processors, base + address)
            }
            Self::Impossible { processor: cache, what, .. } => {
                ClockError::impossible(cycle, base, cache % processors, what)
            }
        }
    }

    /// The same with the number of the reference, the first byte of its block, and the number of
    /// processors.
    #[must_use]
    pub fn located(self, reference: u64, base: u64, processors: u16) -> Self {
        match self {
            Self::Stale { processor: cache, address, .. } => {
                let processor = cache % processors;
                Self::Stale { reference, processor, address: base + address }
            }
            Self::Impossible { processor: cache, what, .. } => {
                let processor = cache % processors;
                Self::Impossible { reference, processor, address: base, what }
            }
        }
    }
}

/// A broken promise in a simulation with a clock, and its cycle.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ClockError {
    /// A read returned an old value.
    #[error(
        "cycle {cycle}: processor {processor} reads a stale value at address {address:#x}; the \
         protocol is wrong (homenode check-protocol)"
    )]
    Stale {
        /// The cycle.
        cycle: u64,
        /// The processor that reads.
        processor: u16,
        /// The word, as the machine addresses it.
        address: u64,
    },
    /// An event that the protocol declares impossible.
    #[error(
        "cycle {cycle}: processor {processor} at address {address:#x}: {what}; the protocol is \
         wrong (homenode check-protocol)"
    )]
    Impossible {
        /// The cycle.
        cycle: u64,
        /// The processor.
        processor: u16,
        /// The block, as the machine addresses it.
        address: u64,
        /// What happened.
        what: &'static str,
    },
}

impl ClockError {
    /// A read of an old value of the word at this address.
    #[must_use]
    pub fn stale(cycle: u64, processor: u16, address: u64) -> Self {
        Self::Stale { cycle, processor, address }
    }

    /// An event that the protocol declares impossible.
    #[must_use]
    pub fn impossible(cycle: u64, address: u64, processor: u16, what: &'static str) -> Self {
        Self::Impossible { cycle, processor, address, what }
    }
}
