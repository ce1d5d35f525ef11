//! The promises of a protocol that an event can break.

use std::fmt;

use serde::Serialize;

/// A promise broken by one event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum BrokenPromise {
    Stale { word: usize },
    NotAlone { alone: usize, state: &'static str, other: usize },
    TwoOwners,
    Lost,
    NoSupplier,
    NoCopy,
    Impossible { what: String, why: &'static str },
    Endless,
}

/// Kinds of finding. The names are a public contract (`docs/bus.md`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// A read does not return what was written last.
    StaleRead,
    /// A copy that should be the only one is not.
    NotAlone,
    /// Two caches answer for the data.
    TwoOwners,
    /// Memory is out of date and no cache answers for the data.
    LostWrite,
    /// A cache is to supply the block and none has it.
    NoSupplier,
    /// The event leaves the processor without a copy.
    NoCopy,
    /// Something happens that is declared impossible.
    NotImpossible,
    /// A cell that contradicts itself.
    Malformed,
    /// The event happens again and again.
    Endless,
    /// A cell, reply or state that nothing leads to.
    Unreached,
    /// A state that is never left, or from which not all copies can go.
    NoExit,
}

impl BrokenPromise {
    pub(crate) fn kind(&self) -> FindingKind {
        match self {
            Self::Stale { .. } => FindingKind::StaleRead,
            Self::NotAlone { .. } => FindingKind::NotAlone,
            Self::TwoOwners => FindingKind::TwoOwners,
            Self::Lost => FindingKind::LostWrite,
            Self::NoSupplier => FindingKind::NoSupplier,
            Self::NoCopy => FindingKind::NoCopy,
            Self::Impossible { .. } => FindingKind::NotImpossible,
            Self::Endless => FindingKind::Endless,
        }
    }
}

impl fmt::Display for BrokenPromise {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stale { word } => write!(f, "the read of word {word} returns an old value"),
            Self::NotAlone { alone, state, other } => {
                write!(f, "cache {alone} is in state {state}, but cache {other} has a copy as well")
            }
            Self::TwoOwners => f.write_str("two caches own the block"),
            Self::Lost => f.write_str("memory is out of date and no cache answers for the block"),
            Self::NoSupplier => f.write_str("a cache is to supply the block, but none has it"),
            Self::NoCopy => f.write_str("the processor is left without a copy"),
            Self::Impossible { what, why } => write!(f, "{what}: declared impossible ({why})"),
            Self::Endless => f.write_str("the event happens again without end"),
        }
    }
}
