//! The bus: who gets it next, for how long, and what a transaction takes.

use std::collections::VecDeque;

use homenode_machine::{Arbitration, Bus, BusCycles};

use crate::engine::{SetupError, Transactions};

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

/// The bus.
pub(super) struct Arbiter {
    policy: Arbitration,
    processors: usize,
    asking: VecDeque<Ask>,
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
            expected: Vec::new(),
            turn: 0,
            free_at: 0,
            busy: 0,
        }
    }

    pub(super) fn ask(&mut self, ask: Ask) {
        self.asking.push_back(ask);
    }

    /// When the next of those who ask can have the bus, at `now` or later.
    pub(super) fn next_grant(&self, now: u64) -> Option<u64> {
        self.asking.iter().any(|ask| self.can(ask)).then_some(self.free_at.max(now))
    }

    fn can(&self, ask: &Ask) -> bool {
        ask.answer.is_some() || !self.expected.contains(&ask.block)
    }

    /// Memory is to send the block.
    pub(super) fn expect(&mut self, block: u64) {
        self.expected.push(block);
    }

    /// Who gets the bus, if it is free and anybody asks.
    pub(super) fn grant(&mut self, now: u64) -> Option<Ask> {
        if self.free_at > now {
            return None;
        }
        let distance = |ask: &Ask| (ask.processor + self.processors - self.turn) % self.processors;
        let mut able = (0..self.asking.len()).filter(|&i| self.can(&self.asking[i]));
        let next = match self.policy {
            Arbitration::Fifo => able.next(),
            Arbitration::RoundRobin => able.min_by_key(|&i| distance(&self.asking[i])),
        };
        let ask = self.asking.remove(next?)?;
        if ask.answer.is_some() {
            self.expected.retain(|&block| block != ask.block);
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
    pub(super) fn new(cycles: BusCycles, bus: &Bus) -> Result<Self, SetupError> {
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
