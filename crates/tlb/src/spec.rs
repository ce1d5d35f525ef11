//! TLBs as users write them: `ace`, `r4000:cost=12`, `entries=64,ways=4,paired=no`.

use crate::design::{TABLE, TlbGeometry};

/// Most entries a TLB may have. A set is searched entry by entry, so larger fully associative TLBs
/// would be too slow to be of use.
pub const ENTRIES_MAX: u32 = 1 << 16;

/// Why a text does not describe a TLB.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TlbError {
    /// No such design.
    #[error(
        "unknown TLB {name:?}: expected one of {known}, or its parameters as in \
         entries=64,ways=4,paired=no"
    )]
    Unknown {
        /// The given text.
        name: String,
        /// The known names.
        known: String,
    },
    /// A parameter that cannot be read, or a TLB that cannot be built.
    #[error("TLB {spec:?}: {problem}")]
    Parameter {
        /// The given text.
        spec: String,
        /// The problem, and what is expected.
        problem: String,
    },
}

/// A TLB with its name.
#[derive(Clone, Debug, PartialEq)]
pub struct TlbSpec {
    /// As the user wrote it.
    pub text: String,
    /// How its entries are arranged.
    pub geometry: TlbGeometry,
    /// The cost of a miss in local references, if the user or the design gives it.
    pub miss_cost: Option<f64>,
}

const PARAMETERS: &str = "the parameters are entries, ways, paired and cost";

impl TlbSpec {
    /// Reads lists of TLBs separated by commas. `name=value` belongs to the TLB before it, except
    /// that `entries=` begins a new one.
    ///
    /// # Errors
    /// When a name or a parameter is unknown, or the entries cannot be arranged that way.
    ///
    /// ```
    /// use homenode_tlb::TlbSpec;
    /// let tlbs = TlbSpec::parse_list(&["ace,r4000:cost=12,entries=64,ways=4"])?;
    /// let texts: Vec<&str> = tlbs.iter().map(|t| t.text.as_str()).collect();
    /// assert_eq!(texts, ["ace", "r4000:cost=12", "entries=64,ways=4"]);
    /// # Ok::<(), homenode_tlb::TlbError>(())
    /// ```
    pub fn parse_list<S: AsRef<str>>(lists: &[S]) -> Result<Vec<Self>, TlbError> {
        let mut texts: Vec<String> = Vec::new();
        for list in lists {
            let mut first = true;
            for part in list.as_ref().split(',').map(str::trim) {
                let parameter = part.contains('=') && !part.contains(':');
                let before = texts.last_mut().filter(|text| {
                    let takes = text.contains(':') || text.contains('=');
                    parameter && !first && takes && !part.starts_with("entries=")
                });
                match before {
                    Some(text) => {
                        text.push(',');
                        text.push_str(part);
                    }
                    None => texts.push(part.to_owned()),
                }
                first = false;
            }
        }
        let mut specs: Vec<Self> = Vec::new();
        for text in texts {
            if specs.iter().all(|spec| spec.text != text) {
                specs.push(Self::parse(&text)?);
            }
        }
        Ok(specs)
    }

    /// Reads one TLB.
    ///
    /// # Errors
    /// As [`TlbSpec::parse_list`].
    pub fn parse(text: &str) -> Result<Self, TlbError> {
        let fail = |problem| TlbError::Parameter { spec: text.to_owned(), problem };
        let (name, parameters) = match text.split_once(':') {
            Some((name, parameters)) => (name, parameters),
            None if text.contains('=') => ("", text),
            None => (text, ""),
        };
        let mut given = GivenParameters::default();
        for item in parameters.split(',').filter(|item| !(item.is_empty() && name == text)) {
            given.add(item).map_err(fail)?;
        }
        let entry = TABLE.iter().find(|entry| entry.name == name);
        let geometry = match entry {
            Some(entry) => entry.geometry,
            None if name.is_empty() && !text.is_empty() => {
                let entries = given.entries.ok_or_else(|| fail("entries is missing".to_owned()))?;
                TlbGeometry { entries, ways: entries, paired: false }
            }
            None => {
                let known: Vec<&str> = TABLE.iter().map(|entry| entry.name).collect();
                return Err(TlbError::Unknown { name: name.to_owned(), known: known.join(", ") });
            }
        };
        Ok(Self {
            text: text.to_owned(),
            geometry: given.geometry(geometry).map_err(fail)?,
            miss_cost: given.cost.or(entry.and_then(|entry| entry.miss_cost)),
        })
    }
}

#[derive(Default)]
struct GivenParameters {
    entries: Option<u32>,
    ways: Option<u32>,
    paired: Option<bool>,
    cost: Option<f64>,
}

impl GivenParameters {
    fn add(&mut self, item: &str) -> Result<(), String> {
        let Some((name, value)) = item.split_once('=') else {
            return Err(format!("expected parameter=value, found {item:?}; {PARAMETERS}"));
        };
        let wrong = |expected: &str| format!("{name}={value}: expected {expected}");
        let count = || {
            let number = value.parse().ok().filter(|n| (1..=ENTRIES_MAX).contains(n));
            number.ok_or_else(|| wrong(&format!("a whole number from 1 to {ENTRIES_MAX}")))
        };
        let twice = match name {
            "entries" => self.entries.replace(count()?).is_some(),
            "ways" => self.ways.replace(count()?).is_some(),
            "paired" => {
                let paired = match value {
                    "yes" => true,
                    "no" => false,
                    _ => return Err(wrong("yes or no")),
                };
                self.paired.replace(paired).is_some()
            }
            "cost" => {
                let number = value.parse().ok().filter(|c: &f64| c.is_finite() && *c >= 0.0);
                let number = number.ok_or_else(|| wrong("local references, at least 0"))?;
                self.cost.replace(number).is_some()
            }
            _ => return Err(format!("unknown parameter {name:?}; {PARAMETERS}")),
        };
        if twice { Err(format!("{name} is given twice")) } else { Ok(()) }
    }

    /// The design's geometry with the given parameters in place of its own, if it can be built.
    fn geometry(&self, base: TlbGeometry) -> Result<TlbGeometry, String> {
        let entries = self.entries.unwrap_or(base.entries);
        let full = base.ways == base.entries;
        let ways = self.ways.unwrap_or(if full { entries } else { base.ways });
        let geometry = TlbGeometry { entries, ways, paired: self.paired.unwrap_or(base.paired) };
        if !entries.is_multiple_of(ways) {
            return Err(format!("{entries} entries cannot be divided into sets of {ways}"));
        }
        if !geometry.sets().is_power_of_two() {
            let sets = geometry.sets();
            return Err(format!(
                "{entries} entries in sets of {ways} make {sets} sets; the lowest bits of the page \
                 number choose the set, so their number must be a power of two"
            ));
        }
        Ok(geometry)
    }
}
