//! Messages that arrive at a controller, wait for it or bounce, and how long that takes.

use std::collections::VecDeque;

use homenode_clock::streams::Operation;

use super::letters::{Letter, Says};
use super::{PlainLists, Turn, access};

/// A task that waits for a controller.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    Letter(Letter),
    /// An operation of a node's processor.
    Operation(usize, Operation),
    /// A processor's request at a home is granted.
    Grant,
    /// A process may continue.
    Wake,
    /// The same three, from the node itself.
    OwnOperation(Operation),
    OwnGrant,
    OwnWake,
    /// The processor's request.
    Processor,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Step {
    Comes(usize, Input),
    Received(usize, Input),
    Misses(usize),
    TakesUp(usize),
    Done(usize),
    Ready(usize),
    GoesOn(usize),
    /// An operation of a node's processor that this home has looked up.
    Effect(usize, Operation, usize),
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Planned {
    pub(super) time: u64,
    pub(super) node: usize,
    /// Order: events of controllers, then a processor's references, processes, and effects.
    pub(super) class: u8,
    pub(super) made: u64,
    pub(super) step: Step,
}

impl Input {
    fn is_from_another(self) -> bool {
        matches!(self, Self::Letter(_) | Self::Operation(..) | Self::Grant | Self::Wake)
    }
}

impl PlainLists {
    pub(super) fn plan(&mut self, time: u64, node: usize, step: Step) {
        let class = match step {
            Step::Done(_) => 1,
            Step::Ready(_) => 2,
            Step::GoesOn(_) | Step::Effect(..) => 3,
            Step::Comes(..) | Step::Received(..) | Step::Misses(_) | Step::TakesUp(_) => 0,
        };
        let made = self.next_number();
        self.planned.push(Planned { time, node, class, made, step });
    }

    /// The network delivers a message to a node, which receives one at a time.
    pub(super) fn comes(&mut self, to: usize, input: Input) {
        let (now, node) = (self.now, &mut self.nodes[to]);
        let received = now.max(node.receive_free);
        node.receive_free = received + self.machine.timed.machine.network.gap_cycles;
        node.receptions.push(received);
        node.receptions.retain(|&time| time > now);
        node.load.input_waited += received - now;
        node.load.input_longest = node.load.input_longest.max(node.receptions.len() as u64);
        if received > now {
            self.see("a message waits to be received");
            self.plan(received, to, Step::Received(to, input));
        } else {
            self.received(to, input);
        }
    }

    /// A node accepts a message, or the network bounces it.
    pub(super) fn received(&mut self, to: usize, input: Input) {
        if let Input::Letter(letter) = input
            && letter.says.is_read()
            && self.nodes[to].full
        {
            self.send_back(letter);
            return;
        }
        self.queue_up(to, input);
    }

    /// Only the network is busy with it.
    fn send_back(&mut self, letter: Letter) {
        let says = Says::Bounce { from_proxy: matches!(letter.says, Says::ProxyRead) };
        let back = Letter { from: letter.to, to: letter.receiver(), says, ..letter };
        self.count(back);
        let there = self.now + self.machine.timed.machine.network.short_cycles;
        let node = self.caches[back.to].node;
        self.plan(there, node, Step::Comes(node, Input::Letter(back)));
    }

    /// A task waits for a controller.
    pub(super) fn queue_up(&mut self, node: usize, input: Input) {
        self.nodes[node].queue.push_back((self.now, input));
        let waiting = self.see_length(node);
        let at = &mut self.nodes[node];
        if input.is_from_another() {
            at.load.longest = at.load.longest.max(waiting);
        }
        if at.planned {
            return;
        }
        if at.controller_free > self.now {
            at.planned = true;
            let free = at.controller_free;
            self.plan(free, node, Step::TakesUp(node));
        } else {
            self.take_up_next(node);
        }
    }

    /// The queue is full from when more messages wait than the buffer holds until fewer do. Returns
    /// how many wait.
    fn see_length(&mut self, node: usize) -> u64 {
        let at = &mut self.nodes[node];
        let waiting = at.queue.iter().filter(|(_, input)| input.is_from_another()).count() as u64;
        if let Some(most) = self.machine.timed.buffer_reads {
            if waiting > most {
                at.full = true;
            }
            if waiting < most {
                at.full = false;
            }
        }
        waiting
    }

    /// The controller begins the first task that arrived, and then the messages that it sends
    /// itself for it.
    pub(super) fn take_up_next(&mut self, node: usize) {
        let (since, input) = self.nodes[node].queue.pop_front().unwrap();
        self.see_length(node);
        if input.is_from_another() {
            self.nodes[node].load.served += 1;
            self.nodes[node].load.waited += self.now - since;
        }
        let mut turn = Turn { node, cache: node, time: self.now, own: VecDeque::new() };
        match input {
            Input::Letter(letter) => self.take_up(&mut turn, letter),
            Input::Processor => self.begin(&mut turn),
            Input::Operation(by, operation) => self.look_up_lock(&mut turn, by, operation),
            Input::OwnOperation(operation) => self.look_up_lock(&mut turn, node, operation),
            Input::Grant | Input::OwnGrant => self.plan(self.now, node, Step::GoesOn(node)),
            Input::Wake | Input::OwnWake => self.plan(self.now, node, Step::Ready(node)),
        }
        while let Some(letter) = turn.own.pop_front() {
            self.take_up(&mut turn, letter);
        }
        let at = &mut self.nodes[node];
        at.load.busy += turn.time - self.now;
        at.controller_free = turn.time;
        at.planned = !at.queue.is_empty();
        if at.planned {
            self.plan(turn.time, node, Step::TakesUp(node));
        }
    }

    fn take_up(&mut self, turn: &mut Turn, letter: Letter) {
        turn.cache = letter.to;
        if letter.says.is_for_home() {
            self.comes_to_home(turn, letter);
        } else {
            self.comes_to_copy(turn, letter);
        }
    }

    /// A node's processor or controller gets the bus of a cache at this time, or after earlier
    /// requests. Returns when it is done.
    pub(super) fn use_bus(&mut self, cache: usize, from: u64, looks_up: bool, line: bool) -> u64 {
        let start = from.max(self.caches[cache].bus_free);
        if start > from {
            self.see("the second level's bus is in use");
        }
        let end = start + access(&self.machine.timed.machine.second_level, looks_up, line);
        self.caches[cache].bus_free = end;
        end
    }

    pub(super) fn use_second_level(&mut self, turn: &mut Turn, looks_up: bool, line: bool) {
        turn.time = self.use_bus(turn.cache, turn.time, looks_up, line);
    }

    pub(super) fn use_memory(&mut self, turn: &mut Turn, line: bool) {
        let cycles = access(&self.machine.timed.machine.memory, true, line);
        turn.time += cycles;
        self.nodes[turn.node].load.memory += cycles;
    }

    fn count(&mut self, letter: Letter) {
        let carried = if letter.says.has_block() { self.block_bytes() } else { 0 };
        self.add("hops", 1);
        self.add(letter.says.name(), 1);
        self.add("message_bytes", self.machine.setup.header_bytes + carried);
    }

    /// The controller sends a message.
    pub(super) fn post(&mut self, turn: &mut Turn, letter: Letter) {
        let to = self.caches[letter.to].node;
        if to == turn.node {
            turn.own.push_back(letter);
            return;
        }
        self.count(letter);
        turn.time += self.machine.timed.machine.controller.send_cycles;
        self.goes(turn.node, to, turn.time, Input::Letter(letter), letter.says.has_block());
    }

    /// A message can leave its node at this time, behind those before it.
    pub(super) fn goes(&mut self, from: usize, to: usize, ready: u64, input: Input, long: bool) {
        let network = self.machine.timed.machine.network;
        let leaves = ready.max(self.nodes[from].send_free);
        if leaves > ready {
            self.see("a message waits to leave");
        }
        self.nodes[from].send_free = leaves + network.gap_cycles;
        self.add("sending", network.gap_cycles);
        let there = leaves + if long { network.long_cycles } else { network.short_cycles };
        self.plan(there, to, Step::Comes(to, input));
    }
}
