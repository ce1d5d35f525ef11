//! The explorer: a breadth-first search through all reachable states.
//!
//! The first broken promise it meets is at the end of one of the shortest sequences of steps. The
//! [`ProtocolModel`] defines the steps: events in one cache that complete at once, as over an
//! atomic bus, or the delivery of one of many messages under way.

use std::hash::{BuildHasher, Hash};

use rustc_hash::{FxBuildHasher, FxHashMap};

use crate::finding::{BrokenPromise, ProtocolFinding};

/// A model of a protocol, small enough to be explored in full.
pub trait ProtocolModel {
    /// Everything that determines which steps may follow.
    type State: Eq + Hash;
    /// A transition from one state to another.
    type Step: Clone;
    /// A promise that a step breaks.
    type Fault;

    /// Where the search begins.
    fn start(&self) -> Self::State;

    /// The steps to try in a state. Among sequences of the same length the first is found.
    fn steps(&self, state: &Self::State) -> Vec<Self::Step>;

    /// The state after a step; `None` if the step is impossible after all. Describes what happens
    /// in `story`, if it is given.
    ///
    /// # Errors
    /// When the protocol breaks a promise.
    fn perform(
        &mut self,
        state: &Self::State,
        step: &Self::Step,
        story: Option<&mut String>,
    ) -> Result<Option<Self::State>, Self::Fault>;

    /// Whether nothing is under way in this state. Such a state must be reachable from every state:
    /// otherwise there is a deadlock, or a copy that can never be given up.
    fn is_at_rest(&self, state: &Self::State) -> bool;

    /// A step in words, before the description of what happens in it.
    fn describe(&self, step: &Self::Step) -> String;
}

/// A broken promise and the steps that lead to it, of which the last breaks it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken<Step, Fault> {
    /// The steps.
    pub steps: Vec<Step>,
    /// The promise that the last one breaks.
    pub fault: Fault,
}

/// A breadth-first search of a model.
pub struct Search<M: ProtocolModel> {
    /// The model that is explored.
    pub model: M,
    states: Vec<M::State>,
    /// For each state but the first, the state and the step from which it was first reached.
    parents: Vec<Option<(usize, M::Step)>>,
    edges: Vec<(usize, usize)>,
}

impl<M: ProtocolModel> Search<M> {
    /// A search that has not begun.
    #[must_use]
    pub fn new(model: M) -> Self {
        Self { model, states: Vec::new(), parents: Vec::new(), edges: Vec::new() }
    }

    /// Visits every state, up to the first broken promise.
    ///
    /// # Errors
    /// A shortest sequence of steps to a broken promise.
    pub fn explore(&mut self) -> Result<(), Broken<M::Step, M::Fault>> {
        let start = self.model.start();
        let mut numbers = FxHashMap::default();
        number(&mut numbers, &[], &start);
        (self.states, self.parents, self.edges) = (vec![start], vec![None], Vec::new());
        let mut at = 0;
        while at < self.states.len() {
            for step in self.model.steps(&self.states[at]) {
                let to = match self.model.perform(&self.states[at], &step, None) {
                    Ok(Some(to)) => to,
                    Ok(None) => continue,
                    Err(fault) => {
                        let mut steps = self.steps_to(at);
                        steps.push(step);
                        return Err(Broken { steps, fault });
                    }
                };
                let next = number(&mut numbers, &self.states, &to);
                if next == self.states.len() {
                    self.states.push(to);
                    self.parents.push(Some((at, step)));
                }
                self.edges.push((at, next));
            }
            at += 1;
        }
        Ok(())
    }

    /// Distinct states that were met.
    #[must_use]
    pub fn state_count(&self) -> usize {
        self.states.len()
    }

    /// Steps that were tried and possible.
    #[must_use]
    pub fn step_count(&self) -> usize {
        self.edges.len()
    }

    /// The steps to a state from which none at rest can be reached, if there is such a state. The
    /// model must have been explored.
    #[must_use]
    pub fn stuck(&self) -> Option<Vec<M::Step>> {
        // The states before each one, in the order of these: its own end at its number.
        let mut ends = vec![0; self.states.len() + 1];
        self.edges.iter().for_each(|&(_, to)| ends[to + 1] += 1);
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        let mut before = vec![0; self.edges.len()];
        for &(from, to) in &self.edges {
            before[ends[to]] = from;
            ends[to] += 1;
        }
        let mut returns: Vec<bool> =
            self.states.iter().map(|state| self.model.is_at_rest(state)).collect();
        let mut open: Vec<usize> = (0..returns.len()).filter(|&at| returns[at]).collect();
        while let Some(at) = open.pop() {
            let first = at.checked_sub(1).map_or(0, |previous| ends[previous]);
            for &from in &before[first..ends[at]] {
                if !std::mem::replace(&mut returns[from], true) {
                    open.push(from);
                }
            }
        }
        let at = returns.iter().position(|&returns| !returns)?;
        Some(self.steps_to(at))
    }

