//! The references that count: options of studies, and the engines' filter.
//!
//! A trace flags references to private memory and to synchronisation variables, and distinguishes
//! fetches from reads. All engines take one type, [`ReferenceFilter`]. The user's options are two
//! types with the same words everywhere: whether references of a kind count, and what private
//! references are, which can count without being like all others. Each configuration has its own
//! defaults because publications differ.

use homenode_base::{ReferenceFilter, ReferenceRole};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether references of one kind are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Include,
}

impl Inclusion {
    /// The default of options that exclude these references.
    pub(crate) const fn exclude() -> Self {
        Self::Exclude
    }

    /// The default of options that include these references.
    pub(crate) const fn include() -> Self {
        Self::Include
    }

    pub(crate) const fn counts(self) -> bool {
        matches!(self, Self::Include)
    }
}

/// How references to private memory are treated.
///
/// In addition to [`Inclusion`]'s choices they may count as private: then no engine places a block
/// or shares a cache's block because of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PrivateReferences {
    /// Count them as local to the processor that makes them.
    #[default]
    Local,
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Shared,
}

impl PrivateReferences {
    pub(crate) const fn role(self) -> ReferenceRole {
        match self {
            Self::Local => ReferenceRole::Private,
            Self::Exclude => ReferenceRole::Excluded,
            Self::Shared => ReferenceRole::Shared,
        }
    }
}

/// For engines that do not distinguish private references that count.
impl From<Inclusion> for PrivateReferences {
    fn from(inclusion: Inclusion) -> Self {
        match inclusion {
            Inclusion::Exclude => Self::Exclude,
            Inclusion::Include => Self::Local,
        }
    }
}

pub(crate) const fn data(private: PrivateReferences, sync: Inclusion) -> ReferenceFilter {
    ReferenceFilter { private: private.role(), synchronisation: sync.counts(), fetches: false }
}
