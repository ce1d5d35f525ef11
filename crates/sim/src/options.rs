//! The options of each study, as JSON schemas.
//!
//! An option is declared once, as a field of a configuration: its type and doc comment give its
//! values and meaning, its serde attribute gives its default. The command line, the Python
//! signatures and the documentation are generated from the schemas. Attributes of a field give what
//! a schema cannot express:
//!
//! * `x-flag`: the flag if it differs from the field's name; `null` if the command line has none.
//! * `x-value`: the syntax of the value, if the type does not determine it.
//! * `x-metavar`: the name of the value in the command line's help.
//! * `x-default`: the default in words, if it is not a single value.
//! * `x-command-line-default`: the default on the command line, if that differs.
//! * `x-argument`: the Python function has it as an argument of its own.
//! * `x-only-order`: the order of references that it requires.
//! * `x-options-of`: the field's own fields are the options of another study.
//! * `x-internal`: only for programs, not on the command line.
//!
//! The configurations that have an option determine the kinds of machine it applies to.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, Visitor, value::Error};
use serde_json::Value;

use crate::advise::AdviceConfig;
use crate::bus::{BusConfig, BusPoint};
use crate::directory::DirectoryConfig;
use crate::explain::ExplainConfig;
use crate::lines::LineConfig;
use crate::live::RunConfig;
use crate::optimal::OptimalConfig;
use crate::picture::PictureConfig;
use crate::placement::SimConfig;
use crate::pmap::PmapConfig;
use crate::sharing::SharingConfig;
use crate::tlb::{McprCorrection, TlbConfig};

/// The options of one study.
#[derive(Clone, Copy, Debug)]
pub struct StudyOptions {
    /// Name of the study.
    pub name: &'static str,
    /// Returns the schema.
    pub schema: fn() -> Value,
}

/// All studies with options, in the order of the documentation.
pub const STUDIES: &[StudyOptions] = &[
    StudyOptions { name: "simulate", schema: schema::<SimConfig> },
    StudyOptions { name: "bus", schema: schema::<BusConfig> },
    StudyOptions { name: "bus-point", schema: schema::<BusPoint> },
    StudyOptions { name: "directory", schema: schema::<DirectoryConfig> },
    StudyOptions { name: "run", schema: schema::<RunConfig> },
    StudyOptions { name: "optimal", schema: schema::<OptimalConfig> },
    StudyOptions { name: "sharing", schema: schema::<SharingConfig> },
    StudyOptions { name: "lines", schema: schema::<LineConfig> },
    StudyOptions { name: "advise", schema: schema::<AdviceConfig> },
    StudyOptions { name: "tlb", schema: schema::<TlbConfig> },
    StudyOptions { name: "tlb-correction", schema: schema::<McprCorrection> },
    StudyOptions { name: "pmap", schema: schema::<PmapConfig> },
    StudyOptions { name: "picture", schema: schema::<PictureConfig> },
    StudyOptions { name: "explain", schema: schema::<ExplainConfig> },
];

/// The schema of a configuration, and under `x-order` its fields as they are declared: the members
/// of a JSON object have no order.
fn schema<T: JsonSchema + DeserializeOwned>() -> Value {
    let mut schema: Schema = SchemaGenerator::default().into_root_schema_for::<T>();
    schema.insert("x-order".to_owned(), Value::from(fields_of::<T>().to_vec()));
    schema.to_value()
}

/// The names of a structure's fields in the order of their declaration, which is what serde asks a
/// deserializer for.
fn fields_of<T: DeserializeOwned>() -> &'static [&'static str] {
    let mut fields: &'static [&'static str] = &[];
    // There is nothing to deserialize: the error only ends the query.
    let refused = T::deserialize(FieldNames { fields: &mut fields });
    assert!(refused.is_err(), "a configuration was made of nothing");
    fields
}

/// A deserializer that records the fields of a structure.
struct FieldNames<'a> {
    fields: &'a mut &'static [&'static str],
}

impl<'de> Deserializer<'de> for FieldNames<'_> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Error> {
        Err(serde::de::Error::custom("no structure"))
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        _: V,
    ) -> Result<V::Value, Error> {
        *self.fields = fields;
        Err(serde::de::Error::custom("the fields are known"))
    }

    serde::forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf option
        unit unit_struct newtype_struct seq tuple tuple_struct map enum identifier ignored_any
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_option_is_described_and_every_choice_too() {
        for study in STUDIES {
            let schema = (study.schema)();
            let order = schema["x-order"].as_array().unwrap();
            let properties = schema["properties"].as_object().unwrap();
            assert_eq!(order.len(), properties.len(), "{}", study.name);
            for name in order {
                let name = name.as_str().unwrap();
                let description = properties[name]["description"].as_str();
                assert!(description.is_some_and(|s| s.ends_with('.')), "{} {name}", study.name);
            }
            for (name, definition) in schema["$defs"].as_object().into_iter().flatten() {
                for choice in definition["oneOf"].as_array().into_iter().flatten() {
                    assert!(choice["description"].is_string(), "{name}: {choice}");
                }
            }
        }
    }

    #[test]
    fn options_of_other_studies_exist() {
        let named: Vec<&str> = STUDIES.iter().map(|study| study.name).collect();
        for study in STUDIES {
            let schema = (study.schema)();
            for property in schema["properties"].as_object().unwrap().values() {
                if let Some(other) = property["x-options-of"].as_str() {
                    assert!(named.contains(&other), "{other}");
                }
            }
        }
    }
}