    /// Repeats the steps from the start, and describes each in words.
    pub fn narrate(&mut self, steps: &[M::Step]) -> Vec<String> {
        let mut state = self.model.start();
        let mut stories = Vec::new();
        for step in steps {
            let mut story = self.model.describe(step);
            // A step that breaks a promise is the last one.
            if let Ok(Some(next)) = self.model.perform(&state, step, Some(&mut story)) {
                state = next;
            }
            stories.push(story);
        }
        stories
    }

    /// The steps that lead to a state.
    fn steps_to(&self, mut at: usize) -> Vec<M::Step> {
        let mut steps = Vec::new();
        while let Some((before, step)) = &self.parents[at] {
            steps.push(step.clone());
            at = *before;
        }
        steps.reverse();
        steps
    }
}

/// The number of a state: of an equal one in `states`, or the next one. `numbers` are found by
/// hashes, and those of different states with the same hash by the hashes that follow, so that a
/// state is stored only once.
fn number<S: Hash + Eq>(numbers: &mut FxHashMap<u64, usize>, states: &[S], state: &S) -> usize {
    let mut hash = FxBuildHasher.hash_one(state);
    loop {
        let number = *numbers.entry(hash).or_insert(states.len());
        if states.get(number).is_none_or(|known| known == state) {
            return number;
        }
        hash = hash.wrapping_add(1);
    }
}

