//! The TOML file of a machine, as written.
//!
//! ```toml
//! name = "example"            # required
//! base = "numa"               # optional: everything not said here comes from there
//! summary = "one line"
//! source = "where the numbers come from"
//! block_size_bytes = 4096     # the block size the machine is usually shown with
//! unit = "local"              # optional: a parameter that all prices are divided by
//! validity = "checked"        # or "as published": broken rules become notes, not errors
//! [parameters.latency]
//! value = 50
//! source = "..."
//! [prices.R]                  # r, R, g, G; absent or infinite = true: no such operation
//! terms = { latency = 4, block_bytes = 0.5, constant = 75 }
//! source = "..."
//! [latencies.local]           # instead of prices: a page-coherence machine, latencies in cycles
//! terms = { local_access = 1 } # also: remote_read remote_write replication update_packet os_entry
//! source = "..."
//! [packets.replication]       # also: remote_read remote_write
//! terms = { block_words = 1 }
//! source = "..."
//! ```
//! A term is a parameter's name, `block_bytes`, `block_words` or `constant`, or a product of them
//! (`"word_transfer * block_words"`); the price is the sum of coefficient times value. Numbers have
//! at most six decimals. With a `unit` every price is divided by that parameter and rounded to
//! thousandths, so that a file can give nanoseconds.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::decimal::{Decimal, DecimalError};

/// One file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct MachineFile {
    pub(crate) name: String,
    pub(crate) base: Option<String>,
    pub(crate) summary: Option<String>,
    pub(crate) source: Option<String>,
    pub(crate) block_size_bytes: Option<u64>,
    /// Name of the parameter that is the price of a local reference.
    pub(crate) unit: Option<String>,
    pub(crate) validity: Option<Validity>,
    #[serde(default)]
    pub(crate) parameters: BTreeMap<String, Parameter>,
    #[serde(default)]
    pub(crate) prices: PriceForms,
    #[serde(default)]
    pub(crate) latencies: BTreeMap<String, Formula>,
    #[serde(default)]
    pub(crate) packets: BTreeMap<String, Formula>,
}

/// What happens when the prices break a rule of thesis §4.1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(crate) enum Validity {
    /// An error.
    #[default]
    #[serde(rename = "checked")]
    Checked,
    /// A note: the publication uses the machine so.
    #[serde(rename = "as published")]
    AsPublished,
}

/// A named number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Parameter {
    pub(crate) value: Number,
    /// Required of every number; nothing in the program reads it.
    #[serde(rename = "source")]
    _source: String,
}

/// The four prices.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PriceForms {
    #[serde(rename = "r")]
    pub(crate) remote_reference: Option<Formula>,
    #[serde(rename = "R")]
    pub(crate) remote_move: Option<Formula>,
    #[serde(rename = "g")]
    pub(crate) global_reference: Option<Formula>,
    #[serde(rename = "G")]
    pub(crate) global_move: Option<Formula>,
}

/// A linear form, or infinity.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Formula {
    #[serde(default)]
    pub(crate) terms: BTreeMap<String, Number>,
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
    /// The number as written: a float's shortest form is what stood in the file.
    pub(crate) fn decimal(self) -> Result<Decimal, DecimalError> {
        match self {
            Self::Integer(i) => Decimal::parse(&i.to_string()),
            Self::Float(f) => Decimal::parse(&f.to_string()),
        }
    }
}
