//! The file format of a machine with prices.
//!
//! ```toml
//! block_size_bytes = 4096     # the block size the machine is usually shown with
//! processors = 2              # optional: how many it has, unless the user says otherwise
//! unit = "local"              # optional: a parameter that all prices are divided by; one whose
//!                             # name ends in _ns is in nanoseconds
//! validity = "checked"        # or "as published": broken rules become notes, not errors
//! [last_level]                # optional: the cache  in front of each processor's memory; hits
//!                             # there are not priced: size_bytes, associativity, block_size_bytes,
//!                             # each with a value and a source
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

use super::events::{LATENCIES, PACKETS};
use super::{Charges, PRICES, PriceModel, PriceUnit, PricedMachine};
use crate::error::MachineError;
use crate::file::{Description, MachineFile};
use crate::kind::MachineKind;
use crate::linear::{Formula, Linear, Number, Parameters};
use crate::parts::CacheShape;

/// The problem of a machine that has only local references.
const NO_PRICE: &str = "it has no finite price, so nothing but local references could take place: \
                        give prices.r or prices.R, or a base";

/// The contents of a file, with what is inherited from its bases.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PricedFile {
    name: String,
    #[serde(default)]
    summary: String,
    #[serde(default)]
    source: String,
    block_size_bytes: Option<u64>,
    /// The number of processors, unless the user gives another.
    processors: Option<u16>,
    /// The cache in front of each processor's memory.
    last_level: Option<CacheShape>,
    /// Name of the parameter that is the price of a local reference.
    unit: Option<String>,
    #[serde(default)]
    validity: Validity,
    #[serde(default)]
    parameters: BTreeMap<String, Number>,
    #[serde(default)]
    prices: PriceFormulas,
    #[serde(default)]
    latencies: BTreeMap<String, Formula>,
    #[serde(default)]
    packets: BTreeMap<String, Formula>,
}

/// What happens when the prices break a rule of thesis §4.1.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
pub(super) enum Validity {
    /// An error.
    #[default]
    #[serde(rename = "checked")]
    Checked,
    /// A note, as the publication uses the machine with these prices.
    #[serde(rename = "as published")]
    AsPublished,
}

/// The four prices.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct PriceFormulas {
    #[serde(rename = "r")]
    remote_reference: Option<Formula>,
    #[serde(rename = "R")]
    remote_move: Option<Formula>,
    #[serde(rename = "g")]
    global_reference: Option<Formula>,
    #[serde(rename = "G")]
    global_move: Option<Formula>,
}

impl PriceFormulas {
    /// In the order of [`PRICES`].
    fn each(&self) -> [Option<&Formula>; 4] {
        let Self { remote_reference: r, remote_move, global_reference: g, global_move } = self;
        [r.as_ref(), remote_move.as_ref(), g.as_ref(), global_move.as_ref()]
    }
}

impl PricedMachine {
    /// The machine that a file describes.
    pub(crate) fn from_file(file: MachineFile<'_>) -> Result<Self, MachineError> {
        let (kind, origin) = (file.kind, file.origin().to_owned());
        let file: PricedFile = file.contents()?;
        let fail = |problem| MachineError::File { origin: origin.clone(), problem };
        let mut parameters = Parameters::new();
        for (key, parameter) in &file.parameters {
            let value = parameter.decimal();
            let value = value.map_err(|e| fail(format!("parameter {key}: {e}")))?;
            parameters.insert(key.clone(), value);
        }
        let unit = file.unit(&parameters).map_err(fail)?;
        let mut machine = Self {
            description: Description {
                name: file.name.clone(),
                summary: file.summary.clone(),
                source: file.source.clone(),
            },
            block_size_bytes: file.block_size_bytes,
            processors: file.processors,
            last_level: file.last_level,
            validity: file.validity,
            unit,
            parameters,
            charges: Charges::Placement([None, None, None, None]),
        };
        machine.charges = machine.charges(&file)?;
        if let Charges::Placement([None, None, None, None]) = machine.charges {
            return Err(fail(NO_PRICE.to_owned()));
        }
        if MachineKind::from(machine.model()) == kind {
            return Ok(machine);
        }
        let problem = match machine.model() {
            PriceModel::Placement => "it has no latencies",
            PriceModel::PageCoherence => "it has latencies instead of prices",
        };
        Err(fail(format!("its kind is {}, but {problem}", kind.name())))
    }

    /// The linear forms that the file gives.
    fn charges(&self, file: &PricedFile) -> Result<Charges, MachineError> {
        let prices = file.prices.each();
        if !file.latencies.is_empty() || !file.packets.is_empty() {
            if prices.iter().any(Option::is_some) {
                return Err(self.file_error("it has both prices and latencies: keep one kind"));
            }
            if self.unit.is_some() {
                return Err(self.file_error("its latencies are in cycles: leave the unit out"));
            }
            let latencies = self.events(&file.latencies, "latencies", &LATENCIES)?;
            let packets = self.events(&file.packets, "packets", &PACKETS)?;
            return Ok(Charges::PageCoherence(latencies, packets));
        }
        let mut forms = [None, None, None, None];
        for ((form, formula), price) in forms.iter_mut().zip(prices).zip(PRICES) {
            if let Some(formula) = formula.filter(|formula| !formula.infinite) {
                *form = Some(self.linear(formula, price)?);
            }
        }
        Ok(Charges::Placement(forms))
    }

    /// One table of a page-coherence machine: every name must be there, and no other.
    fn events(
        &self,
        given: &BTreeMap<String, Formula>,
        table: &str,
        names: &[&'static str],
    ) -> Result<Vec<Linear>, MachineError> {
        if let Some(key) = given.keys().find(|key| !names.contains(&key.as_str())) {
            let known = names.join(", ");
            return Err(self.file_error(&format!("{table}.{key} is unknown, expected {known}")));
        }
        let form = |&name: &&'static str| match given.get(name) {
            None => Err(self.file_error(&format!("{table}.{name} is missing"))),
            Some(f) if f.infinite => {
                Err(self.file_error(&format!("{table}.{name} cannot be infinite")))
            }
            Some(f) => self.linear(f, name),
        };
        names.iter().map(form).collect()
    }

    fn file_error(&self, problem: &str) -> MachineError {
        let origin = self.description.name.clone();
        MachineError::File { origin, problem: problem.to_owned() }
    }

    /// Checks the terms of a formula and makes its coefficients exact.
    fn linear(&self, formula: &Formula, price: &'static str) -> Result<Linear, MachineError> {
        Linear::new(formula, &self.parameters).map_err(|problem| self.price_error(price, problem))
    }
}

impl PricedFile {
    /// The value of the parameter that prices are divided by.
    fn unit(&self, parameters: &Parameters) -> Result<Option<PriceUnit>, String> {
        let Some(name) = &self.unit else { return Ok(None) };
        match parameters.get(name) {
            Some(&value) if value.millionths() > 0 => {
                Ok(Some(PriceUnit { value, nanoseconds: name.ends_with("_ns") }))
            }
            Some(_) | None => {
                Err(format!("unit {name:?}: expected the name of a parameter above 0"))
            }
        }
    }
}
