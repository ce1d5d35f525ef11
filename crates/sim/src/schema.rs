//! The JSON schema of a configuration.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Deserializer, Visitor, value::Error};
use serde_json::Value;

/// The schema of a configuration, and under `x-order` its fields as they are declared: the members
/// of a JSON object have no order.
pub(crate) fn schema<T: JsonSchema + DeserializeOwned>() -> Value {
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
