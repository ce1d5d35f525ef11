//! The directory: what homes know of each block.

/// No node.
pub(crate) const NO_NODE: u16 = u16::MAX;
/// No page.
pub(crate) const NO_PAGE: u32 = u32::MAX;

/// What the home knows of a block, without whom it lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct EntryHead {
    /// State of the home's controller.
    pub(crate) state: u8,
    /// Whether there were more nodes than can be listed.
    pub(crate) overflow: bool,
    /// The node that owns the block, or [`NO_NODE`].
    pub(crate) owner: u16,
    /// The number of its page, or [`NO_PAGE`] before the first reference.
    pub(crate) page: u32,
}

/// An entry for each block, by its number in the table of holders. It says nothing of where the
/// home is, so that it is the same entry when the page gets another home.
#[derive(Debug)]
pub(crate) struct DirectoryEntries {
    heads: Vec<EntryHead>,
    /// For each block a bit for each node that is listed. A node that has replaced its copy
    /// silently is still listed.
    listed: Vec<u64>,
    set_words: usize,
    nodes: u16,
    pointers: u32,
}

fn at(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

impl DirectoryEntries {
    /// No blocks. Without a limit all nodes can be listed.
    pub(crate) fn new(nodes: u16, pointers: Option<u64>) -> Self {
        let pointers = pointers.and_then(|most| u32::try_from(most).ok()).unwrap_or(u32::MAX);
        let set_words = usize::from(nodes).div_ceil(64);
        Self { heads: Vec::new(), listed: Vec::new(), set_words, nodes, pointers }
    }

    /// Makes room for a block.
    #[inline]
    pub(crate) fn reach(&mut self, number: u32) {
        if at(number) >= self.heads.len() {
            self.grow(number);
        }
    }

    #[cold]
    fn grow(&mut self, number: u32) {
        let blocks = (at(number) + 1).next_power_of_two();
        let none = EntryHead { state: 0, overflow: false, owner: NO_NODE, page: NO_PAGE };
        self.heads.resize(blocks, none);
        self.listed.resize(blocks * self.set_words, 0);
    }

    /// What is known of a block for which there is room.
    #[inline]
    pub(crate) fn head(&self, number: u32) -> EntryHead {
        self.heads[at(number)]
    }

    /// The same, to change it.
    #[inline]
    pub(crate) fn head_mut(&mut self, number: u32) -> &mut EntryHead {
        &mut self.heads[at(number)]
    }

    #[inline]
    fn set(&self, number: u32) -> &[u64] {
        &self.listed[at(number) * self.set_words..][..self.set_words]
    }

    #[inline]
    fn set_mut(&mut self, number: u32) -> &mut [u64] {
        &mut self.listed[at(number) * self.set_words..][..self.set_words]
    }

    /// Whether a node is listed.
    #[inline]
    pub(crate) fn lists(&self, number: u32, node: u16) -> bool {
        self.set(number)[usize::from(node / 64)] >> (node % 64) & 1 != 0
    }

    /// Lists a node; if there are too many, that is all that is known from now on.
    #[inline]
    pub(crate) fn list(&mut self, number: u32, node: u16) {
        let others: u32 = if self.pointers < u32::from(self.nodes) {
            self.set(number).iter().map(|word| word.count_ones()).sum()
        } else {
            0
        };
        if self.lists(number, node) {
            return;
        }
        if others >= self.pointers {
            self.head_mut(number).overflow = true;
        } else {
            self.set_mut(number)[usize::from(node / 64)] |= 1 << (node % 64);
        }
    }

    /// A node owns the block, and nobody is listed.
    #[inline]
    pub(crate) fn own(&mut self, number: u32, owner: u16) {
        self.set_mut(number).fill(0);
        let head = self.head_mut(number);
        (head.owner, head.overflow) = (owner, false);
    }

    /// Whether nobody but perhaps this node has to be told of a write.
    #[inline]
    pub(crate) fn lists_nobody_but(&self, number: u32, node: u16) -> bool {
        let own = |word: usize| if word == usize::from(node / 64) { 1 << (node % 64) } else { 0 };
        !self.head(number).overflow
            && self.set(number).iter().enumerate().all(|(at, word)| word & !own(at) == 0)
    }

    /// Whom a write has to be told, in the order of their numbers: those that are listed, or all.
    pub(crate) fn told(&self, number: u32) -> impl Iterator<Item = u16> {
        let overflow = self.head(number).overflow;
        let set = self.set(number);
        (0..self.nodes)
            .filter(move |node| overflow || set[usize::from(node / 64)] >> (node % 64) & 1 != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_node_too_many_makes_all_of_them_told() {
        let mut entries = DirectoryEntries::new(70, Some(2));
        entries.reach(9);
        entries.list(9, 3);
        entries.list(9, 69);
        entries.list(9, 3);
        assert_eq!(entries.told(9).collect::<Vec<_>>(), [3, 69]);
        entries.list(9, 4);
        assert!(!entries.lists(9, 4) && entries.lists(9, 69));
        assert_eq!(entries.told(9).count(), 70);
        entries.own(9, 4);
        assert_eq!((entries.told(9).count(), entries.head(9).owner), (0, 4));
    }

    #[test]
    fn whoever_writes_need_not_be_told() {
        let mut entries = DirectoryEntries::new(128, None);
        entries.reach(1);
        assert!(entries.lists_nobody_but(1, 100));
        entries.list(1, 100);
        assert!(entries.lists_nobody_but(1, 100) && !entries.lists_nobody_but(1, 36));
    }
}
