//! The slow oracle of the page-coherence policies: reference by reference, as the text of Markatos
//! and Chronaki and the notes on it say, with the numbers of table 1 written out.

use std::collections::{BTreeMap, BTreeSet};

use homenode_placement::Tally;

#[derive(Clone, Copy, Debug)]
pub struct Reference {
    pub time: u64,
    pub processor: u16,
    pub write: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct Policy {
    pub update: bool,
    /// f and d.
    pub freeze: Option<(u64, u64)>,
    /// Whether any write counts as an invalidation.
    pub by_writes: bool,
    /// Where a counter starts, and whether it counts writes.
    pub counter: Option<(u64, bool)>,
    pub charge_mappings: bool,
}

/// Cycles by column of the tables, and packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Bill {
    pub local: u128,
    pub remote: u128,
    pub replication: u128,
    pub multicast: u128,
    pub os: u128,
    pub replication_packets: u128,
    pub remote_packets: u128,
    pub multicast_packets: u128,
}

pub struct Page {
    policy: Policy,
    words: u128,
    home: u16,
    copies: BTreeSet<u16>,
    /// Time of the last write that removed copies.
    removed: Option<u64>,
    frozen_until: Option<u64>,
    /// Processors that have the block mapped remotely, with what is left of their counters.
    mapped: BTreeMap<u16, u64>,
    pub tally: Tally,
    pub bill: Bill,
}

impl Page {
    pub fn new(policy: Policy, words: u128, first_toucher: u16) -> Self {
        Self {
            policy,
            words,
            home: first_toucher,
            copies: BTreeSet::from([first_toucher]),
            removed: None,
            frozen_until: None,
            mapped: BTreeMap::new(),
            tally: Tally::default(),
            bill: Bill::default(),
        }
    }

    pub fn access(&mut self, r: Reference) {
        if self.frozen_until.is_some_and(|end| r.time >= end) {
            self.frozen_until = None;
            // Without a counter only a page fault can make a copy, so mappings must go.
            if self.policy.counter.is_none() {
                self.mapped.clear();
            }
        }
        let has_copy = self.copies.contains(&r.processor);
        match (has_copy, r.write) {
            (true, false) => {
                self.tally.local_reads += 1;
                self.bill.local += 5;
            }
            (true, true) => {
                self.tally.local_writes += 1;
                self.bill.local += 5;
                self.written(r);
            }
            (false, _) => self.without_copy(r),
        }
    }

    fn without_copy(&mut self, r: Reference) {
        let frozen = self.frozen_until.is_some();
        let Some((start, count_writes)) = self.policy.counter else {
            if r.write || frozen {
                self.map(r.processor, 0);
                return self.remote(r);
            }
            if self.recently_removed(r.time) {
                self.freeze(r);
                self.mapped.insert(r.processor, 0);
                return self.remote(r);
            }
            self.tally.replicating_reads += 1;
            return self.replicate(r.processor, 1);
        };
        self.map(r.processor, start);
        if frozen || r.write && !count_writes {
            return self.remote(r);
        }
        let left = self.mapped.get_mut(&r.processor).unwrap();
        *left -= 1;
        if *left > 0 {
            return self.remote(r);
        }
        // The counter has come to 0. A write is made where the block is; then comes the interrupt.
        if r.write {
            self.remote(r);
        }
        if self.recently_removed(r.time) {
            self.freeze(r);
            self.mapped.insert(r.processor, start);
            if !r.write {
                self.remote(r);
            }
            return;
        }
        self.tally.replicating_reads += u64::from(!r.write);
        // Mapping fault and counter interrupt; the former may have been charged already.
        self.replicate(r.processor, if self.policy.charge_mappings { 1 } else { 2 });
    }

    fn recently_removed(&self, now: u64) -> bool {
        self.policy.freeze.is_some_and(|(f, _)| self.removed.is_some_and(|then| now - then <= f))
    }

    fn freeze(&mut self, r: Reference) {
        let (_, d) = self.policy.freeze.unwrap();
        // The first multiple of d after this reference.
        self.frozen_until = (1..).map(|k| k * d).find(|&multiple| multiple > r.time);
        self.tally.freezes += 1;
        self.enter_os(u64::from(self.policy.charge_mappings));
    }

    fn map(&mut self, q: u16, start: u64) {
        if self.mapped.contains_key(&q) {
            return;
        }
        self.mapped.insert(q, start);
        self.enter_os(u64::from(self.policy.charge_mappings));
    }

    fn enter_os(&mut self, times: u64) {
        self.tally.faults += times;
        self.bill.os += 500 * u128::from(times);
    }

    fn replicate(&mut self, q: u16, os_entries: u64) {
        self.tally.replications += 1;
        self.tally.remote_moves += 1;
        self.bill.replication += 90 + 4 * self.words;
        self.bill.replication_packets += self.words;
        self.enter_os(os_entries);
        self.copies.insert(q);
        self.mapped.remove(&q);
    }

    fn remote(&mut self, r: Reference) {
        self.bill.remote_packets += 1;
        if !r.write {
            self.tally.remote_reads += 1;
            self.bill.remote += 100;
            return;
        }
        self.tally.remote_writes += 1;
        if self.policy.update {
            self.tally.forwarded_writes += 1;
            self.bill.multicast += 10;
        } else {
            self.bill.remote += 10;
        }
        self.written(r);
    }

    /// What a write does to copies other than the one it is made in.
    fn written(&mut self, r: Reference) {
        if self.policy.by_writes {
            self.removed = Some(r.time);
        }
        let holder = self.copies.contains(&r.processor);
        let made_in = if holder { r.processor } else { self.home };
        let others = self.copies.iter().filter(|&&p| p != made_in).count();
        if others == 0 {
            return;
        }
        if self.policy.update {
            self.tally.multicast_writes += 1;
            for _ in 0..others {
                self.tally.update_packets += 1;
                self.bill.multicast += 10;
                self.bill.multicast_packets += 1;
            }
            return;
        }
        self.tally.invalidations += 1;
        self.removed = Some(r.time);
        self.copies = BTreeSet::from([made_in]);
        if made_in != self.home {
            self.home = made_in;
            self.mapped.clear();
        }
    }
}
