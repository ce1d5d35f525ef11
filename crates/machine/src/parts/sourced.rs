//! A value and where it comes from.

use serde::{Deserialize, Deserializer};

/// A value as files give it: `{ value = 2, source = "table 4" }`.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a number with its source, as in { value = 2, source = \"table 4\" }"
)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    /// Required of every number; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

/// Reads a value that a file gives with its source.
pub(crate) fn sourced<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    Sourced::deserialize(deserializer).map(|sourced: Sourced<T>| sourced.value)
}

/// The same for an optional value.
pub(crate) fn sourced_optional<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    sourced(deserializer).map(Some)
}
