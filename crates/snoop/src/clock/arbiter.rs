//! The bus: who gets it next, for how long, and what a transaction takes.

use std::collections::VecDeque;

use homenode_machine::{Arbitration, BusCycles, BusModel};

use crate::counts::Transactions;
use crate::setup::SetupError;

/// For whom a transaction is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Port {
    /// A load in this miss slot.
    Load(u8),
    /// The store at the head of the buffer.
    Store,
    /// A reference that its processor waits for.
    Wait,
}

/// Somebody asks for the bus.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ask {
    pub(super) processor: usize,
    pub(super) port: Port,
    pub(super) block: u64,
    /// Cycles for which memory needs it to answer; a new transaction otherwise.
    pub(super) answer: Option<u64>,
}

/// Sorts of blocks: few ask about a block of the same sort at a time.
const ABOUT: usize = 256;

fn sort(block: u64) -> usize {
    usize::try_from(block % ABOUT as u64).unwrap_or(0)
}

/// The bus.
pub(super) struct Arbiter {
    policy: Arbitration,
    processors: usize,
    /// Who asks, in order, and whether the bus can go there.
    asking: VecDeque<(Ask, bool)>,
    /// How many of them it can go to.
    able: usize,
    /// How many of them ask for a new transaction, by some bits of the block.
    about: [u16; ABOUT],
    /// Blocks that memory has been asked for and has not sent: nobody else can ask about them.
    expected: Vec<u64>,
    /// The processor after the one that was served last.
    turn: usize,
    pub(super) free_at: u64,
    pub(super) busy: u64,
}

impl Arbiter {
    pub(super) fn new(policy: Arbitration, processors: usize) -> Self {
        Self {
            policy,
            processors,
            asking: VecDeque::new(),
            able: 0,
            about: [0; ABOUT],
            expected: Vec::new(),
            turn: 0,
            free_at: 0,
            busy: 0,
        }
    }

    pub(super) fn ask(&mut self, ask: Ask) {
        let able = ask.answer.is_some() || !self.expected.contains(&ask.block);
        self.able += usize::from(able);
        self.about[sort(ask.block)] += u16::from(ask.answer.is_none());
        self.asking.push_back((ask, able));
    }

    /// When the next of those who ask can have the bus, at `now` or later.
    #[inline]
    pub(super) fn next_grant(&self, now: u64) -> Option<u64> {
        (self.able > 0).then_some(self.free_at.max(now))
    }

    /// Memory is to send the block.
    pub(super) fn expect(&mut self, block: u64) {
        self.expected.push(block);
        self.change(block, false);
    }

    /// The bus can go to those who ask about a block, or cannot.
    fn change(&mut self, block: u64, can: bool) {
        if self.about[sort(block)] == 0 {
            return;
        }
        for (ask, able) in &mut self.asking {
            if ask.block == block && ask.answer.is_none() && *able != can {
                *able = can;
                if can { self.able += 1 } else { self.able -= 1 }
            }
        }
    }

    /// Who gets the bus, if it is free and anybody asks.
    #[inline]
    pub(super) fn grant(&mut self, now: u64) -> Option<Ask> {
        if self.free_at > now || self.able == 0 {
            return None;
        }
        let distance = |ask: &Ask| (ask.processor + self.processors - self.turn) % self.processors;
        let mut able = (0..self.asking.len()).filter(|&i| self.asking[i].1);
        let next = match self.policy {
            Arbitration::Fifo => able.next(),
            Arbitration::RoundRobin => able.min_by_key(|&i| distance(&self.asking[i].0)),
        };
        let (ask, _) = self.asking.remove(next?)?;
        self.able -= 1;
        if ask.answer.is_some() {
            if let Some(at) = self.expected.iter().position(|&block| block == ask.block) {
                self.expected.swap_remove(at);
            }
            self.change(ask.block, true);
        } else {
            self.about[sort(ask.block)] -= 1;
        }
        self.turn = (ask.processor + 1) % self.processors;
        Some(ask)
    }

    pub(super) fn hold(&mut self, now: u64, cycles: u64) {
        self.free_at = now + cycles;
        self.busy += cycles;
    }
}

/// What a reference takes on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Bill {
    /// Cycles for which the bus is held at once.
    pub(super) hold: u64,
    /// When what was asked for is there, if memory does not have to answer first.
    pub(super) ready: u64,
    /// When memory asks for the bus, and for how long.
    pub(super) answer: Option<(u64, u64)>,
}

/// Prices of transactions on one bus at one block size.
#[derive(Clone, Copy, Debug)]
pub(super) struct Prices {
    cycles: BusCycles,
    split: bool,
    request: u64,
    wait: u64,
}

impl Prices {
    pub(super) fn new(cycles: BusCycles, bus: &BusModel) -> Result<Self, SetupError> {
        let prices = Self {
            cycles,
            split: bus.split_transactions,
            request: bus.request_cycles,
            wait: bus.wait_cycles,
        };
        let memory = cycles.read_block_memory.min(cycles.read_invalidate_memory);
        let parts = bus.request_cycles.saturating_add(bus.wait_cycles);
        if prices.split && memory < parts {
            return Err(SetupError::Split { memory, parts });
        }
        Ok(prices)
    }

    /// What these transactions take: a fetch and its coherence transaction, then the block that
    /// gave way. Where memory answers later, the block that gave way goes while it looks.
    pub(super) fn bill(&self, made: &Transactions) -> Bill {
        let all = made.cycles(&self.cycles);
        let written_back = made.update_block * self.cycles.update_block;
        if !self.split || made.read_block_memory + made.read_invalidate_memory == 0 {
            return Bill { hold: all, ready: all - written_back, answer: None };
        }
        let due = self.request + self.wait;
        let answer = Some((due, all - written_back - due));
        Bill { hold: self.request + written_back, ready: 0, answer }
    }
}
