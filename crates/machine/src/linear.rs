//! Formulas of machine files: linear forms of parameters and block size, exact.

use std::collections::BTreeMap;

use homenode_base::BlockSize;
use serde::Deserialize;

use crate::decimal::{Decimal, DecimalError};

/// Values of parameters by name.
pub(crate) type Parameters = BTreeMap<String, Decimal>;

/// A linear form as a file gives it, or infinity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Formula {
    #[serde(default)]
    terms: BTreeMap<String, Number>,
    #[serde(default)]
    pub(crate) infinite: bool,
    /// Required of every price; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

/// A TOML integer or float.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(untagged)]
pub(crate) enum Number {
    Integer(i64),
    Float(f64),
}

impl Number {
    /// The number as written: the shortest form of a float is the text in the file.
    pub(crate) fn decimal(self) -> Result<Decimal, DecimalError> {
        match self {
            Self::Integer(i) => Decimal::parse(&i.to_string()),
            Self::Float(f) => Decimal::parse(&f.to_string()),
        }
    }
}

/// Terms that are built in, besides the parameters of a file.
const BUILT_IN: [&str; 3] = ["constant", "block_bytes", "block_words"];

/// Coefficients by term; a term is a product of factors.
#[derive(Clone, Debug)]
pub(crate) struct Linear(BTreeMap<String, Decimal>);

impl Linear {
    pub(crate) fn constant(value: Decimal) -> Self {
        Self(BTreeMap::from([("constant".to_owned(), value)]))
    }

    /// Checks the terms of a formula and makes its coefficients exact.
    ///
    /// # Errors
    /// When a term is unknown or a coefficient has more than six decimals.
    pub(crate) fn new(formula: &Formula, parameters: &Parameters) -> Result<Self, String> {
        let mut linear = BTreeMap::new();
        for (term, coefficient) in &formula.terms {
            for factor in factors(term) {
                if !BUILT_IN.contains(&factor) && !parameters.contains_key(factor) {
                    let known: Vec<&str> = parameters.keys().map(String::as_str).collect();
                    return Err(format!(
                        "unknown term {factor:?}: expected a parameter ({}), block_bytes, \
                         block_words or constant",
                        known.join(", ")
                    ));
                }
            }
            let value = coefficient.decimal().map_err(|e| format!("{term}: {e}"))?;
            linear.insert(term.clone(), value);
        }
        Ok(Self(linear))
    }

    /// The terms that depend on the block size.
    pub(crate) fn block_terms(&self) -> Self {
        let mut terms = self.0.clone();
        terms.retain(|term, _| factors(term).any(|f| f == "block_bytes" || f == "block_words"));
        Self(terms)
    }

    /// The value at a block size.
    pub(crate) fn evaluate(
        &self,
        parameters: &Parameters,
        block: BlockSize,
    ) -> Result<Decimal, DecimalError> {
        let mut sum = Decimal::from_millionths(0)?;
        for (term, &coefficient) in &self.0 {
            let mut product = coefficient;
            for factor in factors(term) {
                let value = match factor {
                    "constant" => continue,
                    "block_bytes" => Decimal::parse(&block.bytes().to_string())?,
                    "block_words" => Decimal::parse(&block.words().to_string())?,
                    name => parameters.get(name).copied().ok_or(DecimalError::Syntax)?,
                };
                product = product.times(value)?;
            }
            sum = sum.plus(product)?;
        }
        Ok(sum)
    }
}

fn factors(term: &str) -> impl Iterator<Item = &str> {
    term.split('*').map(str::trim)
}
