//! The directory: the entries of blocks at their homes.

pub(crate) const NO_NODE: u16 = u16::MAX;
pub(crate) const NO_PAGE: u32 = u32::MAX;

/// The entry of a block, without the list of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryHead {
    pub(crate) state: u8,
    /// Whether more nodes have copies than can be listed.
    pub(crate) overflow: bool,
    /// The node that owns the block, or [`NO_NODE`].
    pub(crate) owner: u16,
    /// The number of its page, or [`NO_PAGE`] before the first reference.
    pub(crate) page: u32,
}

impl EntryHead {
    /// As one word, which is 0 before the first reference.
    fn pack(self) -> u64 {
        let Self { state, overflow, owner, page } = self;
        u64::from(state)
            | u64::from(overflow) << 8
            | u64::from(owner.wrapping_add(1)) << 16
            | u64::from(page.wrapping_add(1)) << 32
    }

    #[expect(clippy::cast_possible_truncation, reason = "the fields of a word")]
    fn unpack(word: u64) -> Self {
        Self {
            state: word as u8,
            overflow: word >> 8 & 1 != 0,
            owner: ((word >> 16) as u16).wrapping_sub(1),
            page: ((word >> 32) as u32).wrapping_sub(1),
        }
    }
}

/// An entry for each block, by its number in the table of holders. It does not contain the home,
/// so that it stays the same when the page moves.
#[derive(Debug)]
pub(crate) struct DirectoryEntries {
    /// For each block its head, and a bit for each node that is listed. A node that has replaced
    /// its copy silently is still listed.
    words: Vec<u64>,
    /// Words of an entry.
    stride: usize,
    nodes: u16,
    pointers: u32,
}

impl DirectoryEntries {
    /// No blocks. Without a limit all nodes can be listed.
    pub(crate) fn new(nodes: u16, pointers: Option<u64>) -> Self {
        let pointers = pointers.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        let stride = 1 + usize::from(nodes).div_ceil(64);
        Self { words: Vec::new(), stride, nodes, pointers }
    }

    fn at(&self, number: u32) -> usize {
        usize::try_from(number).unwrap_or(usize::MAX) * self.stride
    }

    pub(crate) fn reach(&mut self, number: u32) {
        if self.at(number) >= self.words.len() {
            self.grow(number);
        }
    }

    #[cold]
    fn grow(&mut self, number: u32) {
        let blocks = usize::try_from(number).unwrap_or(usize::MAX) + 1;
        self.words.resize(blocks.next_power_of_two() * self.stride, 0);
    }

    pub(crate) fn head(&self, number: u32) -> EntryHead {
        EntryHead::unpack(self.words[self.at(number)])
    }

    pub(crate) fn put(&mut self, number: u32, head: EntryHead) {
        let at = self.at(number);
        self.words[at] = head.pack();
    }

    fn set(&self, number: u32) -> &[u64] {
        &self.words[self.at(number)..][1..self.stride]
    }

    fn set_mut(&mut self, number: u32) -> &mut [u64] {
        let (at, stride) = (self.at(number), self.stride);
        &mut self.words[at..][1..stride]
    }

    pub(crate) fn lists(&self, number: u32, node: u16) -> bool {
        self.set(number)[usize::from(node / 64)] >> (node % 64) & 1 != 0
    }

    /// Lists a node; beyond the limit the entry only records the overflow.
    pub(crate) fn list(&mut self, number: u32, node: u16) {
        if self.pointers < u32::from(self.nodes) && !self.lists(number, node) {
            let listed: u32 = self.set(number).iter().map(|word| word.count_ones()).sum();
            if listed >= self.pointers {
                self.put(number, EntryHead { overflow: true, ..self.head(number) });
                return;
            }
        }
        self.set_mut(number)[usize::from(node / 64)] |= 1 << (node % 64);
    }

    pub(crate) fn unlist(&mut self, number: u32, node: u16) {
        self.set_mut(number)[usize::from(node / 64)] &= !(1 << (node % 64));
    }

    /// A node owns the block; the list is cleared.
    pub(crate) fn own(&mut self, number: u32, owner: u16) {
        self.set_mut(number).fill(0);
        self.put(number, EntryHead { owner, overflow: false, ..self.head(number) });
    }

    pub(crate) fn set_state(&mut self, number: u32, state: u8) {
        self.put(number, EntryHead { state, ..self.head(number) });
    }

    /// The block has no owner any more.
    pub(crate) fn disown(&mut self, number: u32) {
        self.put(number, EntryHead { owner: NO_NODE, ..self.head(number) });
    }

    /// Whether a write has to invalidate no copy except perhaps that of this node.
    pub(crate) fn lists_only(&self, number: u32, node: u16) -> bool {
        let own = |word: usize| if word == usize::from(node / 64) { 1 << (node % 64) } else { 0 };
        !self.head(number).overflow
            && self.set(number).iter().enumerate().all(|(at, word)| word & !own(at) == 0)
    }

    /// The listed nodes, in the order of their numbers.
    pub(crate) fn listed(&self, number: u32) -> impl Iterator<Item = u16> {
        (0..self.nodes).filter(move |&node| self.lists(number, node))
    }

    /// The nodes that a write has to invalidate or notify, in the order of their numbers: the
    /// listed ones, or all after an overflow.
    pub(crate) fn invalidation_targets(&self, number: u32) -> impl Iterator<Item = u16> {
        let overflow = self.head(number).overflow;
        let all = (0..self.nodes).filter(move |_| overflow);
        let listed = (0u16..).step_by(64).zip(self.set(number)).flat_map(move |(first, &word)| {
            let mut rest = if overflow { 0 } else { word };
            std::iter::from_fn(move || {
                let bit = u16::try_from(rest.trailing_zeros()).ok().filter(|&bit| bit < 64)?;
                rest &= rest - 1;
                Some(first + bit)
            })
        });
        all.chain(listed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_overflow_makes_all_nodes_targets() {
        let mut entries = DirectoryEntries::new(70, Some(2));
        entries.reach(9);
        entries.list(9, 3);
        entries.list(9, 69);
        entries.list(9, 3);
        assert_eq!(entries.invalidation_targets(9).collect::<Vec<_>>(), [3, 69]);
        entries.list(9, 4);
        assert!(!entries.lists(9, 4) && entries.lists(9, 69));
        assert_eq!(entries.invalidation_targets(9).count(), 70);
        entries.own(9, 4);
        assert_eq!((entries.invalidation_targets(9).count(), entries.head(9).owner), (0, 4));
    }

    #[test]
    fn an_entry_is_empty_at_first_and_keeps_its_fields() {
        let mut entries = DirectoryEntries::new(2, None);
        entries.reach(0);
        let none = EntryHead { state: 0, overflow: false, owner: NO_NODE, page: NO_PAGE };
        assert_eq!(entries.head(0), none);
        let some = EntryHead { state: 200, overflow: true, owner: 1023, page: 1 << 31 };
        entries.put(0, some);
        assert_eq!(entries.head(0), some);
    }

    #[test]
    fn the_writer_is_no_target() {
        let mut entries = DirectoryEntries::new(128, None);
        entries.reach(1);
        assert!(entries.lists_only(1, 100));
        entries.list(1, 100);
        assert!(entries.lists_only(1, 100) && !entries.lists_only(1, 36));
    }
}
