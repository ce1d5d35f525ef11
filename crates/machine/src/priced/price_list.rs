//! The prices of a machine at one block size: of references and moves, or of events.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use super::events::{EventPrices, LATENCIES};
use crate::prices::{Prices, decimal_value};

/// What the prices of a machine are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum PriceModel {
    /// By reference and move: r, R, g, G of Bolosky §4.1.1.
    #[default]
    Placement,
    /// By event of a page-coherence policy: Markatos and Chronaki, table 1.
    PageCoherence,
}

/// The prices of a machine at one block size, in either price model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PriceList {
    /// By reference and move.
    Placement(Prices),
    /// By event.
    PageCoherence(EventPrices),
}

impl PriceList {
    /// The price model of the list.
    #[must_use]
    pub fn model(&self) -> PriceModel {
        match self {
            Self::Placement(_) => PriceModel::Placement,
            Self::PageCoherence(_) => PriceModel::PageCoherence,
        }
    }

    /// Steps in the cost of one local reference.
    #[must_use]
    pub fn local(&self) -> u64 {
        match self {
            Self::Placement(prices) => prices.scale,
            Self::PageCoherence(events) => events.local,
        }
    }

    /// Whether the machine has a memory that belongs to no processor.
    #[must_use]
    pub fn has_global(&self) -> bool {
        self.placement().is_some_and(|prices| prices.has_global())
    }

    /// The prices r, R, g, G, if the machine has them.
    #[must_use]
    pub fn placement(&self) -> Option<Prices> {
        match self {
            Self::Placement(prices) => Some(*prices),
            Self::PageCoherence(_) => None,
        }
    }

    /// The prices of events, if the machine has them.
    #[must_use]
    pub fn events(&self) -> Option<&EventPrices> {
        match self {
            Self::Placement(_) => None,
            Self::PageCoherence(events) => Some(events),
        }
    }
}

impl From<Prices> for PriceList {
    fn from(prices: Prices) -> Self {
        Self::Placement(prices)
    }
}

impl fmt::Display for PriceList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Placement(prices) => prices.fmt(f),
            Self::PageCoherence(events) => events.fmt(f),
        }
    }
}

/// r, R, g and G, which are `null` on a page-coherence machine; that has `latencies` in cycles and
/// `packets` as well.
impl Serialize for PriceList {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let events = match self {
            Self::Placement(prices) => return prices.serialize(serializer),
            Self::PageCoherence(events) => events,
        };
        let mut map = serializer.serialize_map(Some(6))?;
        for name in ["r", "R", "g", "G"] {
            map.serialize_entry(name, &None::<u64>)?;
        }
        map.serialize_entry("latencies", &LatencyCycles(events))?;
        let packets: std::collections::BTreeMap<_, _> = events.packets().into_iter().collect();
        map.serialize_entry("packets", &packets)?;
        map.end()
    }
}

/// Latencies as a map from name to cycles.
struct LatencyCycles<'a>(&'a EventPrices);

impl Serialize for LatencyCycles<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(LATENCIES.len()))?;
        let scale = self.0.scale;
        for (name, steps) in self.0.latencies() {
            if steps % scale == 0 {
                map.serialize_entry(name, &(steps / scale))?;
            } else {
                map.serialize_entry(name, &decimal_value(steps, scale))?;
            }
        }
        map.end()
    }
}
