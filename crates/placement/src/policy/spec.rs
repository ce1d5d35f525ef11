//! Policies as users write them: `name` or `name:parameter=value,...`.

use std::borrow::Cow;
use std::sync::Arc;

use homenode_machine::PriceModel;

use super::factory::{ListedPolicy, PolicyFactory};
use super::{Entry, PlacementSetup, Policy};

/// A parameter of a policy.
#[derive(Clone, Copy, Debug)]
pub struct PolicyParam {
    /// Name before the equals sign.
    pub name: &'static str,
    /// What values it takes.
    pub kind: ParamKind,
    /// The value when the user gives none.
    pub default: DefaultValue,
    /// Unit of the value.
    pub unit: &'static str,
    /// What it does.
    pub doc: &'static str,
}

impl PolicyParam {
    pub(super) fn fallback(&self, setup: &PlacementSetup) -> u64 {
        match self.default {
            DefaultValue::Fixed(value) => value,
            DefaultValue::Milliseconds(milliseconds, otherwise) => {
                #[expect(clippy::cast_precision_loss, reason = "a default, rounded to references")]
                let exact = setup.rate.map(|rate| rate * milliseconds as f64 / 1000.0);
                let in_range = exact.filter(|e| e.is_finite() && *e >= 0.5 && *e < 1e14);
                #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
                in_range.map_or(otherwise, |e| e.round() as u64)
            }
        }
    }
}

/// The values a parameter takes.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// A whole number, at least `min`.
    Count {
        /// The least value.
        min: u64,
    },
    /// One of these words; its value is the index.
    Choice(&'static [&'static str]),
    /// A whole number from 1, or one of these words, whose value is [`COUNT_END`] plus the index.
    CountOr(&'static [&'static str]),
}

/// Numbers that users give are below this.
pub const COUNT_END: u64 = 1 << 48;

/// The value of a parameter that is not given.
#[derive(Clone, Copy, Debug)]
pub enum DefaultValue {
    /// This number (or index of a choice).
    Fixed(u64),
    /// The number of references that the traced run made in this many milliseconds, or the second
    /// number if the trace has no running time.
    Milliseconds(u64, u64),
}

/// Why a policy is rejected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyError {
    /// No such policy.
    #[error("unknown policy {name:?}: expected one of {known}")]
    Unknown {
        /// The given text.
        name: String,
        /// The known names.
        known: String,
    },
    /// A parameter that cannot be read.
    #[error("policy {spec:?}: {problem}")]
    Parameter {
        /// The given text.
        spec: String,
        /// The problem, and what is expected.
        problem: String,
    },
    /// The policy and the machine are incompatible.
    #[error("policy {policy} cannot run on a machine {machine}: {remedy}")]
    Machine {
        /// The policy.
        policy: Cow<'static, str>,
        /// What the machine has or lacks.
        machine: &'static str,
        /// What to do.
        remedy: &'static str,
    },
}

/// The value of every parameter of an entry, in the entry's order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ParamValues(Vec<u64>);

impl ParamValues {
    /// These values, in the order of the entry's parameters.
    pub fn new(values: impl IntoIterator<Item = u64>) -> Self {
        Self(values.into_iter().collect())
    }

    /// Value of the parameter with this position in the entry.
    ///
    /// # Panics
    /// When there are fewer parameters.
    #[must_use]
    pub fn get(&self, position: usize) -> u64 {
        self.0[position]
    }
}

/// A policy with its parameters: one of a table, or one whose factory is given.
#[derive(Clone, Debug)]
pub struct PolicySpec {
    /// As the user wrote it; the name of a policy whose factory is given.
    pub text: String,
    /// What makes its instances.
    pub factory: Arc<dyn PolicyFactory>,
}

impl From<Arc<dyn PolicyFactory>> for PolicySpec {
    fn from(factory: Arc<dyn PolicyFactory>) -> Self {
        Self { text: factory.name().to_owned(), factory }
    }
}

