//! Values and where they come from.

use serde::Deserialize;
use serde::de::IgnoredAny;
use toml::de::{DeTable, DeValue, Error, ValueDeserializer};

/// A value as files give it: `{ value = 2, source = "table 4" }`.
#[derive(Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a number with its source, as in { value = 2, source = \"table 4\" }"
)]
struct Sourced {
    #[serde(rename = "value")]
    _value: IgnoredAny,
    /// Required of every number; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

/// Tables whose entries are formulas: each has one source for all its terms.
const FORMULAS: [&str; 4] = ["prices", "latencies", "packets", "transactions"];

/// Puts the value in place of each value with its source in the tables of a file. The error is the
/// first value without a source.
pub(crate) fn without_sources(file: &mut DeTable<'_>) -> Result<(), Error> {
    let tables = file.iter_mut().filter(|(key, _)| !FORMULAS.contains(&key.get_ref().as_ref()));
    let mut found = Ok(());
    for (_, table) in tables {
        if let DeValue::Table(table) = table.get_mut() {
            found = found.and(take_values(table));
        }
    }
    found
}

fn take_values(table: &mut DeTable<'_>) -> Result<(), Error> {
    let mut found = Ok(());
    for (_, entry) in table.iter_mut() {
        if let DeValue::Table(own) = entry.get_mut()
            && !["value", "source"].iter().any(|&key| own.contains_key(key))
        {
            found = found.and(take_values(own));
            continue;
        }
        found = found.and(Sourced::deserialize(ValueDeserializer::from(entry.clone())).map(drop));
        if let DeValue::Table(own) = entry.get_mut()
            && let Some(value) = own.remove("value")
        {
            *entry = value;
        }
    }
    found
}
