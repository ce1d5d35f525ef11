//! Parameters of a transform, as users write them.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::error::TransformError;
use crate::param::TransformParam;

#[derive(Clone, Copy)]
pub(super) struct RangeLimits {
    single: bool,
    /// Largest start of a range.
    most: u64,
}

impl RangeLimits {
    /// Ranges that start at `most` or below.
    pub(super) const fn up_to(most: u64) -> Self {
        Self { single: false, most }
    }

    /// Also accepts single numbers.
    pub(super) const fn or_single(self) -> Self {
        Self { single: true, ..self }
    }
}

pub(super) struct TransformValues<'a> {
    transform: &'static str,
    params: &'static [TransformParam],
    given: &'a BTreeMap<String, String>,
}

impl<'a> TransformValues<'a> {
    pub(super) fn new(
        transform: &'static str,
        params: &'static [TransformParam],
        given: &'a BTreeMap<String, String>,
    ) -> Result<Self, TransformError> {
        let values = Self { transform, params, given };
        let known = |name: &&String| params.iter().any(|param| param.name == name.as_str());
        match given.keys().find(|name| !known(name)) {
            None => Ok(values),
            Some(name) => {
                let names: Vec<&str> = params.iter().map(|param| param.name).collect();
                let expected = match names.as_slice() {
                    [] => "it has none".to_owned(),
                    names => format!("its parameters are {}", names.join(", ")),
                };
                Err(values.error(format!("unknown parameter {name:?}; {expected}")))
            }
        }
    }

    pub(super) fn error(&self, problem: String) -> TransformError {
        TransformError::Parameter { transform: self.transform, problem }
    }

    /// The given value, or the default; `None` if there is neither.
    pub(super) fn text(&self, name: &str) -> Option<&str> {
        let default = self.params.iter().find(|param| param.name == name);
        let default = default.map(|param| param.default).filter(|text| !text.is_empty());
        self.given.get(name).map(String::as_str).or(default)
    }

    /// All parameters with a value, as `name=value`, for the provenance.
    pub(super) fn words(&self) -> Vec<String> {
        let word = |name| self.text(name).map(|value| format!("{name}={value}"));
        self.params.iter().filter_map(|param| word(param.name)).collect()
    }

    pub(super) fn count(
        &self,
        name: &str,
        bounds: std::ops::RangeInclusive<u64>,
    ) -> Result<Option<u64>, TransformError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        match text.parse().ok().filter(|number| bounds.contains(number)) {
            Some(number) => Ok(Some(number)),
            None => Err(self.error(format!(
                "{name}={text}: expected a whole number from {} to {}",
                bounds.start(),
                bounds.end()
            ))),
        }
    }

    /// Index of the given word among these; 0 if none is given and there is no default.
    pub(super) fn choice(&self, name: &str, words: &[&str]) -> Result<usize, TransformError> {
        let Some(text) = self.text(name) else { return Ok(0) };
        words.iter().position(|&word| word == text).ok_or_else(|| {
            self.error(format!("{name}={text}: expected one of {}", words.join(", ")))
        })
    }

    /// Half-open ranges `A-B`, separated by commas; `A-` and `-B` are unbounded on one side, `A`
    /// alone (if allowed) is one number. Numbers are decimal or, after `0x`, hexadecimal.
    pub(super) fn ranges(
        &self,
        name: &str,
        RangeLimits { single, most }: RangeLimits,
    ) -> Result<Option<Vec<Range<u64>>>, TransformError> {
        let Some(text) = self.text(name) else { return Ok(None) };
        let range = |item: &str| range(item.trim(), single);
        let ranges: Option<Vec<_>> = text.split(',').map(range).collect();
        if ranges.iter().flatten().any(|range| range.start > most) {
            return Err(self.error(format!("{name}={text}: expected numbers from 0 to {most}")));
        }
        ranges.map(Some).ok_or_else(|| {
            let alone = if single { ", or A alone" } else { "" };
            self.error(format!(
                "{name}={text}: expected A-B with A below B (B itself is left out), A-, -B{alone}; \
                 several separated by commas"
            ))
        })
    }
}

fn range(item: &str, single: bool) -> Option<Range<u64>> {
    let Some((low, high)) = item.split_once('-') else {
        let number = number(item).filter(|_| single)?;
        return Some(number..number.checked_add(1)?);
    };
    if low.is_empty() && high.is_empty() {
        return None;
    }
    let low = if low.is_empty() { 0 } else { number(low)? };
    let high = if high.is_empty() { u64::MAX } else { number(high)? };
    (low < high).then_some(low..high)
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")) {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