impl PolicySpec {
    /// Reads a policy, looking its name up in several tables.
    ///
    /// # Errors
    /// When the name or a parameter is unknown, or a value is out of range. The message lists the
    /// valid ones.
    pub fn parse(text: &str, tables: &[&'static [Entry]]) -> Result<Self, PolicyError> {
        let (name, parameters) = text.split_once(':').unwrap_or((text, ""));
        let mut entries = tables.iter().flat_map(|table| table.iter());
        let Some(entry) = entries.find(|e| e.name == name) else {
            let all = tables.iter().flat_map(|table| table.iter());
            let known: Vec<&str> = all.map(|e| e.name).collect();
            return Err(PolicyError::Unknown { name: name.to_owned(), known: known.join(", ") });
        };
        let mut given = vec![None; entry.params.len()];
        for item in parameters.split(',').filter(|_| text.contains(':')) {
            let problem = |problem| PolicyError::Parameter { spec: text.to_owned(), problem };
            let (position, value) = parameter(entry, item).map_err(problem)?;
            if given[position].replace(value).is_some() {
                return Err(problem(format!("{} is given twice", entry.params[position].name)));
            }
        }
        Ok(Self { text: text.to_owned(), factory: Arc::new(ListedPolicy { entry, given }) })
    }

    /// Name of the policy, without parameters.
    #[must_use]
    pub fn name(&self) -> &str {
        self.factory.name()
    }

    /// The value of every parameter in this environment.
    #[must_use]
    pub fn values(&self, setup: &PlacementSetup) -> ParamValues {
        self.factory.values(setup)
    }

    /// Names and values of all parameters in this environment, as a user would write them.
    #[must_use]
    pub fn resolved(&self, setup: &PlacementSetup) -> Vec<(&'static str, String)> {
        let values = self.values(setup).0;
        self.factory.params().iter().zip(values).map(|(p, v)| (p.name, p.kind.text(v))).collect()
    }

    /// Checks that the policy can run on the machine.
    ///
    /// # Errors
    /// When it cannot, with a remedy.
    pub fn check(&self, setup: &PlacementSetup) -> Result<(), PolicyError> {
        let fail = |machine, remedy| {
            Err(PolicyError::Machine { policy: self.name().to_owned().into(), machine, remedy })
        };
        match (setup.model, self.factory.runs_on().has(setup.model)) {
            (PriceModel::PageCoherence, false) => fail(
                "of the page-coherence model",
                "it prices remote reads and writes differently and moves at a write not at all, \
                 so r and R cannot be derived; choose upt, inv, their variants, all-local, \
                 all-remote, first-touch, round-robin or random with --policy, or a --machine with \
                 r and R",
            ),
            (PriceModel::Placement, false) => fail(
                "with prices r and R",
                "these do not price what it does; choose markatos or another machine with \
                 latencies (--machine), or inv, inv.freez, inv.del or inv.freez.del, which run \
                 on all (--policy)",
            ),
            (_, true) if self.factory.needs_global() && !setup.global => fail(
                "without global memory",
                "choose a --machine with prices g and G, or another --policy",
            ),
            (_, true) => Ok(()),
        }
    }

    /// An instance for this environment.
    ///
    /// # Errors
    /// When policy and machine are incompatible.
    pub fn build(&self, setup: &PlacementSetup) -> Result<Box<dyn Policy>, PolicyError> {
        self.check(setup)?;
        self.factory.build(setup)
    }
}

/// Position and value of `name=value`.
fn parameter(entry: &Entry, item: &str) -> Result<(usize, u64), String> {
    let names: Vec<&str> = entry.params.iter().map(|p| p.name).collect();
    let expected = match names.as_slice() {
        [] => "this policy has no parameters".to_owned(),
        names => format!("its parameters are {}", names.join(", ")),
    };
    let Some((name, value)) = item.split_once('=') else {
        return Err(format!("expected parameter=value, found {item:?}; {expected}"));
    };
    let Some(position) = names.iter().position(|&n| n == name) else {
        return Err(format!("unknown parameter {name:?}; {expected}"));
    };
    let value = entry.params[position].kind.read(value);
    value.map(|v| (position, v)).map_err(|expected| format!("{item}: expected {expected}"))
}

impl ParamKind {
    fn read(self, text: &str) -> Result<u64, String> {
        let number = |min| text.parse().ok().filter(|&n: &u64| n >= min && n < COUNT_END);
        let index = |words: &[&str]| {
            let index = words.iter().position(|&w| w == text);
            index.and_then(|i| u64::try_from(i).ok())
        };
        let last = COUNT_END - 1;
        match self {
            Self::Count { min } => {
                number(min).ok_or_else(|| format!("a whole number from {min} to {last}"))
            }
            Self::Choice(words) => index(words).ok_or_else(|| words.join(" or ")),
            Self::CountOr(words) => {
                let word = index(words).map(|i| COUNT_END + i);
                word.or(number(1)).ok_or_else(|| {
                    format!("{}, or a whole number from 1 to {last}", words.join(", "))
                })
            }
        }
    }

    /// A value as a user would write it.
    #[must_use]
    pub fn text(self, value: u64) -> String {
        let word = |words: &[&'static str], i: u64| {
            usize::try_from(i).ok().and_then(|i| words.get(i)).map(|&w| w.to_owned())
        };
        match self {
            Self::Choice(words) => word(words, value).unwrap_or_default(),
            Self::CountOr(words) if value >= COUNT_END => {
                word(words, value - COUNT_END).unwrap_or_default()
            }
            Self::Count { .. } | Self::CountOr(_) => value.to_string(),
        }
    }
}
