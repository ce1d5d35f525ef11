//! A machine: prices as a function of the block size.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use homenode_base::BlockSize;

use crate::decimal::{Decimal, DecimalError};
use crate::file::{Formula, MachineFile, PriceList, Validity};
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
        /// r, R, g or G.
        price: &'static str,
        /// What is wrong.
        problem: String,
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
    parameters: BTreeMap<String, Decimal>,
    formulas: [Option<Linear>; 4],
}

/// Coefficients by term, both exact.
type Linear = BTreeMap<String, Decimal>;

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
            formulas: [None, None, None, None],
            name,
        };
        for (i, price) in PRICES.into_iter().enumerate() {
            let formula = chain.iter().find_map(|f| formula(&f.prices, i));
            machine.formulas[i] = match formula {
                Some(f) if !f.infinite => Some(machine.linear(f, price)?),
                Some(_) | None => None,
            };
        }
        Ok(machine)
    }

    /// Checks the terms of a formula and makes its coefficients exact.
    fn linear(&self, formula: &Formula, price: &'static str) -> Result<Linear, MachineError> {
        let mut linear = Linear::new();
        for (term, coefficient) in &formula.terms {
            let known = ["constant", "block_bytes", "block_words"].contains(&term.as_str());
            if !known && !self.parameters.contains_key(term) {
                let known: Vec<&str> = self.parameters.keys().map(String::as_str).collect();
                let problem = format!(
                    "unknown term {term:?}: expected a parameter ({}), block_bytes, block_words \
                     or constant",
                    known.join(", ")
                );
                return Err(self.price_error(price, problem));
            }
            let value = coefficient.decimal();
            let value = value.map_err(|e| self.price_error(price, format!("{term}: {e}")))?;
            linear.insert(term.clone(), value);
        }
        Ok(linear)
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
        let constant = |d| Linear::from([("constant".to_owned(), d)]);
        Ok(Self {
            name: spec.to_owned(),
            summary: "prices given in place, the same at every block size".to_owned(),
            source: "the user".to_owned(),
            block_size_bytes: None,
            validity: Validity::Checked,
            unit: None,
            parameters: BTreeMap::new(),
            formulas: given.map(|p| p.flatten().map(constant)),
        })
    }

    /// The prices at a block size.
    ///
    /// # Errors
    /// When a price cannot be kept exactly, or, unless `force` is set or the machine is declared
    /// "as published", when the prices break a rule of thesis §4.1.1.
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
        let violations = self.unchecked(block)?.violations();
        let sentence = |v: &Violation| {
            format!("machine {} at {}-byte blocks: {v}, {why}", self.name, block.bytes())
        };
        Ok(violations.iter().map(sentence).collect())
    }

    fn unchecked(&self, block: BlockSize) -> Result<Prices, MachineError> {
        let mut decimals = [None; 4];
        for (i, price) in PRICES.into_iter().enumerate() {
            if let Some(linear) = &self.formulas[i] {
                let sum = self.evaluate(linear, block);
                let sum = sum.map_err(|e| self.price_error(price, e.to_string()))?;
                decimals[i] = Some(sum);
            }
        }
        Prices::from_decimals(decimals).map_err(|problem| self.price_error("list", problem))
    }

    fn evaluate(&self, linear: &Linear, block: BlockSize) -> Result<Decimal, DecimalError> {
        let mut sum = Decimal::parse("0")?;
        for (term, coefficient) in linear {
            let value = match term.as_str() {
                "constant" => Decimal::parse("1")?,
                "block_bytes" => Decimal::parse(&block.bytes().to_string())?,
                "block_words" => Decimal::parse(&block.words().to_string())?,
                name => self.parameters.get(name).copied().ok_or(DecimalError::Syntax)?,
            };
            sum = sum.plus(coefficient.times(value)?)?;
        }
        self.unit.and_then(|unit| sum.over(unit)).unwrap_or(Ok(sum))
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
fn unit(
    chain: &[MachineFile],
    parameters: &BTreeMap<String, Decimal>,
) -> Result<Option<Decimal>, MachineError> {
    let Some(name) = chain.iter().find_map(|file| file.unit.as_ref()) else { return Ok(None) };
    match parameters.get(name) {
        Some(value) if value.millionths() > 0 => Ok(Some(*value)),
        Some(_) | None => Err(MachineError::File {
            origin: chain[0].name.clone(),
            problem: format!("unit {name:?}: expected the name of a parameter above 0"),
        }),
    }
}

fn formula(list: &PriceList, i: usize) -> Option<&Formula> {
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
