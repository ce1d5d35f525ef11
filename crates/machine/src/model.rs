//! A machine: prices as a function of the block size.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use homenode_base::BlockSize;

use crate::bus::BusMachine;
use crate::coherence::{EventPrices, LATENCIES, Model, PACKETS, PriceList};
use crate::decimal::{Decimal, DecimalError};
use crate::file::{Formula, MachineFile, PriceForms, Validity};
use crate::linear::{Linear, Parameters};
use crate::prices::{Prices, Violation};
use crate::table::TABLE;

/// How many machines may stand on one another through `base`.
const BASES_MAX: usize = 8;

/// What is wrong with a machine.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum MachineError {
    /// No such name in the table, and not a file or price list either.
    #[error(
        "unknown machine {name:?}: expected one of {known}, a TOML file (its path ends in \
             .toml), or prices such as prices:r=15,R=59"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// The names in the table.
        known: String,
    },
    /// A `prices:` list that cannot be read.
    #[error(
        "machine {spec:?}: {problem}; write prices:r=15,R=59 or prices:r=15,R=59,g=4,G=40 \
             (each price a number or inf; r and R differ)"
    )]
    PriceList {
        /// What was asked for.
        spec: String,
        /// What is wrong with it.
        problem: String,
    },
    /// A file that cannot be opened or read.
    #[error("machine file {}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file that is not TOML, or not a machine.
    #[error("machine {origin}: {problem}")]
    File {
        /// The file, or the name in the table.
        origin: String,
        /// What is wrong, with the line.
        problem: String,
    },
    /// A price that cannot be computed.
    #[error("machine {machine}: price {price}: {problem}")]
    Price {
        /// The machine.
        machine: String,
        /// r, R, g, G, or the name of a latency or packet count.
        price: &'static str,
        /// What is wrong.
        problem: String,
    },
    /// A machine of the other model.
    #[error(
        "machine {machine} prices the events of page-coherence policies and has no r, R, g and G: \
             choose a machine that has, such as numa, or prices in place (prices:r=15,R=59)"
    )]
    NoPrices {
        /// The machine.
        machine: String,
    },
    /// A machine whose processors share a bus where prices are needed.
    #[error(
        "machine {machine} has caches and a bus and no prices of references: simulate it with \
             coherence protocols (homenode simulate --machine {machine} --protocol mesi,pscr), or \
             choose another machine, such as numa"
    )]
    OnBus {
        /// The machine.
        machine: String,
    },
    /// Prices that break a rule of the model.
    #[error(
        "machine {machine} at {block_size_bytes}-byte blocks: {violation}; see thesis section \
             4.1.1, correct the prices, or use --force to simulate it all the same"
    )]
    Invalid {
        /// The machine.
        machine: String,
        /// The block size.
        block_size_bytes: u64,
        /// The first broken rule.
        violation: Violation,
    },
}

/// Prices of a machine at every block size.
#[derive(Clone, Debug)]
pub struct Machine {
    name: String,
    summary: String,
    source: String,
    block_size_bytes: Option<u64>,
    validity: Validity,
    /// What every price is divided by.
    unit: Option<Decimal>,
    parameters: Parameters,
    charges: Charges,
}

/// What is charged, as linear forms.
#[derive(Clone, Debug)]
enum Charges {
    /// r, R, g, G.
    Placement([Option<Linear>; 4]),
    /// Latencies, then packets.
    PageCoherence(Vec<Linear>, Vec<Linear>),
}

/// Names of the four prices, in the order of every list of them.
const PRICES: [&str; 4] = ["r", "R", "g", "G"];

