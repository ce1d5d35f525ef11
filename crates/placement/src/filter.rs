//! Which references the engine takes into account.

use homenode_base::ReferenceRole;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What to do with references to private memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Private {
    /// Count them as local references and leave them out of every history.
    #[default]
    Local,
    /// Leave them out of everything.
    Exclude,
    /// Treat them like all others.
    Shared,
}

/// What to do with references to synchronisation variables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Synchronisation {
    /// Leave them out of everything, as the thesis does (§2.3.1).
    #[default]
    Exclude,
    /// Treat them like all others.
    Include,
}

impl Private {
    /// What references flagged private are.
    #[must_use]
    pub const fn role(self) -> ReferenceRole {
        match self {
            Self::Local => ReferenceRole::Private,
            Self::Exclude => ReferenceRole::Excluded,
            Self::Shared => ReferenceRole::Shared,
        }
    }
}

impl Synchronisation {
    /// Whether references to synchronisation variables count.
    #[must_use]
    pub const fn counts(self) -> bool {
        matches!(self, Self::Include)
    }
}
