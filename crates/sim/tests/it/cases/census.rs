//! Facts about a trace without any engine: its references, and the blocks they touch.

use homenode_base::{Access, AccessKind, BlockSize, Flags};

use serde::Serialize;

use crate::cases::corpus::Case;

#[derive(Clone, Copy)]
pub struct Counted {
    /// Those flagged private.
    pub private: bool,
    /// Those flagged as synchronisation.
    pub synchronisation: bool,
    /// Instruction fetches.
    pub fetches: bool,
}

impl Counted {
    /// Shared data, which all engines count in the same way.
    pub const SHARED_DATA: Self = Self { private: false, synchronisation: false, fetches: false };

    pub fn asked<C: Serialize>(config: &C, fetches: bool) -> Result<Self, String> {
        let config = serde_json::to_value(config).map_err(|e| e.to_string())?;
        Ok(Self {
            private: config["private"] != "exclude",
            synchronisation: config["sync"] == "include",
            fetches: fetches && config["fetches"] != "exclude",
        })
    }

    fn counts(self, access: &Access) -> bool {
        (self.private || !access.flags.contains(Flags::PRIVATE))
            && (self.synchronisation || !access.flags.contains(Flags::SYNC))
            && (self.fetches || access.kind != AccessKind::Fetch)
    }

    pub fn of(self, case: &Case) -> impl Iterator<Item = &Access> {
        case.accesses.iter().filter(move |access| self.counts(access))
    }

    pub fn references(self, case: &Case) -> u64 {
        self.of(case).count() as u64
    }

    /// The references that processes owe if they restart: of each as many as they have on average
    /// at most.
    pub fn owed(self, case: &Case) -> u64 {
        let mut own = std::collections::BTreeMap::<u16, u64>::new();
        self.of(case).for_each(|access| *own.entry(access.thread).or_default() += 1);
        let average = own.values().sum::<u64>().div_ceil(own.len().max(1) as u64);
        own.values().map(|&own| own.min(average)).sum()
    }

    pub fn touched(self, case: &Case, block: u64, processors: u16) -> Vec<(u16, u64, bool)> {
        let size = BlockSize::new(block).expect("the size of a block");
        let touch = |access: &Access| {
            let by = (access.thread % processors, access.kind.writes());
            size.blocks_touched(access.addr, access.size).map(move |block| (by.0, block, by.1))
        };
        self.of(case).flat_map(touch).collect()
    }

    pub fn histories(self, case: &Case, block: u64, processors: u16) -> Vec<Vec<(u16, bool)>> {
        let mut blocks = std::collections::BTreeMap::<u64, Vec<(u16, bool)>>::new();
        for (processor, number, write) in self.touched(case, block, processors) {
            blocks.entry(number).or_default().push((processor, write));
        }
        blocks.into_values().collect()
    }
}

pub fn blocks(case: &Case, block: u64) -> u64 {
    let all = Counted { private: true, synchronisation: true, fetches: true };
    let mut numbers: Vec<u64> =
        all.touched(case, block, 1).into_iter().map(|(_, number, _)| number).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}