impl Machine {
    /// Reads a machine as users write it: a name in [`TABLE`], `prices:r=15,R=59[,g=4,G=40]`, or
    /// the path of a TOML file.
    ///
    /// # Errors
    /// When there is no such machine or its description is faulty.
    ///
    /// ```
    /// use homenode_base::BlockSize;
    /// use homenode_machine::Machine;
    /// let numa = Machine::parse("numa")?;
    /// assert_eq!(numa.prices(BlockSize::new(4096)?, false)?.to_string(), "r=102,R=2323");
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn parse(spec: &str) -> Result<Self, MachineError> {
        if let Some(list) = spec.strip_prefix("prices:") {
            return Self::from_price_list(spec, list);
        }
        if BusMachine::is_named_by(spec) {
            return Err(MachineError::OnBus { machine: spec.to_owned() });
        }
        let is_path = Path::new(spec).extension().is_some_and(|e| e == "toml");
        if is_path || spec.contains('/') {
            let path = PathBuf::from(spec);
            return match std::fs::read_to_string(&path) {
                Ok(text) => Self::from_toml(&text, spec),
                Err(source) => Err(MachineError::Io { path, source }),
            };
        }
        let preset = preset(spec)?;
        Self::from_toml(preset, spec)
    }

    /// Reads a machine from TOML text; `origin` names it in errors.
    ///
    /// # Errors
    /// When the text is not a machine, or its base does not exist.
    pub fn from_toml(text: &str, origin: &str) -> Result<Self, MachineError> {
        let mut chain = vec![read(text, origin)?];
        while let Some(base) = chain[chain.len() - 1].base.clone() {
            if chain.len() == BASES_MAX {
                let problem = format!("more than {BASES_MAX} machines stand on one another");
                return Err(MachineError::File { origin: origin.to_owned(), problem });
            }
            chain.push(read(preset(&base)?, &base)?);
        }
        Self::from_chain(&chain)
    }

    /// The machine that the first file describes, with what it leaves out taken from the next.
    fn from_chain(chain: &[MachineFile]) -> Result<Self, MachineError> {
        let name = chain[0].name.clone();
        let first = |get: fn(&MachineFile) -> Option<String>| chain.iter().find_map(get);
        let mut parameters = BTreeMap::new();
        for file in chain.iter().rev() {
            for (key, parameter) in &file.parameters {
                let value = parameter.value.decimal().map_err(|e| MachineError::File {
                    origin: file.name.clone(),
                    problem: format!("parameter {key}: {e}"),
                })?;
                parameters.insert(key.clone(), value);
            }
        }
        let mut machine = Self {
            summary: first(|f| f.summary.clone()).unwrap_or_default(),
            source: first(|f| f.source.clone()).unwrap_or_default(),
            block_size_bytes: chain.iter().find_map(|f| f.block_size_bytes),
            validity: chain.iter().find_map(|f| f.validity).unwrap_or_default(),
            unit: unit(chain, &parameters)?,
            parameters,
            charges: Charges::Placement([None, None, None, None]),
            name,
        };
        machine.charges = machine.charges(chain)?;
        Ok(machine)
    }

    /// The linear forms that the first file says, with what it leaves out taken from the next.
    fn charges(&self, chain: &[MachineFile]) -> Result<Charges, MachineError> {
        if chain.iter().any(|f| !f.latencies.is_empty() || !f.packets.is_empty()) {
            if chain.iter().any(|f| (0..4).any(|i| formula(&f.prices, i).is_some())) {
                return Err(self.file_error("it has both prices and latencies: keep one kind"));
            }
            if self.unit.is_some() {
                return Err(self.file_error("its latencies are in cycles: leave the unit out"));
            }
            let latencies = self.events(chain, ("latencies", &LATENCIES), |f| &f.latencies)?;
            let packets = self.events(chain, ("packets", &PACKETS), |f| &f.packets)?;
            return Ok(Charges::PageCoherence(latencies, packets));
        }
        let mut formulas = [None, None, None, None];
        for (i, price) in PRICES.into_iter().enumerate() {
            let formula = chain.iter().find_map(|f| formula(&f.prices, i));
            formulas[i] = match formula {
                Some(f) if !f.infinite => Some(self.linear(f, price)?),
                Some(_) | None => None,
            };
        }
        Ok(Charges::Placement(formulas))
    }

