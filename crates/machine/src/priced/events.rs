//! Prices of a page-coherence machine: latencies of events, and the packets that they send.

use std::fmt;

use crate::decimal::{Decimal, ONE};
use crate::prices::{SCALED_MAX, Scaled};

/// Names of the latencies in a machine file, in the order of [`EventPrices::latencies`].
pub(super) const LATENCIES: [&str; 6] =
    ["local", "remote_read", "remote_write", "replication", "update_packet", "os_entry"];

/// Names of the packet counts in a machine file, in the order of [`EventPrices::packets`].
pub(super) const PACKETS: [&str; 3] = ["remote_read", "remote_write", "replication"];

/// Latencies in cycles times [`EventPrices::scale`], and network packets.
///
/// Source: Markatos and Chronaki, table 1, and their appendix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct EventPrices {
    /// Steps in a cycle: the power of ten, at most 10^6, that makes all latencies integers.
    pub scale: u64,
    /// A reference to the processor's own copy; not 0.
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
    /// Scales latencies by the smallest power of ten that makes all of them integers.
    pub(super) fn new(latencies: [Decimal; 6], packets: [Decimal; 3]) -> Result<Self, String> {
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
