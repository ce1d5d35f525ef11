//! The vocabulary of protocols: events, transactions, signals, cells and replies.

use serde::Serialize;

pub(crate) use homenode_protocol::labelled;

labelled! {
    /// What happens at the processor's side of a cache.
    pub enum ProcessorEvent {
        Read = "read": "the processor reads or fetches a word",
        Write = "write": "the processor writes a word",
        Replace = "replace": "the frame is needed for another block",
    }
}

labelled! {
    /// A transaction on the bus (Foglia, Giorgi and Prete 2004, section 2 and table 4).
    pub enum Transaction {
        ReadBlock = "read-block": "fetches a block",
        ReadInvalidate = "read-and-invalidate-block": "fetches a block and invalidates all copies",
        Invalidate = "invalidate": "invalidates all copies",
        Write = "write": "updates a word in all copies",
        UpdateBlock = "update-block": "writes a block back to memory",
    }
}

impl Transaction {
    /// Whether a block comes with it.
    #[must_use]
    pub const fn brings_block(self) -> bool {
        matches!(self, Self::ReadBlock | Self::ReadInvalidate)
    }
}

labelled! {
    /// Where the data of an event come from.
    pub enum DataSupplier {
        Own = "own copy": "the cache has them, or needs none",
        Memory = "memory": "memory supplies the block",
        Cache = "cache": "another cache supplies the block: the owner if there is one",
    }
}

labelled! {
    /// What the other caches see of a transaction.
    pub enum Signal {
        ReadBlock = "read-block": "another cache fetches the block",
        ReadPrivate = "read-block, private": "the same, with the line that says private area",
        ReadInvalidate = "read-and-invalidate-block": "another cache fetches the block to write",
        Invalidate = "invalidate": "another cache is about to write its copy",
        Write = "write": "another cache writes a word of its copy",
    }
}

impl Signal {
    /// What a transaction about a block of this area shows the other caches, if anything.
    #[must_use]
    pub const fn of(transaction: Transaction, area: AreaKind) -> Option<Self> {
        Some(match (transaction, area) {
            (Transaction::ReadBlock, AreaKind::Shared) => Self::ReadBlock,
            (Transaction::ReadBlock, AreaKind::Private) => Self::ReadPrivate,
            (Transaction::ReadInvalidate, AreaKind::Shared | AreaKind::Private) => {
                Self::ReadInvalidate
            }
            (Transaction::Invalidate, AreaKind::Shared | AreaKind::Private) => Self::Invalidate,
            (Transaction::Write, AreaKind::Shared | AreaKind::Private) => Self::Write,
            (Transaction::UpdateBlock, AreaKind::Shared | AreaKind::Private) => return None,
        })
    }
}

labelled! {
    /// Whose memory a reference goes to.
    pub enum AreaKind {
        Shared = "shared": "memory that several processes may use",
        Private = "private": "memory of one process, which several caches hold only by migration",
    }
}

/// The promise of a state, which the model checker verifies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// No valid copy.
    Invalid,
    /// A copy, perhaps one of several; another cache or memory owns the data.
    Copy,
    /// The only copy, equal to memory.
    Only,
    /// A copy, perhaps one of several, that owns the data: memory may be out of date.
    Owner,
    /// The only copy, and memory may be out of date.
    OnlyOwner,
}

impl Role {
    /// Whether there is a copy.
    #[must_use]
    pub const fn is_copy(self) -> bool {
        !matches!(self, Self::Invalid)
    }

    /// Whether no other cache may have a copy.
    #[must_use]
    pub const fn is_alone(self) -> bool {
        matches!(self, Self::Only | Self::OnlyOwner)
    }

    /// Whether this copy is written back when it is replaced.
    #[must_use]
    pub const fn is_owner(self) -> bool {
        matches!(self, Self::Owner | Self::OnlyOwner)
    }
}

/// The copies that other caches hold, in the detail that protocols use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Copies<S> {
    /// None.
    None,
    /// One, in this state.
    One(S),
    /// Several, none of which is an owner.
    Several,
    /// Several, one of which is an owner.
    Owned,
}

labelled! {
    /// Whether other caches have copies, for protocols that need not know more of them.
    pub(crate) enum AnyCopies {
        Alone = "no copy": "no other cache has a copy",
        Shared = "copies": "at least one other cache has a copy",
    }
}

impl AnyCopies {
    pub(crate) fn of<S>(copies: Copies<S>) -> Self {
        if matches!(copies, Copies::None) { Self::Alone } else { Self::Shared }
    }
}

/// One cell of a protocol's table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableCell<S> {
    /// The action of the cache.
    Does(Action<S>),
    /// This never happens; the reason.
    Impossible(&'static str),
}

/// The action of a cache on an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Action<S> {
    /// Transaction on the bus, if any.
    pub transaction: Option<Transaction>,
    /// Where the data come from.
    pub source: DataSupplier,
    /// The cache's next state.
    pub next: S,
    /// Whether the event happens again in the next state: a write miss that is a read miss and then
    /// a write hit.
    pub again: bool,
}

/// The reply of a cache with a copy to another cache's transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reply<S> {
    /// The copy changes its state.
    Becomes {
        /// The next state.
        next: S,
        /// Whether memory takes the block in the same transaction.
        memory: bool,
        /// Whether the copy takes the written word.
        word: bool,
    },
    /// This never happens; the reason.
    Impossible(&'static str),
}

pub(crate) const fn silent<S>(next: S) -> TableCell<S> {
    TableCell::Does(Action { transaction: None, source: DataSupplier::Own, next, again: false })
}

pub(crate) const fn announce<S>(transaction: Transaction, next: S) -> TableCell<S> {
    TableCell::Does(Action {
        transaction: Some(transaction),
        source: DataSupplier::Own,
        next,
        again: false,
    })
}

/// A transaction that fetches the block.
pub(crate) const fn fetch<S>(
    transaction: Transaction,
    source: DataSupplier,
    next: S,
) -> TableCell<S> {
    TableCell::Does(Action { transaction: Some(transaction), source, next, again: false })
}

/// A read-block, after which the event happens again.
pub(crate) const fn fetch_then_again<S>(source: DataSupplier, next: S) -> TableCell<S> {
    let transaction = Some(Transaction::ReadBlock);
    TableCell::Does(Action { transaction, source, next, again: true })
}

pub(crate) const fn becomes<S>(next: S) -> Reply<S> {
    Reply::Becomes { next, memory: false, word: false }
}

/// A copy that changes its state while memory takes its data.
pub(crate) const fn updates_memory<S>(next: S) -> Reply<S> {
    Reply::Becomes { next, memory: true, word: false }
}

/// A copy that takes the written word.
pub(crate) const fn takes_word<S>(next: S) -> Reply<S> {
    Reply::Becomes { next, memory: false, word: true }
}

/// What a cache without a copy does: it does not answer.
pub(crate) const fn absent<S>(signal: Signal) -> Reply<S> {
    match signal {
        Signal::ReadBlock
        | Signal::ReadPrivate
        | Signal::ReadInvalidate
        | Signal::Invalidate
        | Signal::Write => Reply::Impossible("a cache without a copy does not answer"),
    }
}

/// Reasons why something never happens.
pub(crate) mod because {
    pub(crate) const EMPTY: &str = "there is no copy to replace";
    pub(crate) const ONLY: &str = "the state promises that there is no other copy";
    pub(crate) const NO_UPDATES: &str = "the protocol updates no copies, it invalidates them";
    pub(crate) const NO_INVALIDATIONS: &str = "the protocol invalidates no copies by a write";
}
