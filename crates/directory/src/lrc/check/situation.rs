//! The state of the model of a page of one line with two words: the nodes, the home, the messages
//! in flight, and which nodes know the last write of each word.

use std::hash::{Hash, Hasher};

use crate::finding::{Data, SituationKey, fields, renumbered};

/// Largest number of nodes explored.
pub(super) const PAGED_NODES_MAX: usize = 3;
/// Words of the line.
pub(super) const WORDS: usize = 2;
/// Largest number of messages in flight; a protocol that exceeds it floods the network.
pub(super) const MESSAGES_MAX: usize = 4 * PAGED_NODES_MAX;
/// The home, two numbers for each node, and the messages.
type PageKey = SituationKey<{ 1 + 2 * PAGED_NODES_MAX + MESSAGES_MAX }>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CheckedAccess {
    /// A read of all words.
    Load,
    /// A write of a word.
    Store(usize),
}

/// The state of a processor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum CheckedProcessor {
    /// It may begin an operation.
    #[default]
    Idle,
    /// Its access waits for a fault.
    Faults(CheckedAccess),
    /// Its access waits for a line.
    Fetches(CheckedAccess),
    /// It waits for its release to take effect.
    Releases,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CheckedNode {
    pub(super) mapping: u8,
    pub(super) release: u8,
    pub(super) processor: CheckedProcessor,
    /// The line in its cache; no data if it is absent.
    pub(super) line: [Data; WORDS],
    pub(super) dirty: [bool; WORDS],
    /// Write-backs without an acknowledgement.
    pub(super) writing: u8,
    /// Acknowledgements of notices due; negative if some arrived before their number was known.
    pub(super) due: i8,
    /// Whether a notice has arrived since the node mapped the page.
    pub(super) noticed: bool,
    /// Whether the last write of each word is ordered before the node's next operation.
    pub(super) knows: [bool; WORDS],
}

/// A message in flight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CheckedPageMessage {
    /// Index of its kind.
    pub(super) message: u8,
    pub(super) from: u8,
    pub(super) to: u8,
    /// For a notice, the node that releases.
    pub(super) requester: u8,
    /// Number of acknowledgements that it announces.
    pub(super) due: i8,
    pub(super) words: [Data; WORDS],
}

/// The home, which is not one of the nodes: its position affects only the time of messages.
#[derive(Clone, Copy, Debug)]
pub(super) struct CheckedPageHome {
    pub(super) state: u8,
    /// A bit for each node that is listed.
    pub(super) listed: u8,
    /// A bit for each listed node that has reported a write fault.
    pub(super) writers: u8,
    /// Whether one of several nodes that map the page may have written it: the paper's rule of the
    /// weak list.
    pub(super) contended: bool,
    pub(super) memory: [Data; WORDS],
}

/// One page in some nodes. Situations are equal if they differ only by a renumbering of nodes and
/// words.
#[derive(Clone, Debug)]
pub(super) struct PageSituation {
    pub(super) nodes: [CheckedNode; PAGED_NODES_MAX],
    pub(super) home: CheckedPageHome,
    /// Whether the last write of each word is ordered before operations after an acquire.
    pub(super) released: [bool; WORDS],
    pub(super) messages: Vec<CheckedPageMessage>,
    key: PageKey,
}

impl PartialEq for PageSituation {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for PageSituation {}

impl Hash for PageSituation {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.key.hash(hasher);
    }
}

impl PageSituation {
    /// No node maps the page, and all nodes know its content.
    pub(super) fn start(orders: &[Vec<usize>]) -> Self {
        let node = CheckedNode { knows: [true; WORDS], ..CheckedNode::default() };
        let memory = [Data::Latest; WORDS];
        let home = CheckedPageHome { state: 0, listed: 0, writers: 0, contended: false, memory };
        let mut start = Self {
            nodes: [node; PAGED_NODES_MAX],
            home,
            released: [true; WORDS],
            messages: Vec::new(),
            key: PageKey::EMPTY,
        };
        start.settle(orders);
        start
    }

    /// A node writes a word: all other data become old, and only the writer knows the write.
    pub(super) fn write(&mut self, node: usize, word: usize) {
        for copy in self.nodes.iter_mut().map(|node| &mut node.line[word]) {
            *copy = copy.outdated();
        }
        for copy in self.messages.iter_mut().map(|message| &mut message.words[word]) {
            *copy = copy.outdated();
        }
        self.home.memory[word] = self.home.memory[word].outdated();
        self.nodes.iter_mut().for_each(|node| node.knows[word] = false);
        self.released[word] = false;
        let writer = &mut self.nodes[node];
        writer.line[word] = Data::Latest;
        writer.dirty[word] = true;
        writer.knows[word] = true;
    }

