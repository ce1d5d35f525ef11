//! Compares an outcome with the expectation of a case.

use serde_json::{Map, Value};

/// In a table: the value of all fields that are not named.
const REST: &str = "rest";
/// Relative tolerance of numbers, for the rounding of sums.
const ROUNDING: f64 = 1e-12;

pub fn faults(expected: &Value, found: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    compare(expected, found, "", &mut faults);
    faults
}

fn compare(expected: &Value, found: &Value, path: &str, faults: &mut Vec<String>) {
    let same = match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            return fields(expected, found, path, faults);
        }
        (Value::Array(expected), Value::Array(found)) if expected.len() == found.len() => {
            for (at, (expected, found)) in expected.iter().zip(found).enumerate() {
                compare(expected, found, &format!("{path}[{at}]"), faults);
            }
            return;
        }
        (Value::String(text), Value::Null) => text == "null",
        (Value::String(text), Value::Number(found)) => {
            let found = found.as_f64().unwrap_or(f64::NAN);
            fractions(text).is_some_and(|expected| close(expected, found))
        }
        (Value::Number(expected), Value::Number(found)) => {
            let [expected, found] = [expected, found].map(|n| n.as_f64().unwrap_or(f64::NAN));
            close(expected, found)
        }
        _ => expected == found,
    };
    if !same {
        faults.push(format!("{path}: expected {expected}, found {found}"));
    }
}

fn fields(
    expected: &Map<String, Value>,
    found: &Map<String, Value>,
    path: &str,
    faults: &mut Vec<String>,
) {
    let below = |name: &str| match path {
        "" => name.to_owned(),
        _ => format!("{path}.{name}"),
    };
    for (name, value) in expected.iter().filter(|(name, _)| *name != REST) {
        match found.get(name) {
            Some(found) => compare(value, found, &below(name), faults),
            None => {
                let known: Vec<&str> = found.keys().map(String::as_str).collect();
                let known = known.join(", ");
                faults.push(format!("{}: no such field; there are {known}", below(name)));
            }
        }
    }
    let Some(rest) = expected.get(REST) else { return };
    for (name, value) in found.iter().filter(|(name, _)| !expected.contains_key(*name)) {
        compare(rest, value, &below(name), faults);
    }
}

fn close(expected: f64, found: f64) -> bool {
    (expected - found).abs() <= ROUNDING * expected.abs()
}

/// A sum of fractions, as in `2/70 + 2/78`.
fn fractions(text: &str) -> Option<f64> {
    let one = |term: &str| match term.split_once('/') {
        Some((above, below)) => Some(number(above)? / number(below)?),
        None => number(term),
    };
    text.split('+').map(one).sum()
}

fn number(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_named_fields_are_compared() {
        let found = json!({"a": 1, "b": {"c": 2, "d": 0}, "e": null, "f": 0.75});
        for fits in [
            json!({}),
            json!({"a": 1}),
            json!({"b": {"c": 2, "rest": 0}}),
            json!({"e": "null", "f": "1/2 + 1/4"}),
        ] {
            assert_eq!(faults(&fits, &found), [""; 0], "{fits}");
        }
        for (differs, fault) in [
            (json!({"a": 2}), "a: expected 2, found 1"),
            (json!({"b": {"d": 0, "rest": 0}}), "b.c: expected 0, found 2"),
            (json!({"e": 0}), "e: expected 0, found null"),
            (json!({"f": "1/2"}), "f: expected \"1/2\", found 0.75"),
            (json!({"b": {"x": 1}}), "b.x: no such field; there are c, d"),
            (json!({"b": [1]}), "b: expected [1], found {\"c\":2,\"d\":0}"),
        ] {
            assert_eq!(faults(&differs, &found), [fault]);
        }
    }

    #[test]
    fn lists_are_compared_place_by_place() {
        let found = json!([{"a": 1}, {"a": 2}]);
        assert!(faults(&json!([{"a": 1}, {}]), &found).is_empty());
        assert_eq!(faults(&json!([{}, {"a": 1}]), &found), ["[1].a: expected 1, found 2"]);
        assert_eq!(faults(&json!([{}]), &found).len(), 1);
    }
}
