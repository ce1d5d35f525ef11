//! Which references count: the choices that studies offer, and the filter that comes of them.
//!
//! A trace flags references to private memory and to synchronisation variables, and knows fetches
//! from reads. What an engine is told of them is one type for all engines,
//! [`ReferenceFilter`]; here is what a user says, in two types with the same words everywhere:
//! whether references of one sort count, and what private ones are, which may count without
//! being like all others. Each configuration has its own defaults, for publications differ.

use homenode_base::{ReferenceFilter, ReferenceRole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether references of one sort are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Include,
}

impl Inclusion {
    /// The default where references of the sort are left out.
    pub(crate) const fn exclude() -> Self {
        Self::Exclude
    }

    /// The default where they count.
    pub(crate) const fn include() -> Self {
        Self::Include
    }

    /// Whether they count.
    pub(crate) const fn counts(self) -> bool {
        matches!(self, Self::Include)
    }
}

/// What references to private memory are.
///
/// A third choice beside [`Inclusion`]'s: they may count and be known to be private, which is why
/// they never make an engine place a block or share a cache's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateReferences {
    /// Count them as local to whoever makes them.
    #[default]
    Local,
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Shared,
}

impl PrivateReferences {
    /// What they are to an engine.
    pub(crate) const fn role(self) -> ReferenceRole {
        match self {
            Self::Local => ReferenceRole::Private,
            Self::Exclude => ReferenceRole::Excluded,
            Self::Shared => ReferenceRole::Shared,
        }
    }
}

/// Where it does not matter whether references that count are known to be private.
impl From<Inclusion> for PrivateReferences {
    fn from(inclusion: Inclusion) -> Self {
        match inclusion {
            Inclusion::Exclude => Self::Exclude,
            Inclusion::Include => Self::Local,
        }
    }
}

/// The references of an engine that sees no instruction fetches.
pub(crate) const fn data(private: PrivateReferences, sync: Inclusion) -> ReferenceFilter {
    ReferenceFilter { private: private.role(), synchronisation: sync.counts(), fetches: false }
}