    /// Sets the key by which situations are compared: the least description over all renumberings
    /// of nodes and words.
    pub(super) fn settle(&mut self, orders: &[Vec<usize>]) {
        let nodes = orders.first().map_or(0, Vec::len);
        let mut least: Option<PageKey> = None;
        for swapped in [false, true] {
            let mut codes = [0; PAGED_NODES_MAX];
            for (node, code) in codes.iter_mut().enumerate().take(nodes) {
                *code = self.node_code(node, swapped);
            }
            for order in orders {
                // Nodes are sorted by their codes; only equal ones can change places.
                if order.windows(2).any(|pair| codes[pair[0]] > codes[pair[1]]) {
                    continue;
                }
                let key = self.description(order, &codes, swapped);
                if least.is_none_or(|least| key < least) {
                    least = Some(key);
                }
            }
        }
        self.key = least.unwrap_or(PageKey::EMPTY);
    }

    fn description(
        &self,
        order: &[usize],
        codes: &[u64; PAGED_NODES_MAX],
        swapped: bool,
    ) -> PageKey {
        let number = renumbered(order);
        let home = &self.home;
        let memory = pack(words(home.memory, swapped).map(|data| data as u32), 2);
        let released = pack(words(self.released, swapped).map(u32::from), 1);
        let states = [(u32::from(home.state), 4), (u32::from(home.contended), 1)];
        let mut key = PageKey::EMPTY;
        key.push(fields(&[(memory, 4), (released, 2), states[0], states[1]]));
        for &node in order {
            key.push((codes[node] >> 32) as u32);
            key.push((codes[node] & 0xffff_ffff) as u32);
        }
        key.extend_sorted(self.messages.iter().map(|m| {
            let node = |node: u8| (u32::from(number[usize::from(node)]), 3);
            let data = pack(words(m.words, swapped).map(|data| data as u32), 2);
            let ends = [node(m.from), node(m.to), node(m.requester)];
            fields(&[
                (u32::from(m.message), 4),
                ends[0],
                ends[1],
                ends[2],
                (u32::from(m.due.unsigned_abs()), 3),
                (data, 4),
            ])
        }));
        key
    }

    /// The state of a node, independent of its number.
    fn node_code(&self, at: usize, swapped: bool) -> u64 {
        let node = &self.nodes[at];
        let (kind, access) = match node.processor {
            CheckedProcessor::Idle => (0, None),
            CheckedProcessor::Faults(access) => (1, Some(access)),
            CheckedProcessor::Fetches(access) => (2, Some(access)),
            CheckedProcessor::Releases => (3, None),
        };
        let store = matches!(access, Some(CheckedAccess::Store(_)));
        let word = match access {
            Some(CheckedAccess::Store(word)) => (word == 1) != swapped,
            Some(CheckedAccess::Load) | None => false,
        };
        let line = pack(words(node.line, swapped).map(|data| data as u32), 2);
        let dirty = pack(words(node.dirty, swapped).map(u32::from), 1);
        let knows = pack(words(node.knows, swapped).map(u32::from), 1);
        let copies = fields(&[(line, 4), (dirty, 2), (knows, 2), (u32::from(node.writing), 4)]);
        let listed = u32::from(self.home.listed >> at & 1);
        let writes = u32::from(self.home.writers >> at & 1);
        let [mapping, release] = [node.mapping, node.release].map(u32::from);
        let due = u32::from(node.due.cast_unsigned());
        let controllers = fields(&[(mapping, 4), (release, 4), (listed, 1), (writes, 1)]);
        let doing = fields(&[(kind, 2), (store.into(), 1), (word.into(), 1), (due, 8)]);
        u64::from(copies) << 32 | u64::from(controllers << 12 | doing)
    }
}

/// Words in order, or swapped.
fn words<T: Copy>(words: [T; WORDS], swapped: bool) -> [T; WORDS] {
    if swapped { [words[1], words[0]] } else { words }
}

/// Fields of the same width as one number.
fn pack<const N: usize>(values: [u32; N], bits: u32) -> u32 {
    values.iter().fold(0, |packed, value| packed << bits | value)
}
