//! Values with or without their source: `writes = 7.39`, or
//! `writes = { value = 7.39, source = "table 3" }`.

use toml::de::{DeTable, DeValue};

/// Puts the value in place of each value with its source, in this table and those within. A table
/// with other keys than these two is left as it is, so that reading it reports the unknown key.
pub(crate) fn without_sources(table: &mut DeTable<'_>) {
    for (_, entry) in table.iter_mut() {
        match entry.get_mut() {
            DeValue::Table(own) if is_sourced(own) => {
                if let Some(value) = own.remove("value") {
                    *entry = value;
                }
            }
            DeValue::Table(own) => without_sources(own),
            DeValue::Array(items) => {
                for item in items.iter_mut() {
                    if let DeValue::Table(own) = item.get_mut() {
                        without_sources(own);
                    }
                }
            }
            DeValue::String(_)
            | DeValue::Integer(_)
            | DeValue::Float(_)
            | DeValue::Boolean(_)
            | DeValue::Datetime(_) => {}
        }
    }
}

fn is_sourced(table: &DeTable<'_>) -> bool {
    let said = |key| table.get(key).is_some_and(|value| value.get_ref().as_str().is_some());
    table.len() == 2 && table.contains_key("value") && said("source")
}
