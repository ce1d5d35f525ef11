//! Locks, barriers, the end of initialisation, and pages that get their homes when used.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use homenode_clock::streams::{OpKind, Operation};

use super::controllers::{Input, Step};
use super::{PlainLists, Turn};

#[derive(Default)]
pub(super) struct PlainLocks {
    /// The holder of each lock, how often it holds it, and the processors that wait. A processor
    /// can hold a lock twice: its acquire overtakes its own release if the lock's page gets another
    /// home meanwhile.
    locks: BTreeMap<u64, (usize, u32, VecDeque<usize>)>,
    arrived: BTreeMap<u64, u32>,
    /// The waiting processors and the number of arrivals they wait for.
    departing: Vec<(u64, usize, u32)>,
}

#[derive(Default)]
pub(super) struct PlainPages {
    homes: BTreeMap<u64, usize>,
    mapped: BTreeSet<u64>,
    initialised: bool,
}

impl PlainLists {
    fn page_of(&self, block: u64) -> u64 {
        block * self.block_bytes() / self.machine.setup.page_bytes
    }

    fn by_use(&self) -> bool {
        self.machine.home == "first-touch"
            || (self.machine.home == "first-use" && self.pages.initialised)
    }

    /// The home of a block's page; a page without a home gets one.
    pub(super) fn home_from_now(&mut self, node: usize, block: u64) -> usize {
        let turn = self.pages.homes.len() % self.nodes.len();
        let first = match self.machine.home.strip_prefix("fixed:node=") {
            _ if self.by_use() => node,
            Some(home) => home.parse().unwrap(),
            None => turn,
        };
        *self.pages.homes.entry(self.page_of(block)).or_insert(first)
    }

    pub(super) fn home_of(&self, block: u64) -> usize {
        self.pages.homes[&self.page_of(block)]
    }

    pub(super) fn is_mapped(&self, block: u64) -> bool {
        !self.by_use() || self.pages.mapped.contains(&self.page_of(block))
    }

    /// A processor accesses a page that is not mapped; from now on it is at this node. The
    /// processor checks again in the same cycle, after all other events of the cycle.
    pub(super) fn fault(&mut self, node: usize, block: u64) {
        let page = self.page_of(block);
        let before = self.pages.homes.insert(page, node);
        self.add("pages_moved", u64::from(before.is_some_and(|before| before != node)));
        self.add("page_faults", 1);
        self.pages.mapped.insert(page);
        self.nodes[node].processor.wait("system");
        self.plan(self.now, node, Step::GoesOn(node));
    }

    /// A processor reaches a synchronisation operation.
    pub(super) fn synchronise(&mut self, node: usize, step: Operation) {
        let processor = &mut self.nodes[node].processor;
        match step.kind {
            OpKind::InitDone => {
                processor.steps.pop_front();
                let begins = self.machine.home == "first-use" && !self.pages.initialised;
                self.pages.initialised |= begins;
            }
            OpKind::Depart => {
                processor.steps.pop_front();
                let arrived = self.locks.arrived.get(&step.addr).copied().unwrap_or(0);
                if arrived < step.count {
                    processor.wait("idle");
                    self.locks.departing.push((step.addr, node, step.count));
                    self.see("a process waits at a barrier");
                }
            }
            OpKind::Arrive => {
                processor.steps.pop_front();
                self.tells(node, step, step.addr);
            }
            OpKind::Release => {
                processor.steps.pop_front();
                self.tells(node, step, step.addr / self.block_bytes());
            }
            OpKind::Acquire => {
                processor.wait("sync");
                self.tells(node, step, step.addr / self.block_bytes());
            }
            _ => panic!("{step:?}"),
        }
    }

    /// A processor sends to the home of a lock or a barrier: that of its page, or by number.
    fn tells(&mut self, node: usize, step: Operation, number: u64) {
        let by_number = usize::try_from(number % self.nodes.len() as u64).unwrap();
        let page = self.page_of(number);
        let of_page = self.pages.homes.get(&page).filter(|_| step.kind != OpKind::Arrive);
        let home = of_page.copied().unwrap_or(by_number);
        self.sends(node, home, Input::Operation(node, step), Input::OwnOperation(step));
    }

    /// A message of synchronisation goes to another node, or to the node itself.
    fn sends(&mut self, from: usize, to: usize, away: Input, own: Input) {
        if from == to {
            self.plan(self.now, to, Step::Received(to, own));
        } else {
            let ready = self.now + self.machine.timed.machine.controller.send_cycles;
            self.goes(from, to, ready, away, false);
        }
    }

    /// The home of a lock or barrier looks it up; then the operation takes effect.
    pub(super) fn look_up_lock(&mut self, turn: &mut Turn, by: usize, operation: Operation) {
        self.use_memory(turn, false);
        self.plan(turn.time, by, Step::Effect(by, operation, turn.node));
    }

    pub(super) fn effect(&mut self, node: usize, step: Operation, home: usize) {
        let mut let_go = Vec::new();
        match step.kind {
            OpKind::Acquire => {
                self.nodes[node].processor.steps.pop_front();
                let new = || (node, 0, VecDeque::new());
                let (owner, times, waiting) = self.locks.locks.entry(step.addr).or_insert_with(new);
                if *owner == node {
                    *times += 1;
                    self.sends(home, node, Input::Grant, Input::OwnGrant);
                } else {
                    waiting.push_back(node);
                    self.nodes[node].processor.wait("idle");
                    self.see("a process waits for a lock");
                }
            }
            OpKind::Release => {
                let (owner, times, mut waiting) = self.locks.locks.remove(&step.addr).unwrap();
                assert_eq!(owner, node);
                if times > 1 {
                    self.locks.locks.insert(step.addr, (node, times - 1, waiting));
                } else if let Some(next) = waiting.pop_front() {
                    self.locks.locks.insert(step.addr, (next, 1, waiting));
                    let_go.push(next);
                }
            }
            _ => {
                let arrived = self.locks.arrived.entry(step.addr).or_default();
                *arrived += 1;
                let goes = |&mut (episode, _, count): &mut (u64, usize, u32)| {
                    episode == step.addr && *arrived >= count
                };
                let_go.extend(self.locks.departing.extract_if(.., goes).map(|(_, node, _)| node));
            }
        }
        for other in let_go {
            self.sends(home, other, Input::Wake, Input::OwnWake);
        }
    }
}
