//! The counts of a placement policy over a trace.

use std::ops::AddAssign;

use serde::Serialize;

/// Name, unit and meaning of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Metric {
    /// Name of the field in the counts, such as [`Tally`], and key in results.
    pub name: &'static str,
    /// Unit: what one of them is.
    pub unit: &'static str,
    /// Exact definition.
    pub definition: &'static str,
}

/// Generates the struct, its sum and its descriptions from one list, so that they cannot differ.
macro_rules! tally {
    ($($name:ident, $unit:literal, $definition:literal;)*) => {
        /// Counts of the placement engine. P_t is the set of places that hold the block when
        /// reference t is made (Bolosky §4.1.3); "copy" without an adjective is a processor's.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
        pub struct Tally {
            $(#[doc = $definition] pub $name: u64,)*
        }

        /// Every counter, in the order of results.
        pub const METRICS: &[Metric] = &[
            $(Metric { name: stringify!($name), unit: $unit, definition: $definition },)*
        ];

        impl AddAssign<&Tally> for Tally {
            fn add_assign(&mut self, other: &Tally) {
                $(self.$name += other.$name;)*
            }
        }
    };
}

tally! {
    local_reads, "references",
        "Reads by a processor in P_t (equation 4.1, price 1), without `replicating_reads`.";
    local_writes, "references", "Writes and atomics by a processor in P_t (price 1).";
    remote_reads, "references", "Reads by a processor outside P_t, no global copy (price r).";
    remote_writes, "references", "Writes by a processor outside P_t, no global copy (price r).";
    global_reads, "references", "Reads by a processor outside P_t, with a global copy (price g).";
    global_writes, "references", "Writes by a processor outside P_t, to global memory (price g).";
    remote_moves, "moves",
        "Places added to P, global memory neither in P_t nor in P_t-1 (equation 4.2, price R).";
    global_moves, "moves",
        "Places added to P, global memory in P_t or P_t-1 (equation 4.2, price G).";
    replications, "copies",
        "Processor copies added by a read while another copy, global or not, stays.";
    update_packets, "packets",
        "Words sent to update copies, one for each copy but the one the write itself goes to.";
    multicast_writes, "references", "Writes that send at least one update packet.";
    invalidations, "references",
        "Writes after which at least one processor other than the writer has lost its copy.";
    faults, "events",
        "References at which the policy acts: P changes, or the block is pinned or frozen. Under a \
         page-coherence policy: entries into the operating system that its accounting charges.";
    freezes, "events", "Decisions to pin or freeze a block.";
    replicating_reads, "references",
        "Reads that make the copy they read, under a page-coherence policy (price 1 where r and R \
         price; on a page-coherence machine only the replication is charged).";
    forwarded_writes, "references",
        "The `remote_writes` under an update policy: the latency stands in the multicast column.";
}

impl Tally {
    /// All references: local, remote, global, and those charged as a replication.
    #[must_use]
    pub fn accesses(&self) -> u64 {
        let elsewhere = self.remote_references() + self.global_references();
        self.local_references() + elsewhere + self.replicating_reads
    }

    /// Reads and writes at price 1, without those that replicate.
    #[must_use]
    pub fn local_references(&self) -> u64 {
        self.local_reads + self.local_writes
    }

    /// Reads and writes at price r.
    #[must_use]
    pub fn remote_references(&self) -> u64 {
        self.remote_reads + self.remote_writes
    }

    /// Reads and writes at price g.
    #[must_use]
    pub fn global_references(&self) -> u64 {
        self.global_reads + self.global_writes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_every_counter() {
        let one = Tally {
            local_reads: 1,
            remote_writes: 2,
            global_reads: 4,
            freezes: 8,
            ..Tally::default()
        };
        let mut sum = one;
        sum += &one;
        assert_eq!((sum.local_reads, sum.freezes, sum.accesses()), (2, 16, 14));
    }

    /// The names are a public contract (results of `simulate`).
    #[test]
    fn names_are_those_of_the_contract() {
        let names: Vec<&str> = METRICS.iter().map(|m| m.name).collect();
        let expected = "local_reads local_writes remote_reads remote_writes global_reads \
            global_writes remote_moves global_moves replications update_packets multicast_writes \
            invalidations faults freezes replicating_reads forwarded_writes";
        assert_eq!(names.join(" "), expected.split_whitespace().collect::<Vec<_>>().join(" "));
    }
}
