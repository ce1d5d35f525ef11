//! What a page-coherence machine charges: latencies of events and the packets they send.

use std::fmt;

use serde::ser::{Serialize, SerializeMap, Serializer};

use crate::decimal::{Decimal, ONE};
use crate::prices::{Prices, SCALED_MAX, Scaled, decimal_value};

/// How a machine prices what a policy does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// By reference and move: r, R, g, G of Bolosky §4.1.1.
    #[default]
    Placement,
    /// By event of a page-coherence policy: Markatos and Chronaki, table 1.
    PageCoherence,
}

/// Names of the latencies in a machine file, in the order of [`EventPrices::latencies`].
pub(crate) const LATENCIES: [&str; 6] =
    ["local", "remote_read", "remote_write", "replication", "update_packet", "os_entry"];

/// Names of the packet counts in a machine file, in the order of [`EventPrices::packets`].
pub(crate) const PACKETS: [&str; 3] = ["remote_read", "remote_write", "replication"];

/// Latencies in cycles times [`EventPrices::scale`], and network packets.
///
/// Source: Markatos and Chronaki, table 1, and their appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventPrices {
    /// Steps in a cycle: the power of ten, at most 10^6, that makes all latencies whole.
    pub scale: u64,
    /// A reference to a copy of one's own; not 0.
    pub local: u64,
    /// A read of another processor's copy.
    pub remote_read: u64,
    /// A write to another processor's copy.
    pub remote_write: u64,
    /// Copying a page, without the operating system's part.
    pub replication: u64,
    /// Sending one word to one other copy.
    pub update_packet: u64,
    /// Entering the operating system.
    pub os_entry: u64,
    /// Packets of a remote read.
    pub remote_read_packets: u64,
    /// Packets of a remote write.
    pub remote_write_packets: u64,
    /// Packets of a replication.
    pub replication_packets: u64,
}

impl EventPrices {
    /// Scales latencies by the smallest power of ten that makes all of them whole.
    pub(crate) fn new(latencies: [Decimal; 6], packets: [Decimal; 3]) -> Result<Self, String> {
        let mut divisor = ONE;
        while divisor > 1 && latencies.iter().any(|l| l.millionths() % divisor != 0) {
            divisor /= 10;
        }
        let steps = latencies.map(|l| l.millionths() / divisor);
        if steps.iter().any(|&l| l > SCALED_MAX) {
            return Err(format!("a latency exceeds {SCALED_MAX} steps of 1/{}", ONE / divisor));
        }
        if packets.iter().any(|p| p.millionths() % ONE != 0) {
            return Err("a number of packets is not whole".to_owned());
        }
        let [local, remote_read, remote_write, replication, update_packet, os_entry] = steps;
        if local == 0 {
            return Err(
                "a local reference takes no time, so nothing can be compared with it".into()
            );
        }
        let [read_packets, write_packets, copy_packets] = packets.map(|p| p.millionths() / ONE);
        Ok(Self {
            scale: ONE / divisor,
            local,
            remote_read,
            remote_write,
            replication,
            update_packet,
            os_entry,
            remote_read_packets: read_packets,
            remote_write_packets: write_packets,
            replication_packets: copy_packets,
        })
    }

    /// Every latency with its name in machine files, in steps of 1/[`scale`](Self::scale) cycle.
    #[must_use]
    pub fn latencies(&self) -> [(&'static str, u64); 6] {
        let values = [
            self.local,
            self.remote_read,
            self.remote_write,
            self.replication,
            self.update_packet,
            self.os_entry,
        ];
        std::array::from_fn(|i| (LATENCIES[i], values[i]))
    }

    /// Every number of packets with its name in machine files.
    #[must_use]
    pub fn packets(&self) -> [(&'static str, u64); 3] {
        let values =
            [self.remote_read_packets, self.remote_write_packets, self.replication_packets];
        std::array::from_fn(|i| (PACKETS[i], values[i]))
    }
}

impl fmt::Display for EventPrices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, latency)) in self.latencies().into_iter().enumerate() {
            let comma = if i == 0 { "" } else { "," };
            write!(f, "{comma}{name}={}", Scaled { price: Some(latency), scale: self.scale })?;
        }
        f.write_str(" cycles")
    }
}

/// What a machine charges at one block size, in whichever way it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PriceList {
    /// By reference and move.
    Placement(Prices),
    /// By event.
    PageCoherence(EventPrices),
}

impl PriceList {
    /// Which of the two.
    #[must_use]
    pub fn model(&self) -> Model {
        match self {
            Self::Placement(_) => Model::Placement,
            Self::PageCoherence(_) => Model::PageCoherence,
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

/// r, R, g and G, which are `null` on a page-coherence machine; that one has `latencies` in cycles
/// and `packets` besides.
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
        map.serialize_entry("latencies", &Cycles(events))?;
        let packets: std::collections::BTreeMap<_, _> = events.packets().into_iter().collect();
        map.serialize_entry("packets", &packets)?;
        map.end()
    }
}

/// Latencies as a map from name to cycles.
struct Cycles<'a>(&'a EventPrices);

impl Serialize for Cycles<'_> {
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