    /// One table of a page-coherence machine: every name must be there, and no other.
    fn events(
        &self,
        chain: &[MachineFile],
        (table, names): (&str, &[&'static str]),
        get: fn(&MachineFile) -> &BTreeMap<String, Formula>,
    ) -> Result<Vec<Linear>, MachineError> {
        let given = chain.iter().flat_map(|f| get(f).keys());
        if let Some(key) = given.into_iter().find(|key| !names.contains(&key.as_str())) {
            let known = names.join(", ");
            return Err(self.file_error(&format!("{table}.{key} is unknown, expected {known}")));
        }
        let form = |&name: &&'static str| match chain.iter().find_map(|f| get(f).get(name)) {
            None => Err(self.file_error(&format!("{table}.{name} is missing"))),
            Some(f) if f.infinite => {
                Err(self.file_error(&format!("{table}.{name} cannot be infinite")))
            }
            Some(f) => self.linear(f, name),
        };
        names.iter().map(form).collect()
    }

    fn file_error(&self, problem: &str) -> MachineError {
        MachineError::File { origin: self.name.clone(), problem: problem.to_owned() }
    }

    /// Checks the terms of a formula and makes its coefficients exact.
    fn linear(&self, formula: &Formula, price: &'static str) -> Result<Linear, MachineError> {
        Linear::new(formula, &self.parameters).map_err(|problem| self.price_error(price, problem))
    }

    fn from_price_list(spec: &str, list: &str) -> Result<Self, MachineError> {
        let fail = |problem: String| MachineError::PriceList { spec: spec.to_owned(), problem };
        let mut given: [Option<Option<Decimal>>; 4] = [None; 4];
        for item in list.split(',') {
            let Some((key, value)) = item.split_once('=') else {
                return Err(fail(format!("expected name=price, found {item:?}")));
            };
            let Some(i) = PRICES.iter().position(|&p| p == key) else {
                return Err(fail(format!("unknown price {key:?}, expected r, R, g or G")));
            };
            if given[i].is_some() {
                return Err(fail(format!("{key} is given twice")));
            }
            given[i] = Some(match value {
                "inf" => None,
                number => {
                    let parsed = Decimal::parse(number);
                    Some(parsed.map_err(|e| fail(format!("{key}={number}: {e}")))?)
                }
            });
        }
        for (pair, needed) in [([0, 1], true), ([2, 3], given[2].is_some() || given[3].is_some())] {
            if let Some(&i) = pair.iter().find(|&&i| needed && given[i].is_none()) {
                return Err(fail(format!("{} is missing", PRICES[i])));
            }
        }
        Ok(Self {
            name: spec.to_owned(),
            summary: "prices given in place, the same at every block size".to_owned(),
            source: "the user".to_owned(),
            block_size_bytes: None,
            validity: Validity::Checked,
            unit: None,
            parameters: BTreeMap::new(),
            charges: Charges::Placement(given.map(|p| p.flatten().map(Linear::constant))),
        })
    }

    /// How the machine prices what a policy does.
    #[must_use]
    pub fn model(&self) -> Model {
        match self.charges {
            Charges::Placement(_) => Model::Placement,
            Charges::PageCoherence(..) => Model::PageCoherence,
        }
    }

    /// What the machine charges at a block size.
    ///
    /// # Errors
    /// As [`prices`](Self::prices), but any machine has a list.
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
    /// "as published", when the prices break a rule of thesis §4.1.1. When the machine has none.
    pub fn prices(&self, block: BlockSize, force: bool) -> Result<Prices, MachineError> {
        let prices = self.unchecked(block)?;
        match prices.violations().into_iter().next() {
            Some(violation) if !force && self.validity == Validity::Checked => {
                Err(MachineError::Invalid {
                    machine: self.name.clone(),
                    block_size_bytes: block.bytes(),
                    violation,
                })
            }
            Some(_) | None => Ok(prices),
        }
    }

    /// One sentence for each rule of thesis §4.1.1 that the prices break although they are used:
    /// the machine is declared "as published", or the user insists.
    ///
    /// # Errors
    /// When a price cannot be kept exactly.
    pub fn notes(&self, block: BlockSize) -> Result<Vec<String>, MachineError> {
        let why = match self.validity {
            Validity::Checked => "used all the same because of --force",
            Validity::AsPublished => "used as published",
        };
        if self.model() == Model::PageCoherence {
            return Ok(Vec::new());
        }
        let violations = self.unchecked(block)?.violations();
        let sentence = |v: &Violation| {
            format!("machine {} at {}-byte blocks: {v}, {why}", self.name, block.bytes())
        };
        Ok(violations.iter().map(sentence).collect())
    }

    fn unchecked(&self, block: BlockSize) -> Result<Prices, MachineError> {
        let forms = match &self.charges {
            Charges::Placement(forms) => forms,
            Charges::PageCoherence(..) => {
                return Err(MachineError::NoPrices { machine: self.name.clone() });
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
        self.unit.and_then(|unit| sum.over(unit)).unwrap_or(Ok(sum))
    }

    /// Price `i` in millionths, and how much of it is for the bytes of the block.
    pub(crate) fn price_and_transfer(
        &self,
        i: usize,
        block: BlockSize,
    ) -> Result<Option<(u64, u64)>, MachineError> {
        let Charges::Placement(forms) = &self.charges else {
            return Err(MachineError::NoPrices { machine: self.name.clone() });
        };
        let Some(linear) = &forms[i] else { return Ok(None) };
        let value = |form: &Linear| {
            let sum = self.evaluate(form, block);
            sum.map(Decimal::millionths).map_err(|e| self.price_error(PRICES[i], e.to_string()))
        };
        Ok(Some((value(linear)?, value(&linear.of_block())?)))
    }

    fn price_error(&self, price: &'static str, problem: String) -> MachineError {
        MachineError::Price { machine: self.name.clone(), price, problem }
    }

    /// Name, as in the table, the file or the price list.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// One line about the machine.
    #[must_use]
    pub fn summary(&self) -> &str {
        &self.summary
    }

    /// Where the numbers come from.
    #[must_use]
    pub fn source(&self) -> &str {
        &self.source
    }

    /// Block size the machine is usually shown with, in bytes (thesis table 6.3).
    #[must_use]
    pub fn block_size_bytes(&self) -> Option<u64> {
        self.block_size_bytes
    }
}

/// The value of the parameter that the first file with a `unit` names.
fn unit(chain: &[MachineFile], parameters: &Parameters) -> Result<Option<Decimal>, MachineError> {
    let Some(name) = chain.iter().find_map(|file| file.unit.as_ref()) else { return Ok(None) };
    match parameters.get(name) {
        Some(value) if value.millionths() > 0 => Ok(Some(*value)),
        Some(_) | None => Err(MachineError::File {
            origin: chain[0].name.clone(),
            problem: format!("unit {name:?}: expected the name of a parameter above 0"),
        }),
    }
}

fn formula(list: &PriceForms, i: usize) -> Option<&Formula> {
    let all =
        [&list.remote_reference, &list.remote_move, &list.global_reference, &list.global_move];
    all[i].as_ref()
}

fn preset(name: &str) -> Result<&'static str, MachineError> {
    let found = TABLE.iter().find(|p| p.name == name).map(|p| p.text);
    found.ok_or_else(|| {
        let known: Vec<&str> = TABLE.iter().map(|p| p.name).collect();
        MachineError::Unknown { name: name.to_owned(), known: known.join(", ") }
    })
}

fn read(text: &str, origin: &str) -> Result<MachineFile, MachineError> {
    toml::from_str(text).map_err(|e| {
        let line = e.span().map_or(1, |s| text[..s.start].matches('\n').count() + 1);
        let problem = format!("line {line}: {}", e.message());
        MachineError::File { origin: origin.to_owned(), problem }
    })
}