impl<K, M: ProtocolModel<Fault = BrokenPromise<K>>> Search<M> {
    /// Visits every state of a model of `caches` caches, up to its first fault. `stuck` describes a
    /// state from which none at rest can be reached.
    pub fn finding(&mut self, caches: usize, stuck: (K, &str)) -> Option<ProtocolFinding<K>> {
        let (BrokenPromise { kind, message }, steps) = match self.explore() {
            Err(broken) => (broken.fault, broken.steps),
            Ok(()) => (BrokenPromise::new(stuck.0, stuck.1), self.stuck()?),
        };
        Some(ProtocolFinding { kind, message, steps: self.narrate(&steps), caches })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The faults of the toy's home.
    #[derive(Clone, Copy, PartialEq, Eq)]
    enum Bug {
        None,
        /// It grants the block before the last owner has given it up.
        GrantsEarly,
        /// It forgets a request that comes while it waits for the last owner.
        ForgetsRequests,
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
    enum ToyMessage {
        Request(usize),
        Recall(usize),
        GivenUp(usize),
        Grant(usize),
    }

    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    enum Node {
        Idle,
        Waits,
        Owns,
    }

    /// One block, two nodes, and a home that lets at most one of them own it. Messages arrive in
    /// any order, and the home is in a transient state while it waits for an owner: a bus has
    /// neither.
    #[derive(Clone, Debug, PartialEq, Eq, Hash)]
    struct Toy {
        nodes: [Node; 2],
        owner: Option<usize>,
        /// The node for which the home recalls the block.
        busy_for: Option<usize>,
        /// Messages under way, in the order of their kinds: the order of sending does not matter.
        messages: Vec<ToyMessage>,
    }

    struct ToyModel(Bug);

    #[derive(Clone, Debug, PartialEq, Eq)]
    enum ToyStep {
        Ask(usize),
        Deliver(ToyMessage),
    }

    impl ToyModel {
        fn deliver(&self, toy: &mut Toy, message: ToyMessage) {
            match message {
                ToyMessage::Request(node) if toy.busy_for.is_some() => {
                    if self.0 != Bug::ForgetsRequests {
                        toy.messages.push(ToyMessage::Request(node));
                    }
                }
                ToyMessage::Request(node) => match toy.owner {
                    None => {
                        toy.owner = Some(node);
                        toy.messages.push(ToyMessage::Grant(node));
                    }
                    Some(owner) => {
                        toy.busy_for = Some(node);
                        toy.messages.push(ToyMessage::Recall(owner));
                        if self.0 == Bug::GrantsEarly {
                            toy.messages.push(ToyMessage::Grant(node));
                        }
                    }
                },
                // A recall that overtakes the grant waits for it.
                ToyMessage::Recall(node) if toy.nodes[node] != Node::Owns => {
                    toy.messages.push(message);
                }
                ToyMessage::Recall(node) => {
                    toy.nodes[node] = Node::Idle;
                    toy.messages.push(ToyMessage::GivenUp(node));
                }
                ToyMessage::GivenUp(_) => {
                    toy.owner = toy.busy_for.take();
                    if self.0 != Bug::GrantsEarly {
                        toy.messages.extend(toy.owner.map(ToyMessage::Grant));
                    }
                }
                ToyMessage::Grant(node) => toy.nodes[node] = Node::Owns,
            }
        }
    }

    impl ProtocolModel for ToyModel {
        type State = Toy;
        type Step = ToyStep;
        type Fault = &'static str;

        fn start(&self) -> Toy {
            Toy { nodes: [Node::Idle; 2], owner: None, busy_for: None, messages: Vec::new() }
        }

        fn steps(&self, toy: &Toy) -> Vec<ToyStep> {
            let idle = (0..2).filter(|&node| toy.nodes[node] == Node::Idle);
            let deliveries = toy.messages.iter().map(|&message| ToyStep::Deliver(message));
            idle.map(ToyStep::Ask).chain(deliveries).collect()
        }

        fn perform(
            &mut self,
            toy: &Toy,
            step: &ToyStep,
            story: Option<&mut String>,
        ) -> Result<Option<Toy>, &'static str> {
            let mut next = toy.clone();
            match *step {
                ToyStep::Ask(node) => {
                    next.nodes[node] = Node::Waits;
                    next.messages.push(ToyMessage::Request(node));
                }
                ToyStep::Deliver(message) => {
                    let at = next.messages.iter().position(|&under_way| under_way == message);
                    next.messages.remove(at.unwrap());
                    self.deliver(&mut next, message);
                }
            }
            next.messages.sort_unstable();
            if let Some(story) = story {
                story.push_str(&format!(" -> {:?}", next.nodes));
            }
            if next.nodes == [Node::Owns; 2] { Err("two owners") } else { Ok(Some(next)) }
        }

        fn is_at_rest(&self, toy: &Toy) -> bool {
            toy.messages.is_empty() && !toy.nodes.contains(&Node::Waits)
        }

        fn describe(&self, step: &ToyStep) -> String {
            format!("{step:?}")
        }
    }

    #[test]
    fn a_sound_protocol_with_messages_is_explored_in_full() {
        let mut search = Search::new(ToyModel(Bug::None));
        assert_eq!(search.explore(), Ok(()));
        assert_eq!(search.stuck(), None);
        assert!(search.state_count() > 10 && search.step_count() >= search.state_count());
    }

    #[test]
    fn the_shortest_way_to_two_owners_is_found_and_reported() {
        let mut search = Search::new(ToyModel(Bug::GrantsEarly));
        let broken = search.explore().unwrap_err();
        // Both ask, both requests are served, both grants arrive; no recall comes in between.
        assert_eq!((broken.steps.len(), broken.fault), (6, "two owners"));
        let stories = search.narrate(&broken.steps);
        assert_eq!(stories[0], "Ask(0) -> [Waits, Idle]");
        assert!(stories[5].ends_with("-> [Owns, Owns]"), "{stories:?}");
    }

    #[test]
    fn a_request_that_is_never_served_is_found() {
        let mut search = Search::new(ToyModel(Bug::ForgetsRequests));
        assert_eq!(search.explore(), Ok(()), "no promise is ever broken");
        let steps = search.stuck().expect("a node waits without end");
        let forgotten = |step: &ToyStep| matches!(step, ToyStep::Deliver(ToyMessage::Request(_)));
        assert!(forgotten(steps.last().unwrap()), "{steps:?}");
    }

    #[test]
    fn states_of_one_hash_have_numbers_of_their_own() {
        #[derive(Debug, PartialEq, Eq)]
        struct SameHash(usize);
        impl Hash for SameHash {
            fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
        }
        let (mut numbers, mut states) = (FxHashMap::default(), Vec::new());
        for value in [0, 1, 2, 1, 0, 2] {
            let at = number(&mut numbers, &states, &SameHash(value));
            assert_eq!(at, value);
            if at == states.len() {
                states.push(SameHash(value));
            }
        }
        assert_eq!(states, [0, 1, 2].map(SameHash));
    }
}
