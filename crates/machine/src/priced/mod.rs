//! Machines with prices, which are functions of the block size.

mod breakdown;
mod events;
mod file;
mod in_place;
mod price_list;

use homenode_base::BlockSize;

pub use breakdown::{Breakdown, PriceParts};
pub use events::EventPrices;
pub use price_list::{PriceList, PriceModel};

use crate::decimal::{Decimal, DecimalError};
use crate::error::MachineError;
use crate::file::Description;
use crate::linear::{Linear, Parameters};
use crate::parts::CacheShape;
use crate::prices::{Prices, Violation};
use events::{LATENCIES, PACKETS};
use file::Validity;

/// Prices of a machine at every block size.
#[derive(Clone, Debug)]
pub struct PricedMachine {
    pub(crate) description: Description,
    block_size_bytes: Option<u64>,
    processors: Option<u16>,
    last_level: Option<CacheShape>,
    validity: Validity,
    /// The unit of prices: the price of a local reference.
    unit: Option<PriceUnit>,
    parameters: Parameters,
    charges: Charges,
}

/// The price of a local reference in the unit of the file.
#[derive(Clone, Copy, Debug)]
struct PriceUnit {
    value: Decimal,
    /// Whether it is in nanoseconds, by its name.
    nanoseconds: bool,
}

/// The prices, as linear forms.
#[derive(Clone, Debug)]
enum Charges {
    /// r, R, g, G.
    Placement([Option<Linear>; 4]),
    /// Latencies, then packets.
    PageCoherence(Vec<Linear>, Vec<Linear>),
}

/// Names of the four prices, in the order of every list of them.
const PRICES: [&str; 4] = ["r", "R", "g", "G"];

impl PricedMachine {
    /// The number of processors, unless the user gives another; `None` if the user must give it.
    #[must_use]
    pub fn processors(&self) -> Option<u16> {
        self.processors
    }

    /// The cache in front of each processor's memory, if only misses there are priced.
    #[must_use]
    pub fn last_level(&self) -> Option<CacheShape> {
        self.last_level
    }

    /// Nanoseconds of a local reference, in millionths, if the machine's prices are in nanoseconds.
    #[must_use]
    pub fn local_ns_millionths(&self) -> Option<u64> {
        self.unit.filter(|unit| unit.nanoseconds).map(|unit| unit.value.millionths())
    }

    /// What the machine prices: references and moves, or page-coherence events.
    #[must_use]
    pub fn model(&self) -> PriceModel {
        match self.charges {
            Charges::Placement(_) => PriceModel::Placement,
            Charges::PageCoherence(..) => PriceModel::PageCoherence,
        }
    }

    /// The prices at a block size.
    ///
    /// # Errors
    /// As [`prices`](Self::prices), but machines of page coherence have a list, too.
    pub fn price_list(&self, block: BlockSize, force: bool) -> Result<PriceList, MachineError> {
        let (latencies, packets) = match &self.charges {
            Charges::Placement(_) => return self.prices(block, force).map(PriceList::Placement),
            Charges::PageCoherence(latencies, packets) => (latencies, packets),
        };
        let latencies = self.values(&LATENCIES, latencies, block)?;
        let packets = self.values(&PACKETS, packets, block)?;
        let list = EventPrices::new(latencies, packets);
        list.map(PriceList::PageCoherence).map_err(|problem| self.price_error("list", problem))
    }

    fn values<const N: usize>(
        &self,
        names: &[&'static str; N],
        forms: &[Linear],
        block: BlockSize,
    ) -> Result<[Decimal; N], MachineError> {
        let mut values = [Decimal::default(); N];
        for ((value, name), form) in values.iter_mut().zip(names).zip(forms) {
            let found = form.evaluate(&self.parameters, block);
            *value = found.map_err(|e| self.price_error(name, e.to_string()))?;
        }
        Ok(values)
    }

    /// The prices r, R, g, G at a block size.
    ///
    /// # Errors
    /// When a price cannot be kept exactly, or, unless `force` is set or the machine is declared
    /// "as published", when the prices break a rule of thesis §4.1.1. Also when the machine is one
    /// of page coherence, which has no such prices.
    pub fn prices(&self, block: BlockSize, force: bool) -> Result<Prices, MachineError> {
        let prices = self.unchecked(block)?;
        match prices.violations().into_iter().next() {
            Some(violation) if !force && self.validity == Validity::Checked => {
                Err(MachineError::Invalid {
                    machine: self.description.name.clone(),
                    block_size_bytes: block.bytes(),
                    violation,
                })
            }
            Some(_) | None => Ok(prices),
        }
    }

    /// One sentence for each rule of thesis §4.1.1 that the prices break. They are used all the
    /// same if the machine is declared "as published" or the user forces it.
    ///
    /// # Errors
    /// When a price cannot be kept exactly.
    pub fn notes(&self, block: BlockSize) -> Result<Vec<String>, MachineError> {
        let why = match self.validity {
            Validity::Checked => "used all the same because of --force",
            Validity::AsPublished => "used as published",
        };
        if self.model() == PriceModel::PageCoherence {
            return Ok(Vec::new());
        }
        let violations = self.unchecked(block)?.violations();
        let sentence = |v: &Violation| {
            format!(
                "machine {} at {}-byte blocks: {v}, {why}",
                self.description.name,
                block.bytes()
            )
        };
        Ok(violations.iter().map(sentence).collect())
    }

    fn unchecked(&self, block: BlockSize) -> Result<Prices, MachineError> {
        let forms = match &self.charges {
            Charges::Placement(forms) => forms,
            Charges::PageCoherence(..) => {
                return Err(MachineError::NoPrices { machine: self.description.name.clone() });
            }
        };
        let mut decimals = [None; 4];
        for (i, price) in PRICES.into_iter().enumerate() {
            if let Some(linear) = &forms[i] {
                let sum = self.evaluate(linear, block);
                let sum = sum.map_err(|e| self.price_error(price, e.to_string()))?;
                decimals[i] = Some(sum);
            }
        }
        Prices::from_decimals(decimals).map_err(|problem| self.price_error("list", problem))
    }

    fn evaluate(&self, linear: &Linear, block: BlockSize) -> Result<Decimal, DecimalError> {
        let sum = linear.evaluate(&self.parameters, block)?;
        self.unit.and_then(|unit| sum.over(unit.value)).unwrap_or(Ok(sum))
    }

    /// Price `i` in millionths, and the part of it that depends on the block size.
    pub(crate) fn price_and_transfer(
        &self,
        i: usize,
        block: BlockSize,
    ) -> Result<Option<(u64, u64)>, MachineError> {
        let Charges::Placement(forms) = &self.charges else {
            return Err(MachineError::NoPrices { machine: self.description.name.clone() });
        };
        let Some(linear) = &forms[i] else { return Ok(None) };
        let value = |form: &Linear| {
            let sum = self.evaluate(form, block);
            sum.map(Decimal::millionths).map_err(|e| self.price_error(PRICES[i], e.to_string()))
        };
        Ok(Some((value(linear)?, value(&linear.block_terms())?)))
    }

    fn price_error(&self, price: &'static str, problem: String) -> MachineError {
        MachineError::Price { machine: self.description.name.clone(), price, problem }
    }

    /// Name, as in the table, the file or the price list.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.description.name
    }

    /// One line about the machine.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.description.summary
    }

    /// Where the numbers come from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.description.source
    }

    /// Block size the machine is usually shown with, in bytes (thesis table 6.3).
    #[must_use]
    pub fn block_size_bytes(&self) -> Option<u64> {
        self.block_size_bytes
    }
}
