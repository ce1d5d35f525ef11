//! Locks, barriers and the end of initialisation.

use std::collections::{BTreeMap, VecDeque};

use homenode_clock::streams::{OpKind, Operation};

use super::events::{Note, Says};
use super::{SlowClock, SlowHome};

#[derive(Default)]
pub(super) struct SlowSync {
    /// The holder of each lock, and the processors that wait for it.
    locks: BTreeMap<u64, (usize, VecDeque<usize>)>,
    arrived: BTreeMap<u64, u32>,
    /// The waiting processors and the number of arrivals they wait for.
    departing: Vec<(u64, usize, u32)>,
}

impl SlowClock {
    /// A processor reaches a synchronisation operation; all its references are done.
    pub(super) fn synchronise(&mut self, node: usize, step: Operation) {
        let first_rests = matches!(step.kind, OpKind::Release | OpKind::Arrive | OpKind::InitDone);
        let waits = first_rests && self.has_asked(node);
        if waits {
            self.see("a release waits for acknowledgements");
            self.processors[node].releases = true;
            self.processors[node].looks_at = None;
            return;
        }
        let block = step.addr / self.machine.block;
        match step.kind {
            OpKind::InitDone => {
                self.pages.initialised |= self.machine.home == SlowHome::FirstUse;
                self.processors[node].next_step();
            }
            OpKind::Depart => {
                self.processors[node].next_step();
                let arrived = self.sync.arrived.get(&step.addr).copied().unwrap_or(0);
                if arrived < step.count {
                    self.see("a process waits at a barrier");
                    self.sync.departing.push((step.addr, node, step.count));
                    self.processors[node].leave();
                }
            }
            OpKind::Arrive => {
                self.processors[node].next_step();
                let home = usize::try_from(step.addr).unwrap() % self.machine.memories();
                let home = self.machine.end_point(home, block);
                self.say(Note::new(node, home, Says::Operation(step), block));
            }
            OpKind::Acquire | OpKind::Release => {
                if step.kind == OpKind::Release {
                    self.processors[node].next_step();
                } else {
                    self.processors[node].looks_at = None;
                }
                let by_number = usize::try_from(block).unwrap() % self.machine.memories();
                let home = self.home_if_any(block).unwrap_or(by_number);
                let home = self.machine.end_point(home, block);
                self.say(Note::new(node, home, Says::Operation(step), block));
            }
            _ => unreachable!("{step:?}"),
        }
    }

    /// A home has looked up an operation of a node's processor.
    pub(super) fn effect(&mut self, node: usize, step: Operation, home: usize) {
        let block = step.addr / self.machine.block;
        let mut let_go = Vec::new();
        match step.kind {
            OpKind::Acquire => {
                self.processors[node].next_step();
                if let Some((_, waiting)) = self.sync.locks.get_mut(&step.addr) {
                    waiting.push_back(node);
                    self.see("a process waits for a lock");
                    self.processors[node].leave();
                } else {
                    self.sync.locks.insert(step.addr, (node, VecDeque::new()));
                    self.say(Note::new(home, node, Says::Grant, block));
                }
            }
            OpKind::Release => {
                let (owner, mut waiting) = self.sync.locks.remove(&step.addr).unwrap();
                assert_eq!(owner, node);
                if let Some(next) = waiting.pop_front() {
                    self.sync.locks.insert(step.addr, (next, waiting));
                    let_go.push(next);
                }
            }
            _ => {
                let arrived = self.sync.arrived.entry(step.addr).or_default();
                *arrived += 1;
                let goes = |&mut (episode, _, count): &mut (u64, usize, u32)| {
                    episode == step.addr && *arrived >= count
                };
                let_go.extend(self.sync.departing.extract_if(.., goes).map(|(_, node, _)| node));
            }
        }
        for other in let_go {
            self.say(Note::new(home, other, Says::Wake, block));
        }
    }
}
