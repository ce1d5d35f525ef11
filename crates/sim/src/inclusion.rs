//! Whether references of one sort are counted.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whether references of one sort are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Inclusion {
    /// Count them.
    #[default]
    Include,
    /// Leave them out.
    Exclude,
}
