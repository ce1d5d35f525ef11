//! Values of a file: their sources, and changes. A value may have a source or none:
//! `writes = 7.39`, or `writes = { value = 7.39, source = "table 3" }`.

use toml::Spanned;
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

/// Puts a value in place of that of a key: names of tables and the key, joined by points. Among the
/// groups the name of one selects it. The error says what is missing.
pub(crate) fn put<'a>(
    table: &mut DeTable<'a>,
    key: &str,
    value: Spanned<DeValue<'a>>,
) -> Result<(), String> {
    let (first, rest) = key.split_once('.').map_or((key, None), |(f, r)| (f, Some(r)));
    let known: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
    let missing = || format!("there is no {first:?}; there are {}", known.join(", "));
    let entry = table.get_mut(first).ok_or_else(missing)?;
    match (entry.get_mut(), rest) {
        (DeValue::Table(own), Some(rest)) => put(own, rest, value),
        (DeValue::Array(groups), Some(rest)) => {
            let (name, rest) = rest.split_once('.').ok_or("name a group and its key")?;
            for group in groups.iter_mut() {
                if let DeValue::Table(own) = group.get_mut()
                    && is_named(own, name)
                {
                    return put(own, rest, value);
                }
            }
            Err(format!("there is no group {name:?}"))
        }
        (_, Some(_)) => Err(format!("{first:?} is a value, not a table")),
        (DeValue::Table(_) | DeValue::Array(_), None) => Err(format!("{first:?} is a table")),
        (_, None) => {
            *entry = value;
            Ok(())
        }
    }
}

fn is_named(table: &DeTable<'_>, name: &str) -> bool {
    table.get("name").is_some_and(|value| value.get_ref().as_str() == Some(name))
}

fn is_sourced(table: &DeTable<'_>) -> bool {
    let said = |key| table.get(key).is_some_and(|value| value.get_ref().as_str().is_some());
    table.len() == 2 && table.contains_key("value") && said("source")
}
